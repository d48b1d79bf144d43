//! Results whose merge is written by hand, and panics.

use std::cell::Cell;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use hooks_runtime::model::FieldSet;
use hooks_runtime::plugin::Removal;
use hooks_runtime::registry::Handle;
use hooks_runtime::{HookRegistry, Merge, hook_points, on};

use crate::driving::{finish, poll_once, quietly};
use crate::shapes::{Payload, Shape, Told, behave};

hook_points! {
    pub modifying Amended(u32) -> Amendment;
}

#[derive(Debug, Default)]
pub struct Amendment(u32);

thread_local! {
    /// Whether the next merge panics, and `filled` from then on.
    static MERGE_PANICS: Cell<bool> = const { Cell::new(false) };
    static FILLED_PANICS: Cell<bool> = const { Cell::new(false) };
}

impl Merge for Amendment {
    const FIELDS: &'static [&'static str] = &["value"];

    fn merge(&mut self, later: Self) -> FieldSet {
        if MERGE_PANICS.take() {
            FILLED_PANICS.set(true);
            panic!("the merge panics");
        }
        let mut set = FieldSet::new();
        if self.0 == 0 && later.0 != 0 {
            self.0 = later.0;
            set.insert(0);
        }
        set
    }

    fn filled(&self) -> FieldSet {
        assert!(!FILLED_PANICS.get(), "what is filled panics");
        FieldSet::new()
    }
}

/// Waits for a plugin while it is dropped.
struct Asks(Arc<Mutex<Option<Removal>>>);

impl Drop for Asks {
    fn drop(&mut self) {
        if let Some(removal) = &*self.0.lock().unwrap() {
            let _ = poll_once(removal.into_future().as_mut());
        }
    }
}

/// The list of the fire is freed at its end, and what a handler captured looks
/// at what this thread runs.
#[test]
fn l12_a_merge_and_what_is_filled_panic_in_a_reported_fire() {
    quietly(|| {
        let hooks = HookRegistry::new();
        let payload = Payload::new();
        let busy = async |payload: &Payload| {
            behave(Shape::Suspends, payload).await;
            std::future::pending::<()>().await;
        };
        hooks.register(on::<Told>().plugin("busy").handler(busy)).unwrap();
        let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
        assert!(poll_once(fire.as_mut()).is_pending());
        let removal = Arc::new(Mutex::new(Some(hooks.unregister_plugin("busy"))));
        let handles = Arc::new(Mutex::new(Vec::<Handle>::new()));
        let first = on::<Amended>().name("first").handler_with(
            Arc::clone(&handles),
            |handles: &Arc<Mutex<Vec<Handle>>>, _: &u32| {
                for handle in handles.lock().unwrap().drain(..) {
                    handle.unregister();
                }
                MERGE_PANICS.set(true);
                Amendment(1)
            },
        );
        let second = on::<Amended>()
            .handler_with(Asks(Arc::clone(&removal)), |_: &Asks, _: &u32| Amendment(2));
        let registered = hooks.register([first, second]).unwrap();
        handles.lock().unwrap().extend(registered);
        let (outcome, report) = finish(pin!(hooks.fire_modifying_reported::<Amended>(&1))).0;
        assert_eq!(outcome.unwrap().0, 0);
        assert_eq!(report.handlers()[0].handler(), "first");
        FILLED_PANICS.set(false);
    });
}

#[test]
fn l19_a_pending_call_whose_merge_panics_is_released() {
    quietly(|| {
        let hooks = HookRegistry::new();
        let waits = async |payload: &u32| {
            if *payload == 7 {
                std::future::pending::<()>().await;
            }
            Amendment(0)
        };
        let pauses = async |_: &u32| {
            behave(Shape::Suspends, &Payload::new()).await;
            MERGE_PANICS.set(true);
            Amendment(1)
        };
        hooks.register(on::<Amended>().priority(-1).handler(waits)).unwrap();
        hooks.register(on::<Amended>().plugin("leaving").handler(pauses)).unwrap();
        let mut other = Box::pin(hooks.fire_modifying::<Amended>(&7));
        assert!(poll_once(other.as_mut()).is_pending());
        let (outcome, _) = finish(pin!(hooks.fire_modifying_reported::<Amended>(&1))).0;
        assert_eq!(outcome.unwrap().0, 0);
        FILLED_PANICS.set(false);
        let removal = hooks.unregister_plugin("leaving");
        assert!(poll_once((&removal).into_future().as_mut()).is_ready());
    });
}
