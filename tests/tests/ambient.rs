//! Values that a scope carries to the handlers of its fires (L32).

use std::sync::{Arc, Mutex};

use hooks_runtime::{
    BeforeExecute, Finally, FlowContext, HookContext, HookRegistry, Plugins, Verdict, hook_handler,
    hook_points, on,
};

hook_points! {
    pub void Opened { drawer: u32 }
    pub void Logged { line: String }
    pub gating Send(String);
    pub flow Lookup(u32) -> String;
}

const OPENED: OpenedPayload = OpenedPayload { drawer: 1 };

#[derive(Clone, Copy, Debug, PartialEq)]
struct RequestId(u64);

#[derive(Debug, PartialEq)]
struct Tenant(&'static str);

type Seen = Arc<Mutex<Vec<String>>>;

fn seen(seen: &Seen, cx: &HookContext) {
    let line = format!("{} {:?} {:?}", cx.point(), cx.get::<RequestId>(), cx.get::<Tenant>());
    seen.lock().unwrap().push(line);
}

#[tokio::test]
async fn l32_handlers_read_what_the_scope_carries() {
    let hooks = HookRegistry::new();
    let log = Seen::default();
    let see = |log: &Seen, _: &OpenedPayload, cx: &HookContext| seen(log, cx);
    hooks.register(on::<Opened>().handler_with(log.clone(), see)).unwrap();

    let request = hooks.scope(Plugins::All).with(RequestId(7));
    let tenant = request.with(Tenant("shop")).scope(Plugins::only(["none"]));
    tenant.fire_void::<Opened>(&OPENED).await.unwrap();
    request.fire_void::<Opened>(&OPENED).await.unwrap();
    hooks.fire_void::<Opened>(&OPENED).await.unwrap();

    assert_eq!(
        *log.lock().unwrap(),
        [
            "opened Some(RequestId(7)) Some(Tenant(\"shop\"))",
            "opened Some(RequestId(7)) None",
            "opened None None",
        ]
    );
    assert_eq!((request.get::<RequestId>(), hooks.get::<RequestId>()), (Some(&RequestId(7)), None));
}

#[hook_handler(Opened, plugin = "logger")]
async fn log_opened(_: &OpenedPayload, cx: &HookContext) {
    tokio::task::yield_now().await;
    let line = format!("{:?}", cx.get::<RequestId>());
    cx.hooks().fire_void::<Logged>(&LoggedPayload { line }).await.unwrap();
}

/// The hooks that a handler keeps for later carry them too; a task by itself does not.
#[tokio::test]
async fn l32_nested_fires_inherit_them_and_tasks_do_not() {
    let hooks = HookRegistry::new();
    let log = Seen::default();
    let see = |log: &Seen, logged: &LoggedPayload, cx: &HookContext| {
        log.lock().unwrap().push(logged.line.clone());
        seen(log, cx);
    };
    hooks.register(on::<Logged>().handler_with(log.clone(), see)).unwrap();
    hooks.register(hooks_runtime::handlers![log_opened]).unwrap();
    let registry = Arc::new(hooks);
    let outside = registry.clone();
    hooks_of_a_task(&registry, outside).await;
    assert_eq!(
        *log.lock().unwrap(),
        ["Some(RequestId(9))", "logged Some(RequestId(9)) None", "task", "logged None None"]
    );
}

async fn hooks_of_a_task(registry: &Arc<HookRegistry>, outside: Arc<HookRegistry>) {
    let request = registry.scope(Plugins::All).with(RequestId(9));
    request.fire_void::<Opened>(&OPENED).await.unwrap();
    let task = async move {
        outside.fire_void::<Logged>(&LoggedPayload { line: "task".into() }).await.unwrap();
    };
    tokio::spawn(task).await.unwrap();
}

#[tokio::test]
async fn l32_every_model_and_the_stages_of_a_flow_can_read_them() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Send>().handler(|text: &String, cx: &HookContext| {
                Verdict::Replace(format!("{text} for {:?}", cx.get::<RequestId>()))
            }),
            on::<Send>().guard(|_: &String, cx: &HookContext| match cx.get::<Tenant>() {
                Some(Tenant("shop")) => Verdict::Pass,
                _ => Verdict::reject("no tenant"),
            }),
            on::<BeforeExecute<Lookup>>().handler(|flow: &mut FlowContext<Lookup>| {
                let found = format!("{:?}", flow.get::<RequestId>());
                flow.state_mut().insert(found);
            }),
            on::<Finally<Lookup>>().handler(|flow: &mut FlowContext<Lookup>, cx: &HookContext| {
                assert_eq!(flow.get::<RequestId>(), cx.get::<RequestId>());
                assert_eq!(flow.state().get::<String>().unwrap(), "Some(RequestId(1))");
            }),
        ])
        .unwrap();
    let scope = hooks.scope(Plugins::All).with(RequestId(1));
    let gate = scope.with(Tenant("shop")).fire_gating::<Send>("mail".into()).await.unwrap();
    assert_eq!(gate, hooks_runtime::Gate::Passed("mail for Some(RequestId(1))".to_owned()));
    let refused = scope.fire_gating::<Send>("mail".into()).await.unwrap();
    assert!(matches!(refused, hooks_runtime::Gate::Rejected(_)));
    let run = scope.flow::<Lookup>().run(1, async |_| Ok::<_, String>(String::new())).await;
    run.unwrap();
    assert_eq!(hooks.handlers_at::<Finally<Lookup>>()[0].failures, 0);
}

#[test]
fn l32_a_type_is_set_once_in_a_chain_of_scopes() {
    let hooks = HookRegistry::new();
    let scope = hooks.scope(Plugins::All).with(RequestId(1)).with(Tenant("shop"));
    let (first, again) = (line!() - 1, line!() + 1);
    let error = scope.scope(Plugins::BuiltIn).try_with(RequestId(2)).unwrap_err();
    let file = file!();
    assert_eq!(
        error.to_string(),
        format!(
            "this scope has a value of type `ambient::RequestId` already, set at {file}:{first}:43: \
             handlers rely on it, so it cannot be set again at {file}:{again}:47; give the other \
             value a type of its own"
        )
    );
    assert_eq!(error.set_at().line(), first);
    assert_eq!(error.into_value(), RequestId(2));

    let panic = panic_of(|| drop(scope.with(RequestId(3))));
    assert!(panic.contains("has a value of type `ambient::RequestId` already"), "{panic}");
    // Side by side is no chain.
    assert_eq!(hooks.with(RequestId(4)).get(), Some(&RequestId(4)));
    assert_eq!(scope.get(), Some(&RequestId(1)));
}

/// The message of the panic in `call`.
fn panic_of(call: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

struct Hostile;

impl Drop for Hostile {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn l12_the_drop_of_a_value_is_contained() {
    let hooks = HookRegistry::new();
    drop(hooks.with(Hostile));
    let scope = hooks.with(Hostile);
    let panic = panic_of(|| drop(scope.with(Hostile)));
    assert!(panic.contains("already"), "{panic}");
}

#[test]
fn l32_what_a_scope_carries_is_not_printed() {
    let hooks = HookRegistry::new();
    let scope = hooks.with(Tenant("secret"));
    let printed = format!("{scope:?}");
    assert!(printed.contains("ambient::Tenant") && !printed.contains("secret"), "{printed}");
}
