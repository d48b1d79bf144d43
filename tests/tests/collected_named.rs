//! The same crate as in `collected_unnamed.rs`, named: its handlers come (L18).

use hooks_runtime::HookRegistry;
use hooks_runtime::handler::collected;
use hooks_tests_unnamed as _;

#[test]
fn l18_a_handler_of_a_crate_that_is_named_is_linked() {
    assert_eq!(collected(), ["hooks_tests_unnamed::stamp"]);
    let hooks = HookRegistry::new();
    let handles = hooks.register_collected_expecting(["hooks_tests_unnamed::stamp"]).unwrap();
    assert_eq!(&*handles[0].name().unwrap(), "stamp");
}
