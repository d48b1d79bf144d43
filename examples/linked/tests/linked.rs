//! The program finds the plugins that it only links.

use std::process::Command;

#[test]
fn l18_the_program_finds_what_is_linked() {
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-linked")).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "linked
  hooks_linked_almanac::saying
  hooks_linked_almanac::season
  hooks_linked_greeter::welcome
registered
  almanac: 2 handlers at before_prompt_build
  greeter: 1 handler at session_start
fired
greeter: welcome, s-1
almanac: It is spring. … April showers bring May flowers.
"
    );
}
