//! The command in a real terminal, in a pipe, and with pagers good and bad.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Output as Ended, Stdio};

use hooks_examples::view::Output;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use support::workspace;
use tempfile::TempDir;

fn agent(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--example", "agent", "--"]).args(arguments);
    for variable in ["PAGER", "LESS", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command.current_dir(workspace()).stdin(Stdio::null());
    command
}

/// What the command shows in a terminal of that width. It says nothing else.
#[track_caller]
fn in_terminal(command: Command, width: u16) -> String {
    let (shown, said) = said_in_terminal(command, width);
    assert_eq!(said, "");
    shown
}

/// What the command shows in a terminal of that width, and what it says to its standard
/// error, which is elsewhere.
#[track_caller]
fn said_in_terminal(mut command: Command, width: u16) -> (String, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("granted");
    unlockpt(&terminal).expect("unlocked");
    let size = Winsize { ws_row: 40, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).expect("a size");
    let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("text");
    let inside = OpenOptions::new().read(true).write(true).open(name).expect("its inside");
    let child = command.stdout(inside).stderr(Stdio::piped()).spawn().expect("cargo starts");
    // The command holds the inside, which is to be closed when the child ends.
    drop(command);
    let mut shown = Vec::new();
    // At the end a terminal says that it is gone, not that its text ends.
    let _ = File::from(terminal).read_to_end(&mut shown);
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(ended.stderr).expect("text");
    assert!(ended.status.success(), "{:?}: {said}", ended.status);
    (String::from_utf8(shown).expect("text").replace("\r\n", "\n"), said)
}

#[track_caller]
fn ended_well(ended: &Ended) {
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.is_empty(), "{:?}: {said}", ended.status);
}

#[test]
fn a_terminal_gets_a_pager_and_the_pager_the_timeline() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("paged");
    let mut command = agent(&[]);
    command.env("PAGER", format!("sh -c 'cat > {}; echo paged'", file.display()));
    assert_eq!(in_terminal(command, 100), "paged\n");

    let paged = std::fs::read_to_string(file).expect("what the pager was given");
    assert!(paged.starts_with("\x1b[2mrows    \x1b[0m"), "{paged}");
    assert!(paged.contains("\x1b[1m    before_inbound "), "there is colour");
    assert!(paged.contains("passed by privacy/mask_keys,\x1b[2m"), "the width is the terminal's");
    assert!(paged.contains("everything adds up\n"), "all of it");
}

#[test]
fn the_pager_is_less_where_none_is_named() {
    let folder = TempDir::new().expect("a folder");
    let less = folder.path().join("less");
    let program = "#!/bin/sh\ncat > /dev/null\necho less \"$@\" with $LESS\n";
    // By another process: what other tests start meanwhile would inherit a file that this one
    // has open, and none that is open for writing can be run.
    let written = r#"printf %s "$1" > "$0" && chmod 755 "$0""#;
    let mut writing = Command::new("sh");
    let written = writing.args(["-c", written]).arg(&less).arg(program).status();
    assert!(written.expect("a shell").success());
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", folder.path().display());
    let shown = |variable: &str, value: &str| {
        let mut command = agent(&[]);
        command.env("PATH", &path).env(variable, value);
        in_terminal(command, 100)
    };
    assert_eq!(shown("NO_COLOR", "1"), "less -FRX with FRX\n");
    // A variable that asks for other things does not take the arguments away.
    assert_eq!(shown("LESS", "-M"), "less -FRX with -M\n");
    // A pager that is named has the arguments that it is named with.
    assert_eq!(shown("PAGER", "less -N"), "less -N with FRX\n");
}

#[test]
fn no_pager_where_it_is_not_wanted_or_fails() {
    for (arguments, pager, says) in [
        (&["--no-pager"][..], "echo paged", ""),
        (&[][..], "", ""),
        (
            &[][..],
            "/there/is/no/such/pager -x",
            "the pager `/there/is/no/such/pager` cannot be started: No such file or directory \
             (os error 2)\n",
        ),
        (&[][..], "'", "`PAGER` is no command: '\n"),
        (&[][..], "sh -c 'exit 3'", "the pager `sh -c exit 3` has failed: exit status: 3\n"),
        (
            &[][..],
            "sh -c 'cat > /dev/null; exit 3'",
            "the pager `sh -c cat > /dev/null; exit 3` has failed: exit status: 3\n",
        ),
    ] {
        let mut command = agent(arguments);
        command.env("PAGER", pager).env("NO_COLOR", "1");
        let (shown, said) = said_in_terminal(command, 110);
        assert_eq!(said, says, "{pager}");
        assert!(shown.starts_with("rows    point, model,"), "{pager}: {shown}");
        assert!(!shown.contains('\x1b'), "{pager}: NO_COLOR asks for none");
        assert!(shown.ends_with("everything adds up\n"), "{pager}: {shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 110), "{pager}: {shown}");
    }
}

#[test]
fn a_pipe_gets_no_pager_no_colour_and_whole_lines() {
    let ended = agent(&[]).env("PAGER", "echo paged").output().expect("cargo starts");
    ended_well(&ended);
    let text = String::from_utf8(ended.stdout).expect("text");
    assert!(text.starts_with("rows    point, model,") && !text.contains('\x1b'), "{text}");
    assert!(text.contains(
        "unchanged, asked allowlist/known_commands, sandboxer/stay_inside, audit-log/refusal  "
    ));
    assert!(!text.contains("no handlers  "));

    let ended = agent(&["--all"]).output().expect("cargo starts");
    ended_well(&ended);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("no handlers  "));
}

#[test]
fn a_reader_that_leaves_is_no_error_and_files_are_written_all_the_same() {
    let folder = TempDir::new().expect("a folder");
    let page = folder.path().join("page.html").display().to_string();
    let mut command = agent(&["--html", &page]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cargo starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    assert_eq!(said, format!("the page is in `{page}`\n"));
    assert!(std::fs::read_to_string(page).expect("a page").ends_with("</html>\n"));

    let mut command = agent(&[]);
    command.env("PAGER", "true");
    assert_eq!(in_terminal(command, 100), "");
}

#[test]
fn a_pager_that_a_signal_ends_is_said_and_nothing_is_shown_again() {
    let mut command = agent(&[]);
    // One that a shell which started the tests in the background cannot have them ignore.
    command.env("PAGER", "sh -c 'cat > /dev/null; kill -KILL $$'");
    let (shown, said) = said_in_terminal(command, 100);
    assert_eq!(shown, "");
    assert!(said.contains("has failed: signal: 9 (SIGKILL)"), "{said}");
}

#[test]
fn a_pager_that_is_left_early_ends_the_writing() {
    let mut output = Output::paged(Some("true".as_ref()));
    assert!(output.is_paged());
    // More than fits into a pipe that is not read.
    output.write(&"a line\n".repeat(100_000));
    output.write("another");
    output.finish().expect("quietly");
}
