//! There a hook's panic goes through the registry into the caller. Here no
//! code of a handler can do that.

use std::fmt;

use hooks_points::lifecycle::*;
use hooks_runtime::{FailurePolicy, Gate, HookRegistry, Registration, Verdict, on};

fn inbound(content: &str) -> BeforeInboundPayload {
    BeforeInboundPayload {
        user_id: "user-1".into(),
        channel: "cli".into(),
        content: content.into(),
        thread_id: None,
    }
}

/// Panics when it is dropped: a future that holds it fails in its drop.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("stepped on");
        }
    }
}

/// A panic is caught wherever it starts, and the registry works on.
#[tokio::test(start_paused = true)]
async fn l12_no_panic_unwinds_into_the_caller() {
    type Answer = Verdict<BeforeInboundPayload>;
    let start = || on::<BeforeInbound>().name("panics").on_failure(FailurePolicy::Closed);
    let table: [(&str, Registration, &str); 6] = [
        (
            "in a synchronous call",
            start().handler(|_: &BeforeInboundPayload| -> Answer { panic!("at once") }),
            "panicked: at once",
        ),
        (
            "in the first poll",
            start().handler(async |_: &BeforeInboundPayload| -> Answer { panic!("at first") }),
            "panicked: at first",
        ),
        (
            "in a later poll",
            start().handler(async |_: &BeforeInboundPayload| -> Answer {
                tokio::task::yield_now().await;
                panic!("later")
            }),
            "panicked: later",
        ),
        (
            "without a text",
            start().handler(|_: &BeforeInboundPayload| -> Answer { std::panic::panic_any(7) }),
            "panicked: the panic carried no text",
        ),
        (
            "when what it holds is dropped",
            start().handler(async |_: &BeforeInboundPayload| -> Answer {
                let _mine = Mine;
                tokio::task::yield_now().await;
                Verdict::Pass
            }),
            "panicked: stepped on",
        ),
        (
            // The limit came first, so that is what is reported.
            "when its future is dropped after the limit",
            start().handler(async |_: &BeforeInboundPayload| -> Answer {
                let _mine = Mine;
                std::future::pending().await
            }),
            "did not finish within 5s",
        ),
    ];
    for (when, panics, expected) in table {
        let hooks = HookRegistry::new();
        let handle = hooks.register(panics).unwrap();
        let error = hooks.fire_gating::<BeforeInbound>(inbound("hello")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("handler `panics` (built-in) at `before_inbound`: {expected}"),
            "{when}"
        );
        assert_eq!(handle.unregister().removed(), 1, "{when}");
        let gate = hooks.fire_gating::<BeforeInbound>(inbound("hello")).await.unwrap();
        assert_eq!(gate, Gate::Passed(inbound("hello")), "{when}");
    }
}

/// A handler's error runs code of its own when it is printed and when it is
/// dropped. That is the handler's code too.
#[derive(Debug)]
enum Nasty {
    ToPrint,
    ToDrop,
}

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToPrint => panic!("not to be read"),
            Self::ToDrop => f.write_str("nasty"),
        }
    }
}

impl std::error::Error for Nasty {}

impl Drop for Nasty {
    fn drop(&mut self) {
        if matches!(self, Self::ToDrop) && !std::thread::panicking() {
            panic!("not to be dropped");
        }
    }
}

/// The outcome of a reported fire of a hook with such an error, or what
/// unwound out of it.
async fn with_nasty_error(
    nasty: fn(&BeforeInboundPayload) -> Result<Verdict, Nasty>,
) -> Result<Gate<BeforeInboundPayload>, String> {
    use futures::FutureExt as _;
    let hooks = HookRegistry::new();
    hooks.register(on::<BeforeInbound>().name("nasty").guard(nasty)).unwrap();
    let fire = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello"));
    match std::panic::AssertUnwindSafe(fire).catch_unwind().await {
        Ok((outcome, _)) => outcome.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("unwound: {:?}", panic.downcast_ref::<&str>())),
    }
}

#[tokio::test]
async fn l12_an_error_that_panics_when_printed_does_not_unwind_into_the_caller() {
    let outcome = with_nasty_error(|_| Err(Nasty::ToPrint)).await;
    assert_eq!(outcome, Ok(Gate::Passed(inbound("hello"))));
}

#[tokio::test]
async fn l12_an_error_that_panics_when_dropped_does_not_unwind_into_the_caller() {
    let outcome = with_nasty_error(|_| Err(Nasty::ToDrop)).await;
    assert_eq!(outcome, Ok(Gate::Passed(inbound("hello"))));
}
