//! What two declarations may not share, and what a listing may not invent.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_runtime::{FireError, HookPoint, HookRegistry, RegisterError, on};

mod first {
    hooks_runtime::hook_points! {
        /// A bell rings.
        pub void Ring { times: u32 }
    }
}

mod second {
    hooks_runtime::hook_points! {
        /// Another bell, with the name of the first.
        #[hook(name = "ring")]
        pub void Chime { times: u32 }
    }
}

fn clash() -> String {
    let (first, second) =
        (first::Ring::descriptor().location(), second::Chime::descriptor().location());
    format!(
        "two hook points are called `ring`: one declared at {first}, one at {second}; rename one \
         with `#[hook(name = \"…\")]`"
    )
}

#[test]
fn l03_registering_at_both_is_an_error() {
    let hooks = HookRegistry::new();
    hooks.register_void::<first::Ring>(async |_: &first::RingPayload| ()).unwrap();
    let refused = hooks.register_void::<second::Chime>(async |_: &second::ChimePayload| ());
    let error = refused.unwrap_err();
    assert!(matches!(error, RegisterError::NameClash(_)));
    assert_eq!(error.to_string(), clash());
    assert!(!hooks.has_handlers::<second::Chime>());
}

#[test]
fn l03_firing_the_other_is_an_error_every_time() {
    let hooks = HookRegistry::new();
    block_on(hooks.fire_void::<first::Ring>(&first::RingPayload { times: 1 })).unwrap();
    for _ in 0..2 {
        let payload = second::ChimePayload { times: 1 };
        let error = block_on(hooks.fire_void::<second::Chime>(&payload)).unwrap_err();
        assert!(matches!(error, FireError::NameClash(_)));
        assert_eq!(error.to_string(), clash());
    }
}

#[test]
fn l03_a_group_with_both_leaves_nothing_behind() {
    let hooks = HookRegistry::new();
    let both = [
        on::<first::Ring>().handler(|_: &first::RingPayload| ()),
        on::<second::Chime>().handler(|_: &second::ChimePayload| ()),
    ];
    assert_eq!(hooks.register(both).unwrap_err().to_string(), clash());
    assert!(hooks.handlers().is_empty());
    // Neither name is taken by a group that was refused.
    hooks.register_void::<second::Chime>(async |_: &second::ChimePayload| ()).unwrap();
}

#[test]
fn l05_the_listing_is_the_sequence_that_a_fire_walks() {
    let hooks = HookRegistry::new();
    let walked = Arc::new(Mutex::new(Vec::new()));
    for (name, priority, after) in
        [("c", 5, None), ("a", 0, Some("b")), ("b", 9, None), ("d", 0, None)]
    {
        let note = Arc::clone(&walked);
        let on = on::<first::Ring>().name(name).priority(priority);
        let on = match after {
            Some(after) => on.after(after),
            None => on,
        };
        hooks
            .register(on.handler(move |_: &first::RingPayload| note.lock().unwrap().push(name)))
            .unwrap();
    }
    block_on(hooks.fire_void::<first::Ring>(&first::RingPayload { times: 1 })).unwrap();
    let listed: Vec<_> =
        hooks.handlers_at::<first::Ring>().iter().map(|info| info.name.to_string()).collect();
    assert_eq!(listed, ["d", "c", "b", "a"]);
    assert_eq!(*walked.lock().unwrap(), listed);
}
