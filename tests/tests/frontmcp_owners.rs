//! Which runs a flow's handlers take part in: one tool's runs or all, the owners in
//! scope, and the policy that the stages have.

mod flow_support;

use flow_support::*;
use hooks_runtime::flow::StageKind;
use hooks_runtime::{
    AfterExecute, BeforeExecute, FailurePolicy, Finally, FlowContext, HookContext, HookRegistry,
    OnError, Plugins, RegisterError, handlers, hook_handler, hook_handlers, hook_points, on,
};

async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
    Ok(Answer(text))
}

struct SearchTool;
struct DeleteTool;

#[hook_handler(BeforeExecute<RunTool>, target = SearchTool)]
async fn for_search(flow: &mut Context) {
    flow.state_mut().get_mut::<Trace>().unwrap().note("for_search");
}

#[hook_handler(BeforeExecute<RunTool>, target = "weather")]
fn for_weather(flow: &mut Context) {
    flow.state_mut().get_mut::<Trace>().unwrap().note("for_weather");
}

#[hook_handler(BeforeExecute<RunTool>)]
fn for_all(flow: &mut Context, cx: &HookContext) {
    flow.state_mut().get_mut::<Trace>().unwrap().note(cx.handler());
}

/// An embedded handler belongs to one tool, by its type or by its name. An
/// external one belongs to none and runs for all.
#[tokio::test]
async fn l11_an_embedded_handler_runs_for_its_target_only() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    let shared = trace.clone();
    hooks
        .register(at(StageKind::BeforeValidation, "lend the trace", move |flow| {
            flow.state_mut().insert(shared.clone());
            Ok(())
        }))
        .unwrap();
    hooks.register(handlers![for_search, for_weather, for_all]).unwrap();

    let run = || hooks.flow::<RunTool>();
    let table = [
        (run(), vec!["for_all"]),
        (run().target::<SearchTool>(), vec!["for_search", "for_all"]),
        (run().target::<DeleteTool>(), vec!["for_all"]),
        (run().target_named("weather"), vec!["for_weather", "for_all"]),
        (run().target_named("Weather"), vec!["for_all"]),
        // A name is not a type, even when it is spelled as one.
        (run().target_named("SearchTool"), vec!["for_all"]),
        (
            run().target::<SearchTool>().target_named("weather"),
            vec!["for_search", "for_weather", "for_all"],
        ),
    ];
    for (run, expected) in table {
        let case = format!("{run:?}");
        run.run(call("ls"), echo).await.unwrap();
        assert_eq!(trace.take(), expected, "{case}");
    }
}

hook_points! {
    /// Something worth writing down.
    void Noted { what: String }
}

/// A plugin with handlers for every run and for one tool's.
struct Cache {
    answer: &'static str,
}

#[hook_handlers(plugin = "cache")]
impl Cache {
    #[hook_handler(BeforeExecute<RunTool>, target = SearchTool)]
    async fn cached(&self, flow: &mut Context) {
        flow.respond(Answer(self.answer.into()));
    }

    #[hook_handler(AfterExecute<RunTool>)]
    async fn noted(&self, flow: &mut FlowContext<RunTool>) -> Result<(), hooks_runtime::FireError> {
        let what = flow.output().map_or_else(String::new, |Answer(text)| text.clone());
        // What a handler fires keeps to the scope of the run it is in.
        flow.hooks().fire_void::<Noted>(&NotedPayload { what }).await
    }
}

/// The owner filter: only the plugins in scope take part, embedded or not,
/// and built-in handlers always do.
#[tokio::test]
async fn l16_only_the_owners_in_scope_take_part() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    let _cache = hooks.install(Cache { answer: "from the cache" }).unwrap();
    let (built_in, audit) = (trace.clone(), trace.clone());
    hooks
        .register([
            on::<Noted>().handler(move |noted: &NotedPayload| {
                built_in.note(format!("host: {}", noted.what));
            }),
            on::<Noted>().plugin("audit").handler(move |noted: &NotedPayload| {
                audit.note(format!("audit: {}", noted.what));
            }),
        ])
        .unwrap();
    let finally = trace.clone();
    hooks
        .register(at(StageKind::Finally, "done", move |_| {
            finally.note("host: done");
            Ok(())
        }))
        .unwrap();

    let table = [
        (
            Plugins::All,
            "from the cache",
            vec!["host: from the cache", "audit: from the cache", "host: done"],
        ),
        (Plugins::BuiltIn, "ls", vec!["host: done"]),
        (Plugins::only(["audit"]), "ls", vec!["host: done"]),
        (Plugins::only(["cache"]), "from the cache", vec!["host: from the cache", "host: done"]),
        (
            Plugins::only(["cache", "audit"]),
            "from the cache",
            vec!["host: from the cache", "audit: from the cache", "host: done"],
        ),
    ];
    for (plugins, answer, expected) in table {
        let case = format!("{plugins:?}");
        let outcome = hooks
            .scope(plugins)
            .flow::<RunTool>()
            .target::<SearchTool>()
            .run(call("ls"), echo)
            .await;
        assert_eq!(outcome.unwrap(), Answer(answer.into()), "{case}");
        assert_eq!(trace.take(), expected, "{case}");
    }
}

/// The stages are fail-closed and cannot be loosened, but for the last two,
/// where a policy would mean nothing and is refused.
#[test]
fn l13_the_policy_of_the_stages() {
    use FailurePolicy::{Closed, Open};
    let hooks = HookRegistry::new();
    let asks = |policy| {
        [
            on::<BeforeExecute<RunTool>>()
                .name("asks")
                .on_failure(policy)
                .handler(|_: &mut Context| ()),
            on::<OnError<RunTool>>().name("asks").on_failure(policy).handler(|_: &mut Context| ()),
            on::<Finally<RunTool>>().name("asks").on_failure(policy).handler(|_: &mut Context| ()),
        ]
        .map(|asks| hooks.register(asks).map(|handles| handles.unregister().removed()))
    };
    let [before, on_error, finally] = asks(Open);
    assert_eq!(
        before.unwrap_err().to_string(),
        "`asks` asks for fail-open, but `tools:run/beforeExecute` is fail-closed: a handler may \
         only tighten its point's policy; leave `on_failure` out"
    );
    assert!(matches!(on_error, Err(RegisterError::FixedPolicy { .. })));
    assert!(matches!(finally, Err(RegisterError::FixedPolicy { .. })));

    let [before, on_error, finally] = asks(Closed);
    assert_eq!(before.unwrap(), 1);
    for (refused, stage) in [(on_error, "onError"), (finally, "finally")] {
        assert_eq!(
            refused.unwrap_err().to_string(),
            format!(
                "`asks` asks for a failure policy at `tools:run/{stage}`, where a failure is \
                 reported and never changes the outcome: leave `on_failure` out"
            )
        );
    }
}
