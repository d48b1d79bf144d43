//! The observer `Metrics`: what a handler decided is told apart from what its failures
//! were turned into (L20, L21).

mod support;

use std::future::pending;
use std::pin::pin;

use futures::executor::block_on;
use hooks_runtime::observe::Metrics;
use hooks_runtime::{FailurePolicy, HookRegistry, Plugins, Verdict, hook_points, on};
use support::poll_once;
use support::recorder::Counts;

hook_points! {
    /// Something was said.
    pub void Said(u32);
    /// May it be sent?
    pub gating Send(u32);
}

/// What was counted of handlers of these names, without the point.
fn counted(counts: &Counts, names: &[&str]) -> Vec<String> {
    let lines = counts.lines().into_iter().filter(|line| !line.contains("_seconds"));
    let of_name = |line: &str| names.iter().any(|name| line.contains(&format!("handler={name} ")));
    lines.filter(|line| of_name(line)).map(|line| line.replacen("hook_handler_", "", 1)).collect()
}

fn run(test: impl FnOnce(&HookRegistry)) -> Counts {
    let counts = Counts::default();
    let hooks = HookRegistry::builder().observer(Metrics).build();
    metrics::with_local_recorder(&counts, || test(&hooks));
    counts
}

#[test]
fn l21_decisions_are_counted_by_kind_and_skips_by_reason() {
    let counts = run(|hooks| {
        let no_more = |n: &u32| if *n > 0 { Verdict::reject("no") } else { Verdict::Pass };
        hooks
            .register([
                on::<Send>().name("edits").handler(|n: &u32| Verdict::Replace(*n)),
                on::<Send>().name("no").plugin("safety").guard(no_more),
                on::<Send>().name("last").guard(|_: &u32| Verdict::Pass),
            ])
            .unwrap();
        for n in 0..2 {
            let _ = block_on(hooks.fire_gating::<Send>(n)).unwrap();
        }
        let _ = block_on(hooks.scope(Plugins::BuiltIn).fire_gating::<Send>(1)).unwrap();
    });
    let kept: Vec<_> = counted(&counts, &["edits", "no", "last"])
        .into_iter()
        .filter(|line| !line.starts_with("in_flight"))
        .collect();
    assert_eq!(
        kept,
        [
            "decisions_total point=send handler=edits owner=built-in decision=replaced +1",
            "decisions_total point=send handler=no owner=safety decision=passed +1",
            "decisions_total point=send handler=last owner=built-in decision=passed +1",
            "decisions_total point=send handler=edits owner=built-in decision=replaced +1",
            "decisions_total point=send handler=no owner=safety decision=rejected +1",
            "skips_total point=send handler=last owner=built-in reason=after_rejection +1",
            "decisions_total point=send handler=edits owner=built-in decision=replaced +1",
            "skips_total point=send handler=no owner=safety reason=scope +1",
            "decisions_total point=send handler=last owner=built-in decision=passed +1",
        ]
    );
}

#[test]
fn l20_failures_say_what_they_were_turned_into() {
    let counts = run(|hooks| {
        let fails = |_: &u32| Err::<(), _>("torn");
        let closed = on::<Said>().name("stern").on_failure(FailurePolicy::Closed);
        hooks.register([on::<Said>().name("lax").handler(fails), closed.handler(fails)]).unwrap();
        block_on(hooks.fire_void::<Said>(&1)).unwrap_err();
    });
    let failures: Vec<_> = counted(&counts, &["lax", "stern"])
        .into_iter()
        .filter(|line| line.starts_with("failures") || line.starts_with("decisions"))
        .collect();
    assert_eq!(
        failures,
        [
            "failures_total point=said handler=lax owner=built-in kind=error policy=open +1",
            "failures_total point=said handler=stern owner=built-in kind=error policy=closed +1",
        ]
    );
}

/// Of a call that was cancelled there is neither a decision nor a failure.
#[test]
fn l20_calls_in_flight_are_counted_up_and_down() {
    let counts = run(|hooks| {
        let waits = async |n: &u32| {
            if *n > 0 {
                pending::<()>().await;
            }
        };
        hooks.register(on::<Said>().name("waits").handler(waits)).unwrap();
        block_on(hooks.fire_void::<Said>(&0)).unwrap();
        assert!(poll_once(pin!(hooks.fire_void::<Said>(&1))).is_pending());
    });
    assert_eq!(
        counted(&counts, &["waits"]),
        [
            "in_flight point=said handler=waits owner=built-in +1",
            "in_flight point=said handler=waits owner=built-in -1",
            "decisions_total point=said handler=waits owner=built-in decision=nothing +1",
            "in_flight point=said handler=waits owner=built-in +1",
            "in_flight point=said handler=waits owner=built-in -1",
        ]
    );
}
