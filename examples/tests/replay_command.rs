//! The command: a day that the agent recorded, replayed with and without a change.

mod support;

use std::process::{Command, Output};

use support::workspace;
use tempfile::TempDir;

fn run(example: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", example, "--"])
        .args(arguments)
        .current_dir(workspace())
        .output()
        .expect("cargo starts")
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// L36, L38: what the agent records is replayed by another process; a guard that was in
/// shadow is lifted.
#[test]
fn l38_a_day_of_another_process_is_replayed() {
    let folder = TempDir::new().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (day, page) = (file("day.jsonl"), file("page.html"));
    let recorded = run("agent", &["--record", &day, "--shadow", "privacy/no_passwords"]);
    assert!(recorded.status.success(), "{}", said(&recorded).2);

    let (code, table, errors) = said(&run("replay", &[&day]));
    assert_eq!((code, &*errors), (Some(0), ""), "{table}");
    assert!(table.contains(" same, 0 changed, 0 could not be replayed\n"), "{table}");

    let lifted = ["--shadow-lifted", "privacy/no_passwords", "--html", &page];
    let (code, table, errors) = said(&run("replay", &[&[&*day], &lifted[..]].concat()));
    assert_eq!((code, errors), (Some(1), format!("the page is in `{page}`\n")), "{table}");
    let cells: Vec<_> = table.lines().nth(1).expect("a row").split("  ").map(str::trim).collect();
    let cells: Vec<_> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    assert_eq!(
        cells[1..],
        [
            "before_inbound",
            "effect",
            "privacy/no_passwords",
            "in shadow: rejected: it speaks of a password",
            "rejected: it speaks of a password",
        ]
    );
    assert!(table.contains(" same, 1 changed, 0 could not be replayed\n"), "{table}");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("privacy/no_passwords"));
    let more = run("replay", &[&day, "--without", "allowlist", "--tighten", "analytics/visit"]);
    let (code, table, _) = said(&more);
    assert_eq!(code, Some(1));
    assert!(table.contains("allowlist/known_commands") && table.contains("analytics/visit"));
    let (code, table, _) = said(&run("replay", &[&day, "--recompose"]));
    assert_eq!(code, Some(0), "{table}");
    let (code, table, _) = said(&run("replay", &[&day, "--call", "sandboxer/stay_inside"]));
    assert_eq!(code, Some(0), "{table}");
    // The page does not take the place of the recording.
    let (code, table, errors) = said(&run("replay", &[&day, "--html", &day]));
    assert_eq!((code, &*table), (Some(2), ""));
    assert_eq!(errors, format!("the page cannot be written to the recording, `{day}`\n"));
    let (code, table, errors) = said(&run("replay", &[&day, "--without", "nobody"]));
    assert_eq!((code, &*table), (Some(2), ""));
    let (first, plugins) = errors.split_once('\n').expect("two lines");
    assert!(first.starts_with("no handler is `nobody`; "), "{errors}");
    assert!(plugins.starts_with("plugins: allowlist, analytics, audit-log, "), "{errors}");
}

#[test]
fn what_is_wrong_is_said_and_help_is_given() {
    let (code, _, errors) = said(&run("replay", &[]));
    assert_eq!(code, Some(2));
    assert!(errors.starts_with("a recording is missing: record one with `agent --record FILE`\n"));
    let (code, help, _) = said(&run("replay", &["--help"]));
    assert_eq!(code, Some(0));
    for option in ["--without", "--tighten", "--shadow-lifted", "--call", "--recompose", "--html"] {
        assert!(help.contains(option), "{option}");
    }
    let (code, _, errors) = said(&run("replay", &["no such file.jsonl"]));
    assert_eq!(code, Some(2));
    assert_eq!(errors, "no recording is at `no such file.jsonl`: there is no such file\n");
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let empty = empty.path().display().to_string();
    let (code, _, errors) = said(&run("replay", &[&empty]));
    assert_eq!(
        (code, errors),
        (Some(2), format!("nothing was fired in the recording `{empty}`\n"))
    );
    let (code, _, errors) = said(&run("replay", &["a", "b"]));
    assert_eq!(code, Some(2));
    assert!(errors.contains("unexpected argument \"b\""), "{errors}");
    let (code, _, errors) = said(&run("replay", &["a", "--recompose", "--call", "audit-log/tool"]));
    assert_eq!(code, Some(2));
    let contradiction =
        "`--recompose` calls no handler, `--call audit-log/tool` calls one: leave one out\n";
    assert!(errors.starts_with(contradiction), "{errors}");
}
