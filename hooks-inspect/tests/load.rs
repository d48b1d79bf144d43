//! The load program, for a moment: each fire is seen or counted, once.

use std::process::Command;

#[test]
fn the_load_program_runs() {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "page_load", "--", "0.2"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    // It fails where a fire is neither seen nor counted.
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed.lines().count(), 7, "{printed}");
    let pages: Vec<_> = printed.lines().filter(|line| line.contains("with a page")).collect();
    assert_eq!(pages.len(), 2, "{printed}");
    assert!(pages.iter().all(|line| line.contains(" seen, ")), "{printed}");
}
