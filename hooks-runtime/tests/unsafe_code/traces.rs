//! Traces that read the payload when a fire begins, in every model: before the first
//! call, and in no fire of another point.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hooks_runtime::operator::{Trace, TraceFilter, TraceLimit};
use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookPoint, HookRegistry, Verdict, on,
};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::points::Pretender;
use crate::shapes::{Amended, AmendedResult, Asked, Passed, Payload, Run, Shape, Told, behave};

const LIMIT: TraceLimit = TraceLimit::Count(1_000);

/// Traces the fires of `P` by `read`, which looks at the payload.
fn trace<P: HookPoint>(
    hooks: &HookRegistry,
    filter: impl FnOnce(TraceFilter<P>) -> TraceFilter<P>,
) -> Trace {
    hooks.operator().trace(filter(TraceFilter::at::<P>()), LIMIT).unwrap()
}

fn texts(mut trace: Trace) -> Vec<String> {
    let text = |trace: &mut Trace| Some(trace.try_next()?.payload()?.text()?.to_owned());
    std::iter::from_fn(|| text(&mut trace)).collect()
}

/// Fires are dropped after every number of polls, with handlers that wait and panic.
#[test]
fn l25_payloads_are_read_before_the_first_call() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        for shape in [Shape::Ready, Shape::Suspends, Shape::PanicsLate] {
            let void = async |shape: &Shape, payload: &Payload, _: &HookContext| {
                behave(*shape, payload).await;
            };
            let amending = async |shape: &Shape, payload: &Payload| {
                let first = Some(behave(*shape, payload).await.to_owned());
                AmendedResult { first, second: None }
            };
            let claiming = async |shape: &Shape, payload: &Payload| {
                behave(*shape, payload).await;
                None::<String>
            };
            let gating = async |shape: &Shape, payload: &Payload| {
                behave(*shape, payload).await;
                let text = format!("{}+", payload.text);
                Verdict::Replace(Payload { text, alive: Arc::clone(&payload.alive) })
            };
            hooks.register(on::<Told>().handler_with(shape, void)).unwrap();
            hooks.register(on::<Amended>().handler_with(shape, amending)).unwrap();
            hooks.register(on::<Asked>().handler_with(shape, claiming)).unwrap();
            hooks.register(on::<Passed>().handler_with(shape, gating)).unwrap();
        }
        let told =
            trace::<Told>(&hooks, |it| it.when(|it| it.text.len() > 1).show(|it| it.text.clone()));
        let amended = trace::<Amended>(&hooks, |it| it.show(|it| it.text.clone()));
        let asked = trace::<Asked>(&hooks, |it| it.show(|it| it.text.clone()));
        let passed = trace::<Passed>(&hooks, |it| it.when(|_| true).show(|it| it.text.clone()));
        let alive = Arc::clone(&payload.alive);
        let own = || Payload { text: "own".to_owned(), alive: Arc::clone(&alive) };
        drop_everywhere(&alive, || hooks.fire_void::<Told>(&payload));
        drop_everywhere(&alive, || hooks.fire_void_reported::<Told>(&payload));
        drop_everywhere(&alive, || hooks.fire_modifying::<Amended>(&payload));
        drop_everywhere(&alive, || hooks.fire_claiming::<Asked>(&payload));
        drop_everywhere(&alive, || hooks.fire_gating::<Passed>(own()));
        drop_everywhere(&alive, || hooks.fire_gating_reported::<Passed>(own()));
        for trace in [told, amended, asked] {
            let texts = texts(trace);
            assert!(!texts.is_empty() && texts.iter().all(|text| text == "borrowed"), "{texts:?}");
        }
        let texts = texts(passed);
        assert!(!texts.is_empty() && texts.iter().all(|text| text == "own"), "{texts:?}");
    });
}

#[test]
fn l25_inputs_of_runs_and_contexts_of_stages_are_read() {
    quietly(|| {
        let hooks = HookRegistry::new();
        let stage = async |shape: &Shape, flow: &mut FlowContext<Run>| {
            let alive = flow.input().map(|input| Arc::clone(&input.alive)).unwrap_or_default();
            behave(*shape, &Payload { text: String::new(), alive }).await;
        };
        hooks.register(on::<BeforeExecute<Run>>().handler_with(Shape::Suspends, stage)).unwrap();
        let run = trace::<Run>(&hooks, |it| it.show(|it| it.text.clone()));
        let staged = trace::<BeforeExecute<Run>>(&hooks, |it| {
            it.show(|it| it.input().map_or_else(String::new, |input| input.text.clone()))
        });
        let alive = Arc::new(AtomicU32::new(0));
        let input = || Payload { text: "input".to_owned(), alive: Arc::clone(&alive) };
        let operation = async |input: Payload| Ok::<_, std::io::Error>(input.text);
        drop_everywhere(&alive, || hooks.flow::<Run>().run(input(), operation));
        for trace in [run, staged] {
            let texts = texts(trace);
            assert!(!texts.is_empty() && texts.iter().all(|text| text == "input"), "{texts:?}");
        }
    });
}

#[test]
fn l02_a_trace_reads_no_payload_of_a_point_that_pretends_to_be_another() {
    quietly(|| {
        let hooks = HookRegistry::new();
        let told = trace::<Told>(&hooks, |it| it.when(|it| it.text.len() < 1_000));
        let mut shown = trace::<Told>(&hooks, |it| it.show(|it| it.text.clone()));
        finish(pin!(hooks.fire_void::<Pretender>(&1))).0.unwrap();
        assert_eq!(told.seen(), 0);
        assert_eq!(shown.try_next().unwrap().payload(), None);
    });
}
