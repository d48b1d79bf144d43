//! Handlers that are declared to have no side effects (L22): wherever they are
//! declared, introspection says so, and fires call them as any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::json::Value;
use hooks_runtime::{
    BeforeExecute, Claim, FlowContext, Gate, HookRegistry, Verdict, handlers, hook_handler,
    hook_handlers, hook_points, on,
};

hook_points! {
    #![hook(json = "camelCase", catalogue = fn points)]
    pub void Opened { drawer: u32 }
    pub claiming Route(u32) -> u32;
    pub gating Send(u32);
    pub flow Move(u32) -> u32;
}

#[hook_handler(Route, pure)]
fn even(n: &u32) -> Option<u32> {
    n.is_multiple_of(2).then_some(*n)
}

#[hook_handler(Route)]
fn any(n: &u32) -> Option<u32> {
    Some(n + 100)
}

struct Limits;

#[hook_handlers(plugin = "limits")]
impl Limits {
    #[hook_handler(Send, guard, pure, once)]
    async fn small(&self, n: &u32) -> Verdict {
        if *n < 10 { Verdict::Pass } else { Verdict::reject("too much") }
    }

    #[hook_handler(Send)]
    fn log(&self, _: &u32) -> Verdict<u32> {
        Verdict::Pass
    }

    #[hook_handler(BeforeExecute<Move>, pure)]
    fn look(&self, _: &mut FlowContext<Move>) {}
}

/// The handlers, each with whether it is declared pure.
fn declared(hooks: &HookRegistry) -> Vec<(String, bool)> {
    hooks.handlers().into_iter().map(|info| (info.name.to_string(), info.pure)).collect()
}

fn expected(rows: &[(&str, bool)]) -> Vec<(String, bool)> {
    rows.iter().map(|(name, pure)| ((*name).to_owned(), *pure)).collect()
}

#[tokio::test]
async fn l22_it_is_declared_by_attributes_of_functions_and_methods() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![even, any]).unwrap();
    hooks.install(Limits).unwrap();
    assert_eq!(
        declared(&hooks),
        expected(&[
            ("look", true),
            ("even", true),
            ("any", false),
            ("log", false),
            ("small", true)
        ]),
    );

    // It is called as any other, with what else it declares.
    assert_eq!(hooks.fire_claiming::<Route>(&4).await.unwrap(), Claim::Claimed(4));
    assert_eq!(hooks.fire_claiming::<Route>(&5).await.unwrap(), Claim::Claimed(105));
    let rejected = hooks.fire_gating::<Send>(11).await.unwrap();
    assert!(matches!(rejected, Gate::Rejected(_)));
    let passed = hooks.fire_gating::<Send>(11).await.unwrap();
    assert!(matches!(passed, Gate::Passed(11)), "the guard was called once");
}

#[tokio::test]
async fn l22_it_is_declared_by_builders() {
    let (hooks, calls) = (HookRegistry::new(), Arc::new(AtomicUsize::new(0)));
    let count = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        move |_: &OpenedPayload| {
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    hooks
        .register([
            on::<Opened>().name("typed").pure().handler(count(&calls)),
            on::<Opened>().name("plain").handler(count(&calls)),
            points().on("opened").unwrap().name("named").pure().handler(|_: Value| ()),
        ])
        .unwrap();
    assert_eq!(declared(&hooks), expected(&[("typed", true), ("plain", false), ("named", true)]));
    hooks.fire_void::<Opened>(&OpenedPayload { drawer: 1 }).await.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert!(hooks.handlers().iter().all(|info| info.calls == 1));
}

/// What is declared of a handler is not declared of the one in its place.
#[test]
fn l22_a_replacement_declares_it_itself() {
    let hooks = HookRegistry::new();
    let any = |_: &OpenedPayload| ();
    hooks.register(on::<Opened>().name("sum").pure().handler(any)).unwrap();
    hooks.register(on::<Opened>().name("sum").replace().handler(any)).unwrap();
    assert_eq!(declared(&hooks), expected(&[("sum", false)]));
    hooks.register(on::<Opened>().name("sum").replace().pure().handler(any)).unwrap();
    assert_eq!(declared(&hooks), expected(&[("sum", true)]));
}
