//! What the README shows is what curl prints.
#![cfg(unix)]

mod support;

use std::process::Command;

use support::Running;

#[test]
fn the_readme_shows_what_curl_prints() {
    // `--json` came with 7.82.
    let help = Command::new("curl").args(["--help", "all"]).output();
    if !help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--json")) {
        eprintln!("left out: there is no curl here, or an old one");
        return;
    }
    let running = Running::start(|text| text);
    let readme = include_str!("../README.md");
    let blocks = readme.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut lines = blocks.flat_map(str::lines);
    let mut commands = 0;
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").expect("a command");
        let command = command.replace("127.0.0.1:8080", &running.address.to_string());
        let output = Command::new("sh").args(["-c", &command]).output().expect("sh starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), lines.next().expect("an answer"));
        commands += 1;
    }
    assert_eq!(commands, 8);
}
