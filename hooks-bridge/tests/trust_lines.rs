//! Lines that run a file of the project in ways that its name does not show. Each is run,
//! so that it is known to run that file; a grant then covers its bytes, or the preview says
//! that what runs is not known.

mod support;

use std::process::{Command, Stdio};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::trust::Digest;
use hooks_bridge::{Bridge, Dialect};
use serde_json::{Value, json};
use support::Scripts;

/// The digest of an entry, and whether the preview says that it does not cover all.
fn digest(scripts: &Scripts, handler: &Value) -> (Digest, bool) {
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ handler ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::Project);
    let plan = Plan::read_text(&source, &text.to_string(), scripts.path());
    let digest = Digest::of(&plan.entries[0], scripts.path()).unwrap();
    (digest, Bridge::new(scripts.path(), plan).preview().entries[0].dynamic)
}

/// A folder with files that might be taken for the one that runs.
fn folder() -> Scripts {
    let scripts = Scripts::new();
    for decoy in ["a.sh", "sub/a.sh", "other/sub/a.sh"] {
        scripts.script(decoy, "exit 0\n");
    }
    scripts
}

/// Whether a line runs that file.
fn runs(scripts: &Scripts, shell: &str, name: &str, line: &str) -> bool {
    let ran = scripts.path().join("ran");
    scripts.script(name, &format!("#!/bin/sh\n: > '{}'\n", ran.display()));
    let mut command = Command::new(shell);
    command.arg("-c").arg(line).current_dir(scripts.path()).env_remove("CDPATH");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap();
    ran.exists()
}

/// Lines for a shell, each with the file that it runs.
fn all_are_covered(shell: &str, lines: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (name, line) in lines {
        if !runs(&folder(), shell, name, line) {
            wrong.push(format!("{shell} does not run `{name}`: {line}"));
            continue;
        }
        let scripts = folder();
        scripts.script(name, "exit 0\n");
        let handler = json!({ "type": "command", "shell": shell, "command": line });
        let (before, dynamic) = digest(&scripts, &handler);
        scripts.script(name, "exit 1\n");
        if before == digest(&scripts, &handler).0 && !dynamic {
            wrong.push(format!("`{name}` is not covered: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// L37: what an expansion works out is not known, wherever it stands.
#[test]
fn what_is_worked_out_within_an_expansion() {
    all_are_covered(
        "bash",
        &[
            ("b.sh", "echo \"${X:-$(sh b''.sh)}\""),
            ("b.sh", ": ${X:-`sh b''.sh`}"),
            ("b.sh", "true \"${X:=$(sh b''.sh)}\""),
            ("other/sub/a.sh", ": \"${CDPATH:=other}\"; cd sub && ./a.sh"),
            ("b.sh", "[[ 'a[$(sh b\\.sh)]' -eq 0 ]]"),
            ("b.sh", "printf -v 'a[$(sh b\\.sh)]' x"),
            ("b.sh", "unset 'a[$(sh b\\.sh)]'; read 'a[$(sh b\\.sh)]' < a.sh"),
            ("b.sh", "x='a[$(sh b\\.sh)]'; [[ $x -eq 0 ]]"),
            ("b.sh", "PS4='$(sh b\\.sh)'; set -x; true"),
        ],
    );
}

/// L37: an interpreter that is told what to run by its input, or by a word of its own.
#[test]
fn what_an_interpreter_is_told_to_run() {
    all_are_covered(
        "bash",
        &[
            ("b.sh", "printf 'sh b%s' .sh | bash"),
            ("b.sh", "printf 'sh b%s' .sh | bash -s x"),
            ("b.sh", "printf 'sh b%s' .sh | bash /dev/stdin"),
            ("b.sh", "printf 'sh b%s' .sh | bash /dev/fd/0"),
            ("b.sh", "printf 'b%s' .sh | xargs bash"),
            ("b.sh", "true; bash -O extglob -c 'a=b; sh $a.sh'"),
            ("b.sh", "true; bash -o pipefail -c 'a=b; sh $a.sh'"),
            ("b.sh", "true; bash +x -c 'a=b; sh $a.sh'"),
            ("b.sh", "true; bash -e +x -c 'a=b; sh $a.sh'"),
            ("b.sh", "true; perl -we 'system(\"sh b\" . \".sh\")'"),
            ("b.sh", "true; perl -E 'system(\"sh b\" . \".sh\")'"),
            ("b.sh", "true; python3 -Ic 'import os; os.system(\"sh b\" + \".sh\")'"),
            ("b.sh", "exec 3<b.sh; bash <&3"),
            ("b.sh", "exec <b.sh; bash"),
            ("b.sh", "<b.sh bash"),
            ("2", "python3 -V; bash '2'>log a.sh"),
            ("2", "bash \\2>log a.sh"),
            ("b.sh", "awk 'BEGIN { system(\"sh b\" \".sh\") }'"),
            ("b.sh", "echo x | sed 's/x/sh b\\.sh/e'"),
            ("sub/b.sh", "sed '1esub/b\\.sh' a.sh"),
            ("sub/b.sh", "awk 'BEGIN{c=\"sub/b\";(c\".sh\")|getline}'"),
            ("b.sh", "busybox true; compgen -C 'sh b\\.sh'"),
            ("b.sh", "declare -i x='a[$(sh b\\.sh)]'"),
            ("b.sh", "git -c alias.x='!sh b\\.sh' x"),
            ("b.sh", "true; flock log -c 'a=b; sh $a.sh'"),
            ("sub/b.sh", "find sub -name b.sh -execdir ./b.sh \\;"),
            ("b.sh", "trap 'sh b\\.sh' EXIT"),
        ],
    );
}

/// L37: a folder that is run, and a module that is found.
#[test]
fn what_an_interpreter_finds_by_itself() {
    let scripts = Scripts::new();
    let write = |text: &str| scripts.write("tool/__main__.py", text);
    let line = |line: &str| json!({ "type": "command", "command": line });
    for command in ["python3 tool", "python3 -Im tool", "python3 -um tool", "true; python3 ./tool"]
    {
        write("1");
        let (before, dynamic) = digest(&scripts, &line(command));
        write("2");
        assert!(dynamic || digest(&scripts, &line(command)).0 != before, "{command}");
    }
    // One that comes later.
    for command in ["true; python3 later", "true; node ./later"] {
        let scripts = Scripts::new();
        let (before, dynamic) = digest(&scripts, &line(command));
        scripts.write("later/__main__.py", "1");
        scripts.write("later.js", "1");
        assert!(dynamic || digest(&scripts, &line(command)).0 != before, "{command}");
    }
}

/// L37: `cd` that does not happen, or happens elsewhere.
#[test]
fn where_a_command_runs() {
    all_are_covered(
        "bash",
        &[
            ("b.sh", "true || cd sub && ./b.sh"),
            ("b.sh", "true || cd sub || exit 1; ./b.sh"),
            ("b.sh", "cd sub || exit 1 & ./b.sh"),
            ("b.sh", "true ||\ncd sub && ./b.sh"),
            ("b.sh", "true || # x\n\ncd sub && ./b.sh"),
            ("b.sh", "true |\ncd sub && ./b.sh"),
            ("b.sh", "cd no || return 1; ./b.sh"),
            ("b.sh", "cd no || exit 1 >/no/log; ./b.sh"),
            ("b.sh", "cd no || >/no/log exit 1; ./b.sh"),
            ("b.sh", "cd no || exit 1 <no; ./b.sh"),
            ("sub/b.sh", "cd sub &&\n./b.sh"),
            ("b.sh", "true |& cd sub && ./b.sh"),
            ("b.sh", "if false; then\ncd sub || exit 1\nfi\n./b.sh"),
            ("b.sh", "case x in (y) cd sub || exit 1;; esac; ./b.sh"),
            ("sub/b.sh", "for x in 1 2; do\n./b.sh\ncd sub || exit 0\ndone"),
            ("b.sh", "cd() { :; }; cd sub && ./b.sh"),
            ("b.sh", "cd () { :; }; cd sub && ./b.sh"),
            ("b.sh", "function cd { :; }; cd sub && ./b.sh"),
            ("b.sh", "f() {\ncd sub || exit 1\n}\n./b.sh"),
            ("b.sh", "exit() { :; }; cd no || exit 1; ./b.sh"),
            ("sub/b.sh", "</dev/null cd sub && ./b.sh"),
            ("sub/b.sh", "0<&0 cd sub && ./b.sh"),
            ("sub/b.sh", "trap ./b.sh EXIT; cd sub && true"),
            ("other/sub/b.sh", "for CDPATH in other; do break; done; cd sub && ./b.sh"),
            ("other/sub/b.sh", "printf -v CDPATH other; cd sub && ./b.sh"),
            ("other/sub/b.sh", "shopt -s cdable_vars; no=other/sub; cd no && ./b.sh"),
            ("sub/b.sh", "env -iC sub ./b.sh"),
            ("sub/b.sh", "env -Csub ./b.sh"),
            ("sub/b.sh", "env --chd sub ./b.sh"),
        ],
    );
}

/// L37: other words for a program, and other programs for a word.
#[test]
fn which_program_runs() {
    all_are_covered(
        "bash",
        &[
            ("b.sh", "hash -p ./b.sh date; date"),
            ("b.sh", "env '-Ssh b.sh'"),
            ("b.sh", "env -iS 'sh b\\_.sh'; env -vS 'sh b.sh'"),
            ("b.sh", "env --split 'sh b.sh'"),
            ("sub/date", "printf -v PATH %s sub; date"),
            ("sub/date", "for PATH in ./sub; do date; done"),
            ("sub/date", "read -d '' PATH < list; date; printf -v PATH %s sub; date"),
            ("b.sh", "shopt -s extglob\n./@(b).sh"),
            ("b.sh", "BASH_ENV=x; a=(b); sh ${a[0]}.sh"),
            ("~/b.sh", "\"\"~/b.sh"),
            ("a.sh\u{a0}x", "./a.sh\u{a0}x"),
            ("a.sh\u{3000}x", "./a.sh\u{3000}x"),
            ("a.sh\u{b}x", "./a.sh\u{b}x"),
            ("a.sh\rx", "./a.sh\rx"),
        ],
    );
}

/// L37: what `sh` reads in another way than `bash` does.
#[test]
fn what_a_plain_shell_reads_otherwise() {
    let is_dash = runs(&folder(), "sh", "b.sh", "cd sub &>log && ./b.sh");
    if !is_dash {
        eprintln!("skipped: `sh` is no plain shell here");
        return;
    }
    all_are_covered(
        "sh",
        &[
            ("b.sh", "cd sub &>log && ./b.sh"),
            ("b.sh", "cd sub || exit 1 &>log; ./b.sh"),
            ("b.sh", "alias date='sh b\\.sh'\ndate"),
            ("b.sh", "alias cd=:\ncd sub && ./b.sh"),
        ],
    );
}

/// L37: a program without a shell is the first word, whatever it looks like.
#[test]
fn a_program_without_a_shell_is_the_first_word() {
    let scripts = folder();
    let handler = json!({ "type": "command", "command": "X=./b.sh", "args": [] });
    scripts.script("X=./b.sh", "exit 0\n");
    let (before, dynamic) = digest(&scripts, &handler);
    scripts.script("X=./b.sh", "exit 1\n");
    assert!(dynamic || digest(&scripts, &handler).0 != before);
}

/// L37: variables of the entry that change what is loaded.
#[test]
fn variables_of_an_entry_that_load_files() {
    for name in ["BASH_FUNC_date%%", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "PS4", "SHELLOPTS"] {
        let text = json!({ "version": 1, "hooks": { "preToolUse": [
            { "type": "command", "bash": "git diff; date", "env": { name: "1" } } ] } });
        let source = Source::new(Dialect::Copilot, ".github/hooks/a.json", Origin::Project);
        let plan = Plan::read_text(&source, &text.to_string(), "/no/shop");
        assert!(Bridge::new("/no/shop", plan).preview().entries[0].dynamic, "{name}");
    }
}

/// What is told by the text alone is still told so, and is not reported as unknown.
#[test]
fn ordinary_lines_are_covered_in_full() {
    for line in [
        "bash -euo pipefail b.sh",
        "bash --norc -e b.sh",
        "sh -c 'set -e; ./b.sh'",
        "python3 -u b.sh",
        "node --no-warnings b.sh",
        "node -r ./a.sh b.sh",
        "env -i ./b.sh",
        "(true; ./b.sh)",
        "if (true); then ./b.sh; fi",
        "echo \"${X:-none}\" && ./b.sh",
        "git diff --quiet && ./b.sh",
        "printf '%s\\n' x | ./b.sh",
        "read x; ./b.sh",
        "for x in 1 2; do ./b.sh; done",
        "./b.sh </dev/null &>log",
        "export X=1; ./b.sh",
        "notify-send \"all is done\"; ./b.sh",
    ] {
        let scripts = folder();
        scripts.script("b.sh", "exit 0\n");
        let handler = json!({ "type": "command", "command": line });
        let (before, dynamic) = digest(&scripts, &handler);
        assert!(!dynamic, "{line}");
        scripts.script("b.sh", "exit 1\n");
        assert_ne!(before, digest(&scripts, &handler).0, "{line}");
    }
}

/// A project in a folder with a blank: outside of quotes its name is two words.
#[test]
fn a_variable_outside_of_quotes_may_be_several_words() {
    let scripts = Scripts::new();
    let project = scripts.path().join("my shop");
    scripts.script("my shop/a.sh", "exit 0\n");
    let dynamic = |line: &str| {
        let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [
            { "type": "command", "command": line } ] } ] } });
        let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::Project);
        let plan = Plan::read_text(&source, &text.to_string(), &project);
        Bridge::new(&project, plan).preview().entries[0].dynamic
    };
    assert!(dynamic("bash $CLAUDE_PROJECT_DIR/a.sh"));
    assert!(!dynamic("bash \"$CLAUDE_PROJECT_DIR\"/a.sh"));
}
