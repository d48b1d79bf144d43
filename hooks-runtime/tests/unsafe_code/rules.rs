//! What an operator sets for a call, and what a handler notes of it, read through the context:
//! before and after it waits, beside others, and in fires that are dropped anywhere.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookContext, HookRegistry, Verdict, on};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::shapes::{Asked, Passed, Payload, Shape, Told, behave};

/// A clock that never strikes.
#[derive(Debug)]
struct Patient;

impl Timer for Patient {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(std::future::pending()))
    }
}

const OWN: Duration = Duration::from_secs(60);
const SHORTER: Duration = Duration::from_secs(2);

async fn read(shape: &Shape, payload: &Payload, cx: &HookContext) {
    cx.note("before", format!("{:?}", cx.time_limit()));
    behave(*shape, payload).await;
    cx.note("after", format!("{:?}", cx.time_limit()));
}

/// L34, L35: each call of a fire has its own limit, whichever was started last.
#[test]
fn l34_a_call_reads_its_own_limit_and_notes_what_is_its_own() {
    quietly(|| {
        let hooks = HookRegistry::builder().timer(Patient).build();
        let claim = async |shape: &Shape, payload: &Payload, cx: &HookContext| {
            read(shape, payload, cx).await;
            None::<String>
        };
        let gate = async |shape: &Shape, payload: &Payload, cx: &HookContext| {
            read(shape, payload, cx).await;
            let alive = Arc::clone(&payload.alive);
            Verdict::Replace(Payload { text: format!("{}+", payload.text), alive })
        };
        let shapes = [Shape::Suspends, Shape::Ready, Shape::Suspends, Shape::PanicsLate];
        let names = ["own", "shorter", "none", "late"];
        for (shape, name) in shapes.into_iter().zip(names) {
            let (mut told, mut asked) = (on::<Told>().name(name), on::<Asked>().name(name));
            let mut passed = on::<Passed>().name(name);
            if name != "none" {
                (told, asked, passed) =
                    (told.timeout(OWN), asked.timeout(OWN), passed.timeout(OWN));
            }
            hooks.register(told.handler_with(shape, read)).unwrap();
            hooks.register(asked.handler_with(shape, claim)).unwrap();
            hooks.register(passed.handler_with(shape, gate)).unwrap();
        }
        let operator = hooks.operator();
        for target in ["told:shorter", "asked:shorter"] {
            operator.time_limit(target, SHORTER).apply().unwrap();
        }
        operator.time_limit("passed:shorter", SHORTER).fail_closed().apply().unwrap();
        let payload = Payload::new();
        let (_, told) = finish(pin!(hooks.fire_void_reported::<Told>(&payload))).0;
        let (_, asked) = finish(pin!(hooks.fire_claiming_reported::<Asked>(&payload))).0;
        for report in [told, asked] {
            for (name, limit) in [("own", Some(OWN)), ("shorter", Some(SHORTER)), ("none", None)] {
                let row = report.handler(name).unwrap();
                let limit = format!("{limit:?}");
                let noted = [("before", &*limit), ("after", &*limit)];
                assert_eq!(row.notes().collect::<Vec<_>>(), noted, "{name}");
            }
            let late = format!("{:?}", Some(OWN));
            let noted: Vec<_> = report.handler("late").unwrap().notes().collect();
            assert_eq!(noted, [("before", &*late)]);
        }
        let alive = Arc::clone(&payload.alive);
        let own = || Payload { text: "own".to_owned(), alive: Arc::clone(&alive) };
        drop_everywhere(&alive, || hooks.fire_void_reported::<Told>(&payload));
        drop_everywhere(&alive, || hooks.fire_claiming_reported::<Asked>(&payload));
        drop_everywhere(&alive, || hooks.fire_gating_reported::<Passed>(own()));
        drop_everywhere(&alive, || hooks.fire_gating::<Passed>(own()));
    });
}
