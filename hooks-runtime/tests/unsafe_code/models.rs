//! Every shape of future in every model, dropped after every number of polls.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hooks_runtime::{
    AfterExecute, BeforeExecute, Claim, Finally, FlowContext, Gate, HookContext, HookRegistry,
    OnError, Verdict, on,
};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::shapes::{
    Amended, AmendedResult, Asked, Passed, Payload, Run, SHAPES, Shape, Told, aligned, behave,
    large, pause,
};

/// One handler of every shape at `$point`, made by `$terms`: `$body` is what
/// the handler makes of the text, and may use the context.
macro_rules! every_shape {
    ($hooks:ident, $point:ty, |$text:ident, $payload:ident, $cx:ident| $body:expr) => {
        for shape in SHAPES {
            let on = on::<$point>();
            let registration = match shape {
                Shape::Aligned => on.handler(async |$payload: &Payload, $cx: &HookContext| {
                    let $text = aligned($payload).await;
                    $body
                }),
                Shape::Huge => on.handler(async |$payload: &Payload, $cx: &HookContext| {
                    let $text = large::<4096>($payload).await;
                    $body
                }),
                Shape::Large => on.handler(async |$payload: &Payload, $cx: &HookContext| {
                    let $text = large::<2048>($payload).await;
                    $body
                }),
                _ => on.handler_with(
                    shape,
                    async |shape: &Shape, $payload: &Payload, $cx: &HookContext| {
                        let $text = behave(*shape, $payload).await;
                        $body
                    },
                ),
            };
            $hooks.register(registration).unwrap();
        }
    };
}

#[test]
fn l25_void() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        every_shape!(hooks, Told, |text, payload, cx| {
            assert_eq!((&*text, cx.point()), (&*payload.text, "told"));
        });
        hooks.register(on::<Told>().handler(|_: &Payload| ())).unwrap();
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
        drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
        drop_everywhere(&payload.alive, || hooks.fire_void_reported::<Told>(&payload));
    });
}

#[test]
fn l25_void_with_many_that_wait() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    for _ in 0..40 {
        hooks
            .register_void::<Told>(async |payload: &Payload| {
                behave(Shape::Suspends, payload).await;
            })
            .unwrap();
    }
    drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
}

#[test]
fn l08_modifying() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        every_shape!(hooks, Amended, |text, payload, cx| {
            let before = cx.merged::<Amended>().is_some_and(|merged| merged.first.is_some());
            assert_eq!(text, payload.text);
            AmendedResult { first: Some(text), second: before.then(|| cx.handler().to_owned()) }
        });
        let (merged, _) = finish(pin!(hooks.fire_modifying::<Amended>(&payload)));
        let merged = merged.unwrap();
        assert_eq!(merged.first.as_deref(), Some("borrowed"));
        assert!(merged.second.is_some(), "the second handler saw what the first had set");
        drop_everywhere(&payload.alive, || hooks.fire_modifying::<Amended>(&payload));
        drop_everywhere(&payload.alive, || hooks.fire_modifying_reported::<Amended>(&payload));
    });
}

#[test]
fn l09_claiming() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        every_shape!(hooks, Asked, |text, payload, cx| {
            assert_eq!((&*text, cx.hooks().has_handlers::<Told>()), (&*payload.text, false));
            None::<String>
        });
        let (claim, _) = finish(pin!(hooks.fire_claiming::<Asked>(&payload)));
        assert_eq!(claim.unwrap(), Claim::Unclaimed);
        drop_everywhere(&payload.alive, || hooks.fire_claiming::<Asked>(&payload));
        drop_everywhere(&payload.alive, || hooks.fire_claiming_reported::<Asked>(&payload));
    });
}

#[test]
fn l10_gating() {
    quietly(|| {
        let hooks = HookRegistry::new();
        every_shape!(hooks, Passed, |text, payload, cx| {
            assert_eq!((&*text, cx.point()), (&*payload.text, "passed"));
            Verdict::Replace(Payload { text: text + "+", alive: Arc::clone(&payload.alive) })
        });
        // A guard that suspends judges what the rewriters left.
        let guard = on::<Passed>().guard(async |payload: &Payload, cx: &HookContext| {
            let text = behave(Shape::Suspends, payload).await;
            assert_eq!((&*text, cx.point()), ("in++++++", "passed"));
            Verdict::Pass
        });
        hooks.register(guard).unwrap();
        let alive = Arc::new(AtomicU32::new(0));
        let payload = || Payload { text: "in".to_owned(), alive: Arc::clone(&alive) };
        let (gate, _) = finish(pin!(hooks.fire_gating::<Passed>(payload())));
        let Gate::Passed(passed) = gate.unwrap() else { panic!("none rejects") };
        assert_eq!(passed.text, "in++++++");
        drop_everywhere(&alive, || hooks.fire_gating::<Passed>(payload()));
        drop_everywhere(&alive, || hooks.fire_gating_reported::<Passed>(payload()));
    });
}

#[test]
fn l11_flow() {
    let hooks = HookRegistry::new();
    for shape in [Shape::Ready, Shape::Empty, Shape::Suspends] {
        hooks
            .register([
                on::<BeforeExecute<Run>>().handler_with(
                    shape,
                    async |shape: &Shape, flow: &mut FlowContext<Run>| {
                        let text = behave(*shape, flow.input().unwrap()).await;
                        flow.input_mut().unwrap().text = text + "+";
                    },
                ),
                on::<AfterExecute<Run>>().handler(async |flow: &mut FlowContext<Run>| {
                    pause().await;
                    flow.output_mut().unwrap().push('-');
                }),
            ])
            .unwrap();
    }
    hooks
        .register(on::<BeforeExecute<Run>>().handler(
            async |flow: &mut FlowContext<Run>, cx: &HookContext| {
                let text = aligned(flow.input().unwrap()).await;
                let text = text + &large::<2048>(flow.input().unwrap()).await;
                assert!(cx.point().starts_with("run"));
                flow.input_mut().unwrap().text = text;
            },
        ))
        .unwrap();
    let alive = Arc::new(AtomicU32::new(0));
    let run = || {
        let input = Payload { text: "in".to_owned(), alive: Arc::clone(&alive) };
        hooks.run_flow::<Run, _>(input, async |input| {
            pause().await;
            Ok::<_, std::io::Error>(input.text)
        })
    };
    assert_eq!(finish(pin!(run())).0.unwrap(), "in+++in+++---");
    drop_everywhere(&alive, run);
}

#[test]
fn l11_a_flow_that_fails() {
    quietly(|| {
        let hooks = HookRegistry::new();
        hooks
            .register([
                on::<AfterExecute<Run>>().handler(async |flow: &mut FlowContext<Run>| {
                    pause().await;
                    assert!(flow.output().is_none(), "panics while it holds the flow");
                }),
                on::<OnError<Run>>().handler(async |flow: &mut FlowContext<Run>| {
                    pause().await;
                    assert!(flow.error().is_some());
                }),
                on::<Finally<Run>>().handler(async |flow: &mut FlowContext<Run>| {
                    pause().await;
                    assert!(flow.error().is_none(), "panics in the last stage too");
                }),
            ])
            .unwrap();
        let alive = Arc::new(AtomicU32::new(0));
        let run = || {
            let input = Payload { text: "in".to_owned(), alive: Arc::clone(&alive) };
            let operation = async |input: Payload| Ok::<_, std::io::Error>(input.text);
            hooks.flow::<Run>().run_reported(input, operation)
        };
        let ((outcome, report), _) = finish(pin!(run()));
        assert!(outcome.is_err());
        assert_eq!(report.stages().len(), 3);
        drop_everywhere(&alive, run);
    });
}

#[test]
fn l24_the_list_changes_while_a_fire_waits() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    let handle = hooks
        .register_claiming::<Asked>(async |payload: &Payload| {
            behave(Shape::Suspends, payload).await;
            None
        })
        .unwrap();
    hooks.register_claiming::<Asked>(async |p: &Payload| Some(p.text.clone())).unwrap();
    let mut fire = pin!(hooks.fire_claiming_reported::<Asked>(&payload));
    assert!(crate::driving::poll_once(fire.as_mut()).is_pending());
    // The fire keeps its list alive: the handler, its state and its name.
    assert_eq!(handle.unregister().removed(), 1);
    for _ in 0..70 {
        hooks.register_claiming::<Asked>(async |_: &Payload| None).unwrap();
    }
    let (claim, report) = finish(fire).0;
    assert_eq!(claim.unwrap(), Claim::Claimed("borrowed".to_owned()));
    assert_eq!(report.handlers().len(), 2);
}

#[test]
fn l26_a_suspended_handler_fires_through_its_context() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    hooks
        .register([
            on::<Told>().handler(async |payload: &Payload, cx: &HookContext| {
                behave(Shape::Suspends, payload).await;
                let claim = cx.hooks().fire_claiming::<Asked>(payload).await.unwrap();
                assert_eq!(claim, Claim::Claimed("borrowed".to_owned()));
            }),
            on::<Asked>().handler(async |payload: &Payload, cx: &HookContext| {
                let text = behave(Shape::Suspends, payload).await;
                (cx.model() == hooks_runtime::point::ModelKind::Claiming).then_some(text)
            }),
        ])
        .unwrap();
    drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
}
