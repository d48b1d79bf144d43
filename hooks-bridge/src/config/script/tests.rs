//! What is read out of a line.

use super::*;

fn scripts(line: &str) -> Scripts {
    let names = Names {
        directory: "/no/shop".into(),
        variables: vec![("CLAUDE_PROJECT_DIR", "/no/shop".into())],
        shell: true,
    };
    let kind = HandlerKind::Shell { shell: "sh".into(), line: line.into() };
    Scripts::of(&kind, &names)
}

#[test]
fn what_a_command_names() {
    let missing = |line: &str| scripts(line).missing;
    assert_eq!(missing("python3 check.py --fast"), [Path::new("/no/shop/check.py")]);
    assert_eq!(missing("\"$CLAUDE_PROJECT_DIR\"/a.sh x"), [Path::new("/no/shop/a.sh")]);
    assert_eq!(missing("true && bash -eu ./b.sh; true"), [Path::new("/no/shop/b.sh")]);
    assert_eq!(missing("cd sub && bash -eu ./b.sh"), [Path::new("/no/shop/sub/b.sh")]);
    assert!(missing("cd sub; bash -eu ./b.sh").is_empty());
    assert!(scripts("cd sub; bash -eu ./b.sh").dynamic);
    let asks = scripts("[ -f a.sh ] && ./a.sh || no-such-tool");
    assert_eq!((asks.missing.len(), asks.not_found.len()), (0, 0), "it asks");
    assert!(asks.absent.contains(&"/no/shop/a.sh".into()));
    assert!(scripts("command -v no-such-tool && no-such-tool x").not_found.is_empty(), "it asks");
    assert!(scripts("true && { echo a; }; if true; then exit 2; fi").not_found.is_empty());
    assert!(scripts("python3 check.py").missing_now().is_some());
    assert_eq!(missing("FOO=1 exec node a.js|cat"), [Path::new("/no/shop/a.js")]);
    assert!(missing("bash -c 'exit 2'").is_empty());
    assert!(missing("cat > out.log 2>&1").is_empty());
    assert_eq!(scripts("no-such-tool --x").not_found, ["no-such-tool"]);
    assert!(scripts("bash $(find . -name x)").dynamic);
    assert!(scripts("bash $SOMETHING/x.sh").dynamic);
    assert_eq!(scripts("/bin/sh -c true").files, [Path::new("/bin/sh")]);
}

/// Where commands run that are joined to `cd`.
#[test]
fn what_a_command_names_behind_cd() {
    let named = |line: &str| {
        let scripts = scripts(line);
        (!scripts.dynamic).then(|| scripts.missing.last().cloned()).flatten()
    };
    for line in [
        "cd sub && ./a.sh",
        "cd \"$CLAUDE_PROJECT_DIR\"/sub && ./a.sh",
        "cd ${CLAUDE_PROJECT_DIR}/sub && cat | ./a.sh | tee out.log || true",
        "cd sub || exit 1; true; ./a.sh",
        "(true && cd sub && ./a.sh); exit 0",
        "cd / && cd /no/shop/sub && bash -c './a.sh' >> out.log 2>&1",
        "(cd other && true); cd sub && ./a.sh",
    ] {
        assert_eq!(named(line).as_deref(), Some(Path::new("/no/shop/sub/a.sh")), "{line}");
    }
    for line in [
        "cd sub; ./a.sh",
        "cd sub\n./a.sh",
        "cd sub || true; ./a.sh",
        "cd sub && true; ./a.sh",
        "if cd sub; then ./a.sh; fi",
        "{ cd sub; ./a.sh; }",
        "X=1 cd sub && ./a.sh",
        "command cd sub && ./a.sh",
        "cd link/.. && ./a.sh",
        "cd - && ./a.sh",
        "cd && ./a.sh",
        "cd $SOMEWHERE && ./a.sh",
        "cd s* && ./a.sh",
        "true | cd sub && ./a.sh",
        "pushd sub && ./a.sh",
        ". ./env.sh && ./a.sh",
        "source env.sh; ./a.sh",
        "env -C sub ./a.sh",
        "env --chdir=sub ./a.sh",
        "su -c 'cd sub && ./a.sh'",
    ] {
        assert!(scripts(line).dynamic, "{line}");
    }
}

/// Quotes, redirections and what a shell works out.
#[test]
fn what_the_shell_reads_is_told_from_what_it_takes_as_it_is() {
    for (line, dynamic) in [
        ("echo '$(date)' `true`", true),
        ("echo '$(date)'", false),
        ("echo \"$(date)\"", true),
        ("awk '{ print $1 }' list", false),
        ("grep -q \"$x\" && true", false),
        ("timeout 5 bash $X/a.sh", true),
        ("cat *.sh | sh", true),
        ("bash ${X:-a.sh}", true),
        ("cat <<< text", true),
        ("diff <(true) a", true),
        ("true # $(date)", false),
        ("echo 'not closed", true),
        ("eval true", true),
        ("make check", true),
        ("npx tsx a.ts", true),
        ("uv run lint", true),
        ("trap './a.sh $x' EXIT", true),
        ("export PATH=.:/bin; a", true),
        ("env BASH_ENV=a bash -c true", true),
        ("find . -exec sh {} +", true),
        ("sh <a.sh >b.log 2>&1 &>c.log", false),
    ] {
        assert_eq!(scripts(line).dynamic, dynamic, "{line}");
    }
    let redirected = scripts("sh <a.sh >b.log 2>&1 &>c.log");
    assert_eq!(redirected.absent, [Path::new("/no/shop/a.sh")], "what is written does not run");
}

#[test]
fn a_task_of_the_project_is_not_looked_for_on_the_path() {
    for line in ["uv run no-such-lint", "deno task no-such-lint", "bun run no-such-lint"] {
        let scripts = scripts(line);
        // Whether `uv` itself is here does not matter.
        assert!(!scripts.not_found.iter().any(|name| name == "no-such-lint"), "{line}");
        assert!(scripts.dynamic && scripts.missing.is_empty(), "{line}");
    }
    let python = scripts("uv run python check.py --fast");
    assert_eq!(python.missing, [Path::new("/no/shop/check.py")]);
}
