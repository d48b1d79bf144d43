//! A crate in the manifest that no code names is not linked, and its handlers
//! with it: a host that expects them gets an error (L18).

mod support;

use hooks_runtime::HookRegistry;
use hooks_runtime::handler::collected;
use support::Log;
use support::events::Lines;

#[test]
fn l18_a_handler_that_the_linker_lost_is_missed_aloud() {
    assert!(collected().is_empty(), "no crate with a handler is named here");
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let events = tracing::subscriber::set_default(Lines(log.clone()));
    assert_eq!(hooks.register_collected().unwrap().len(), 0, "unasked, no handler is missed");
    assert_eq!(
        log.take(),
        ["message: no annotated handlers were collected: a crate that no code names is not \
             linked; name it with `use plugin_crate as _;`"],
        "but it is logged"
    );
    drop(events);
    let error = hooks.register_collected_expecting(["hooks_tests_unnamed::stamp"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected handlers were not linked: hooks_tests_unnamed::stamp; add \
         `use hooks_tests_unnamed as _;` to the program, or list them with `handlers!`",
    );
    assert!(hooks.handlers().is_empty());
}
