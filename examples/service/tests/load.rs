//! The load program, for a moment: no request fails while a plugin leaves and comes back.

use std::process::Command;

#[test]
fn l19_no_request_fails_while_a_plugin_leaves_and_comes_back() {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "load", "--", "1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("cargo starts");
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    let rows: Vec<Vec<&str>> = said
        .lines()
        .filter(|line| line.starts_with("  with"))
        .map(|line| line.split_whitespace().rev().collect())
        .collect();
    // From the right: two times, the failures, the requests.
    assert_eq!(rows.iter().map(|row| row[2]).collect::<Vec<_>>(), ["0"; 4], "{said}");
    assert!(rows.iter().all(|row| row[3].parse::<u32>().is_ok_and(|count| count > 0)), "{said}");
    assert!(said.ends_with("shutdown: nothing left in the background, no plugin left\n"), "{said}");
}
