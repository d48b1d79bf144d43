//! Handlers that go while others come, at one instant: whatever handles are given for it, in
//! whatever order, and as often as they are given.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::plugin::Quota;
use hooks_runtime::registry::Handle;
use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use support::Log;

hook_points! {
    /// A page was printed.
    pub void Printed { page: u32 }
    /// Who prints.
    pub claiming Print { page: u32 } -> u32;
}

const PRINT: PrintPayload = PrintPayload { page: 1 };

fn named(name: &str, plugin: Option<&'static str>) -> Registration {
    let on = on::<Printed>().name(name);
    let on = match plugin {
        Some(plugin) => on.plugin(plugin),
        None => on,
    };
    on.handler(|_: &PrintedPayload| ())
}

fn names(hooks: &HookRegistry) -> Vec<String> {
    hooks.handlers_at::<Printed>().iter().map(|it| it.name.to_string()).collect()
}

/// L17: a handler that is given twice goes once, and its plugin has all the others still.
#[tokio::test]
async fn l17_a_handler_that_is_given_twice_goes_once() {
    let hooks = HookRegistry::new();
    let old = hooks.register(["a", "b", "c"].map(|name| named(name, Some("press")))).unwrap();
    let twice = [&old[0], &old[0], &old[1], &old[0]].map(Handle::clone);
    let (_, removal) = hooks.exchange(twice, named("new", None)).unwrap();
    assert_eq!((removal.removed(), names(&hooks)), (2, vec!["c".into(), "new".into()]));
    assert!(hooks.is_installed("press"));
    assert!(removal.await.into_result().is_ok());
    let removal = hooks.unregister_plugin("press");
    assert_eq!((removal.removed(), names(&hooks)), (1, vec!["new".into()]));
}

/// L17: whoever goes makes room for who comes in the same change, also where one of them takes
/// the very place of another.
#[test]
fn l17_what_goes_does_not_count_towards_the_quota() {
    let hooks = HookRegistry::new();
    hooks.set_quota("press", Quota::new().max_handlers(2)).unwrap();
    let of = |name: &str| named(name, Some("press"));
    let old = hooks.register([of("a"), of("b")]).unwrap();
    let (new, removal) = hooks.exchange(old.clone(), [of("c"), of("d")]).unwrap();
    assert_eq!((removal.removed(), names(&hooks)), (2, vec!["c".into(), "d".into()]));
    // Those that went before make no room.
    let refused = hooks.exchange(old, of("e")).unwrap_err();
    assert!(refused.to_string().contains("it may have at most 2 handlers;"), "{refused}");
    let replacing = || on::<Printed>().name("c").plugin("press").replace();
    let replaced = || replacing().handler(|_: &PrintedPayload| ());
    let twice = [&new[0], &new[0]].map(Handle::clone);
    let refused = hooks.exchange(twice.clone(), [replaced(), of("e")]).unwrap_err();
    assert!(refused.to_string().contains("it may have at most 2 handlers;"), "{refused}");
    let (_, removal) = hooks.exchange(new, [of("e"), replaced()]).unwrap();
    assert_eq!((removal.removed(), names(&hooks)), (1, vec!["c".into(), "e".into()]));
}

/// The names of those that were removed.
#[derive(Clone, Debug, Default)]
struct Gone(Log);

impl Observer for Gone {
    fn removed(&self, handler: &ObservedHandler<'_>) {
        self.0.push(handler.handler());
    }
}

/// L17: those that go are told of in the order in which they stood.
#[test]
fn l17_observers_are_told_in_the_order_of_the_list_whatever_that_of_the_handles_is() {
    let gone = Gone::default();
    let hooks = HookRegistry::builder().observer(gone.clone()).build();
    let old = hooks.register(["a", "b", "c", "d"].map(|name| named(name, None))).unwrap();
    let other =
        hooks.register(on::<Print>().name("e").handler(|_: &PrintPayload| Some(1))).unwrap();
    let backwards = other.into_iter().chain(old.into_iter().rev());
    hooks.exchange(backwards, named("new", None)).unwrap();
    assert_eq!(gone.0.take(), ["a", "b", "c", "d", "e"]);
}

/// L18: a fire under way that finds one of them gone finds all behind it gone, also one that is
/// replaced in the same change.
#[test]
fn l18_a_fire_under_way_starts_none_behind_one_that_has_gone() {
    const MANY: usize = 48;
    let hooks = HookRegistry::new();
    let (called, done) = (Arc::new(AtomicU64::new(0)), AtomicBool::new(false));
    let group = |is_new: bool| {
        let called = Arc::clone(&called);
        let one = move |at: usize| {
            let called = Arc::clone(&called);
            // Every second one is replaced, the others go.
            let name =
                if at.is_multiple_of(2) { format!("{at}") } else { format!("{at} {is_new}") };
            let on = on::<Print>().name(name).turn(format!("{at:02}")).replace();
            on.handler(move |_: &PrintPayload| {
                called.fetch_or(1 << at, Ordering::Relaxed);
                // Long enough for the fire to be under way when they go.
                (0..200).for_each(|_| std::hint::spin_loop());
                None::<u32>
            })
        };
        (0..MANY).map(one).collect::<Vec<_>>()
    };
    let mut handles = hooks.register(group(false)).unwrap();
    std::thread::scope(|threads| {
        let firing = threads.spawn(|| {
            let mut seen = BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                called.store(0, Ordering::Relaxed);
                let _ = futures::executor::block_on(hooks.fire_claiming::<Print>(&PRINT)).unwrap();
                seen.insert(called.load(Ordering::Relaxed).trailing_ones());
                let mask = called.load(Ordering::Relaxed);
                assert_eq!(mask & (mask + 1), 0, "{mask:048b}");
            }
            seen
        });
        for round in 0..300 {
            if firing.is_finished() {
                break;
            }
            let backwards = handles.into_iter().rev();
            handles = hooks.exchange(backwards, group(usize::is_multiple_of(round, 2))).unwrap().0;
        }
        done.store(true, Ordering::Relaxed);
        assert!(firing.join().unwrap().contains(&(MANY as u32)));
    });
}
