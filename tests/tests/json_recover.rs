//! Recoveries by handlers that speak JSON (L11, L27).

use std::sync::{Arc, Mutex};

use hooks_runtime::{FlowContext, HookRegistry, OnError, hook_points, on};
use serde_json::{Value, json};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// One binding, stage by stage.
    #[hook(name = "books:bind")]
    pub flow Binding(u32) -> String;
}

type Seen = Arc<Mutex<Vec<Value>>>;

/// A handler that notes its input and returns this answer.
fn says(answer: Value) -> (Seen, impl Fn(Value) -> Value + Send + Sync + 'static) {
    let seen = Seen::default();
    let notes = seen.clone();
    (seen, move |told| {
        notes.lock().unwrap().push(told);
        answer.clone()
    })
}

async fn no_thread(_: Value) -> Result<Value, String> {
    Err("no thread".into())
}

#[tokio::test]
async fn l27_a_handler_recovers_in_json_and_the_last_stage_sees_it() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (first, recovers) = says(json!({"recover": "glued"}));
    let (last, looks) = says(Value::Null);
    let typed = |flow: &mut FlowContext<Binding>| {
        assert!(flow.is_recovered() && !flow.recover("sewn".into()));
    };
    hooks
        .register([
            points.on("books:bind/onError").unwrap().name("glue").handler(recovers),
            on::<OnError<Binding>>().name("typed").handler(typed),
            points.on("books:bind/finally").unwrap().name("last").handler(looks),
        ])
        .unwrap();
    let json = hooks.json(&points);
    let (bound, report) = json.flow("books:bind").unwrap().run_reported("5", no_thread).await;
    assert_eq!(bound.unwrap(), json!("glued"));
    let seen = |stage: &str, output: Value, recovered: bool| {
        let error = "no thread";
        json!({"flow": "books:bind", "stage": stage, "input": null, "output": output,
            "error": error, "recovered": recovered})
    };
    assert_eq!(*first.lock().unwrap(), [seen("onError", Value::Null, false)]);
    assert_eq!(*last.lock().unwrap(), [seen("finally", json!("glued"), true)]);
    let report = report.unwrap();
    assert_eq!(report.recovery().unwrap().handler(), "glue");
    let rows = report.stages()[0].handlers().iter().map(|row| row.status().to_string());
    let expected = ["recovered", "recovery refused: an earlier handler recovered"];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

/// What can never be done is a failure of the handler, what another was first to
/// do, or what this flow does not allow, a refusal.
#[tokio::test]
async fn l27_a_recovery_that_does_not_apply_changes_nothing() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (_, recovers) = says(json!({"recover": "glued"}));
    let finally = points.on("books:bind/finally").unwrap().name("late").handler(recovers);
    let handles = hooks.register(finally).unwrap();
    let json = hooks.json(&points);
    let (bound, report) = json.flow("books:bind").unwrap().run_reported("5", no_thread).await;
    assert_eq!(bound.unwrap_err().to_string(), "no thread");
    assert_eq!(
        report.unwrap().stages()[0].handlers()[0].status().to_string(),
        "error, fail-open: `books:bind/finally` cannot recover: only a handler of onError can"
    );
    handles.unregister();

    let (_, aborts) = says(json!({"abort": "no glue"}));
    let (_, recovers) = says(json!({"recover": "glued"}));
    hooks
        .register([
            points.on("books:bind/beforeExecute").unwrap().name("stops").handler(aborts),
            points.on("books:bind/onError").unwrap().name("glue").handler(recovers),
        ])
        .unwrap();
    let (bound, report) = json.flow("books:bind").unwrap().run_reported("5", no_thread).await;
    let aborted = "`books:bind` was aborted in beforeExecute by `stops` (built-in): no glue";
    assert_eq!(bound.unwrap_err().to_string(), aborted);
    assert_eq!(
        report.unwrap().stages()[1].handlers()[0].status().to_string(),
        "recovery refused: it is not the operation that failed"
    );
}

/// What does not fit is a failure of the handler, as everywhere.
#[tokio::test]
async fn l27_a_recovery_of_another_type_is_a_failure_of_its_handler() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (_, wrong) = says(json!({"recover": 7}));
    hooks.register(points.on("books:bind/onError").unwrap().name("glue").handler(wrong)).unwrap();
    let json = hooks.json(&points);
    let (bound, report) = json.flow("books:bind").unwrap().run_reported("5", no_thread).await;
    assert_eq!(bound.unwrap_err().to_string(), "no thread");
    let status = report.unwrap().stages()[0].handlers()[0].status().to_string();
    assert!(status.starts_with("error, fail-open: "), "{status}");
    assert!(status.contains("`recover`") && status.contains("expected a string"), "{status}");
}
