//! The key of a fire: one for all of its handlers, another for every fire beside it.

use std::sync::{Arc, Mutex};

use hooks_runtime::handler::FireKey;
use hooks_runtime::{HookContext, HookRegistry, Judgement, Verdict, hook_points, on};
use tokio::sync::Barrier;

hook_points! {
    /// Before a page is saved.
    pub gating Saving { page: u32 }
}

#[derive(Debug)]
struct Seen {
    keys: Mutex<Vec<(u32, FireKey)>>,
    meet: Barrier,
}

#[tokio::test]
async fn fires_beside_each_other_have_keys_of_their_own() {
    let seen = Arc::new(Seen { keys: Mutex::default(), meet: Barrier::new(2) });
    let hooks = HookRegistry::new();
    let note = |seen: &Arc<Seen>, saving: &SavingPayload, cx: &HookContext| {
        seen.keys.lock().unwrap().push((saving.page, cx.fire_key()));
    };
    let at_first = Arc::clone(&seen);
    hooks
        .register([
            on::<Saving>().name("sync").handler(move |saving: &SavingPayload, cx: &HookContext| {
                note(&at_first, saving, cx);
                Verdict::Pass
            }),
            on::<Saving>().name("waits").handler_with(
                Arc::clone(&seen),
                async |seen: &Arc<Seen>, saving: &SavingPayload, cx: &HookContext| {
                    seen.meet.wait().await;
                    seen.keys.lock().unwrap().push((saving.page, cx.fire_key()));
                    Verdict::Pass
                },
            ),
            on::<Saving>().name("guard").guard_with(
                Arc::clone(&seen),
                async |seen: &Arc<Seen>, saving: &SavingPayload, cx: &HookContext| {
                    seen.keys.lock().unwrap().push((saving.page, cx.fire_key()));
                    Judgement::Pass
                },
            ),
        ])
        .unwrap();
    let fire = |page| hooks.fire_gating::<Saving>(SavingPayload { page });
    let (first, second) = tokio::join!(fire(1), fire(2));
    assert!(first.unwrap().into_result().is_ok() && second.unwrap().into_result().is_ok());
    let keys = seen.keys.lock().unwrap();
    let of = |page| keys.iter().filter(move |seen| seen.0 == page).map(|seen| seen.1);
    assert_eq!((of(1).count(), of(2).count()), (3, 3));
    assert!(of(1).all(|key| Some(key) == of(1).next()), "one for all handlers of a fire");
    assert!(of(2).all(|key| Some(key) == of(2).next()), "one for all handlers of a fire");
    assert_ne!(of(1).next(), of(2).next());
}
