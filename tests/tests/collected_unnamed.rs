//! A crate in the manifest that no code names is not linked, and its handlers
//! with it: a host that expects them gets an error (L18).

use hooks_runtime::{HookRegistry, collected};

#[test]
fn l18_a_handler_that_the_linker_lost_is_missed_aloud() {
    assert!(collected().is_empty(), "no crate with a handler is named here");
    let hooks = HookRegistry::new();
    assert_eq!(hooks.register_collected().unwrap().len(), 0, "unasked, no handler is missed");
    let error = hooks.register_collected_expecting(["hooks_tests_unnamed::stamp"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected handlers were not linked: hooks_tests_unnamed::stamp; name their crates in the \
         program, or list them with `handlers!`",
    );
    assert!(hooks.handlers().is_empty());
}
