//! What a program hears that forgets to name a plugin's crate: this one names the
//! greeter and not the almanac, although it depends on both.

use hooks_linked_greeter as _;
use hooks_runtime::HookRegistry;
use hooks_runtime::handler::collected;

#[test]
fn l18_a_crate_that_is_not_named_is_missed_with_the_line_to_add() {
    assert_eq!(collected(), ["hooks_linked_greeter::welcome"]);
    let hooks = HookRegistry::new();
    let expected = ["hooks_linked_almanac::season", "hooks_linked_greeter::welcome"];
    let missed = hooks.register_collected_expecting(expected).expect_err("the almanac is missing");
    assert_eq!(
        missed.to_string(),
        "expected handlers were not linked: hooks_linked_almanac::season; add \
         `use hooks_linked_almanac as _;` to the program, or list them with `handlers!`"
    );
    assert!(hooks.handlers().is_empty(), "nothing was registered");
}
