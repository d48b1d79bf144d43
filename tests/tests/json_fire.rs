//! Points fired and handled by wire name with JSON (L27), through all models.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::json::{JsonError, Outcome};
use hooks_runtime::point::ModelKind;
use hooks_runtime::{
    Claim, FailurePolicy, FlowContext, Gate, HookRegistry, Plugins, Verdict, hook_points, on,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A claim that is an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shelf {
    row: u32,
}

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// A book came back.
    pub void Returned { book_id: u32, late: Option<bool> }
    /// Before a label is printed.
    pub modifying Labelling { book_id: u32 } -> { title: String, footer: String }
    /// Where it goes.
    pub claiming Shelving { book_id: u32 } -> Shelf;
    /// Who carries it.
    pub claiming Carrying { book_id: u32 } -> String;
    /// Before it is lent.
    #[hook(on_failure = "open")]
    pub gating Lending { book_id: u32, days: u32 }
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

#[tokio::test]
async fn l27_void_calls_every_handler() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (seen, notes) = says(Value::Null);
    let typed = Arc::new(Mutex::new(None));
    let heard = typed.clone();
    hooks
        .register([
            points.on("returned").unwrap().name("json").handler(notes),
            on::<Returned>().name("typed").handler(move |book: &ReturnedPayload| {
                *heard.lock().unwrap() = Some(book.book_id);
            }),
        ])
        .unwrap();
    let outcome = hooks.json(&points).fire("returned", r#"{"bookId": 7, "late": null}"#).await;
    assert_eq!(outcome.unwrap(), Outcome::Notified);
    // What was absent stays absent.
    assert_eq!(*seen.lock().unwrap(), [json!({"bookId": 7})]);
    assert_eq!(*typed.lock().unwrap(), Some(7));
    // A typed fire reaches the same handlers.
    let book = ReturnedPayload { book_id: 8, late: Some(true) };
    hooks.fire_void::<Returned>(&book).await.unwrap();
    assert_eq!(seen.lock().unwrap()[1], json!({"bookId": 8, "late": true}));
}

#[tokio::test]
async fn l27_modifying_merges_typed_and_json_by_priority() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (_, no_opinion) = says(Value::Null);
    hooks
        .register([
            points.on("labelling").unwrap().name("none").priority(-2).handler(no_opinion),
            points
                .on("labelling")
                .unwrap()
                .name("json")
                .priority(-1)
                .handler(async |told: Value| json!({"title": format!("No. {}", told["bookId"])})),
            on::<Labelling>().name("typed").handler(|_: &LabellingPayload| LabellingResult {
                title: Some("late".to_owned()),
                footer: Some("fin".to_owned()),
            }),
        ])
        .unwrap();
    let fired = hooks.json(&points).fire_reported("labelling", r#"{"bookId": 7}"#).await;
    let (outcome, report) = fired;
    assert_eq!(outcome.unwrap(), Outcome::Result(json!({"title": "No. 7", "footer": "fin"})));
    let report = report.unwrap();
    let told: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(told, ["ran", "set title", "set footer"]);
}

#[tokio::test]
async fn l27_claims_are_objects_with_handled() {
    let (hooks, points) = (HookRegistry::new(), points());
    let json = hooks.json(&points);
    let book = r#"{"bookId": 7}"#;
    let unclaimed = json.fire("shelving", book).await.unwrap();
    assert_eq!(unclaimed, Outcome::Claim(Claim::Unclaimed));
    assert_eq!(unclaimed.to_json(), json!({"handled": false}));
    hooks
        .register([
            points.on("shelving").unwrap().name("no").handler(|_: Value| json!({"handled": false})),
            points
                .on("shelving")
                .unwrap()
                .name("yes")
                .handler(|_: Value| json!({"row": 3, "handled": true})),
            // A claim that is no object has a place of its own.
            points
                .on("carrying")
                .unwrap()
                .name("cart")
                .handler(|_: Value| Claim::Claimed(json!("the cart"))),
        ])
        .unwrap();
    let claimed = json.fire("shelving", book).await.unwrap();
    assert_eq!(claimed.to_json(), json!({"handled": true, "row": 3}));
    let typed = hooks.fire_claiming::<Shelving>(&ShelvingPayload { book_id: 7 }).await.unwrap();
    assert_eq!(typed, Claim::Claimed(Shelf { row: 3 }));
    let carried = json.fire("carrying", book).await.unwrap();
    assert_eq!(carried.to_json(), json!({"handled": true, "claim": "the cart"}));
    let typed = hooks.fire_claiming::<Carrying>(&CarryingPayload { book_id: 7 }).await.unwrap();
    assert_eq!(typed, Claim::Claimed("the cart".to_owned()));
}

#[tokio::test]
async fn l27_gating_rewrites_then_guards() {
    let (hooks, points) = (HookRegistry::new(), points());
    let guard = points.on("lending").unwrap().name("limit").plugin("desk").priority(-9);
    let guard = guard.guard(|told: Value| {
        if told["days"].as_u64() > Some(30) {
            json!({"verdict": "reject", "reason": "too long"})
        } else {
            json!({"verdict": "pass"})
        }
    });
    hooks.register(guard.unwrap()).unwrap();
    let rewriter = points.on("lending").unwrap().name("double").handler(|mut told: Value| {
        told["days"] = (told["days"].as_u64().unwrap() * 2).into();
        json!({"verdict": "replace", "payload": told})
    });
    hooks.register(rewriter).unwrap();
    let json = hooks.json(&points);
    let passed = json.fire("lending", r#"{"bookId": 1, "days": 10}"#).await.unwrap();
    assert_eq!(
        passed.to_json(),
        json!({"verdict": "passed", "payload": {"bookId": 1, "days": 20}})
    );
    let rejected = json.fire("lending", r#"{"bookId": 1, "days": 16}"#).await.unwrap();
    assert_eq!(
        rejected.to_json(),
        json!({
            "verdict": "rejected",
            "reason": "too long",
            "handler": "limit",
            "owner": {"kind": "plugin", "id": "desk"},
        })
    );
    // The scope of the hooks is the scope of the fire.
    let built_in = hooks.scope(Plugins::BuiltIn);
    let passed = built_in.json(&points).fire("lending", r#"{"bookId": 1, "days": 16}"#).await;
    assert!(matches!(passed.unwrap(), Outcome::Gate(Gate::Passed(_))));
}

#[tokio::test]
async fn l27_verdicts_can_be_typed() {
    let (hooks, points) = (HookRegistry::new(), points());
    let handler = points.on("lending").unwrap().name("half").handler(async |mut told: Value| {
        if told["days"] == 0 {
            return Ok(Verdict::reject("closed"));
        }
        told["days"] = 1.into();
        Ok::<_, std::io::Error>(Verdict::Replace(told))
    });
    hooks.register(handler).unwrap();
    let json = hooks.json(&points);
    let passed = json.fire("lending", r#"{"bookId": 1, "days": 16}"#).await.unwrap();
    assert_eq!(passed.to_json()["payload"], json!({"bookId": 1, "days": 1}));
    let rejected = json.fire("lending", r#"{"bookId": 1, "days": 0}"#).await.unwrap();
    assert_eq!(rejected.to_json()["reason"], "closed");
}

#[tokio::test]
async fn l27_flows_run_from_json_to_json() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (before, rewrites) = says(json!({"input": 9}));
    let (after, changes) = says(json!({"output": "bound twice"}));
    let (finally, _nothing) = says(Value::Null);
    hooks
        .register([
            points.on("books:bind/beforeValidation").unwrap().name("a").handler(rewrites),
            points.on("books:bind/afterExecute").unwrap().name("b").handler(changes),
            points.on("books:bind/finally").unwrap().name("c").handler(_nothing),
            on::<hooks_runtime::AfterExecute<Binding>>().name("typed").handler(
                |flow: &mut FlowContext<Binding>| {
                    assert_eq!(flow.output().unwrap(), "bound twice");
                },
            ),
        ])
        .unwrap();
    let json = hooks.json(&points);
    let operation = async |input: Value| Ok::<_, String>(json!(format!("bound {input}")));
    let flow = json.flow("books:bind").unwrap();
    let (output, report) = flow.run_reported("5", operation).await;
    assert_eq!(output.unwrap(), json!("bound twice"));
    assert_eq!(report.unwrap().stages().len(), 3);
    let told = |stage: &str, input: Value, output: Value| json!({"flow": "books:bind", "stage": stage, "input": input, "output": output, "error": null, "recovered": false});
    assert_eq!(*before.lock().unwrap(), [told("beforeValidation", json!(5), Value::Null)]);
    assert_eq!(*after.lock().unwrap(), [told("afterExecute", Value::Null, json!("bound 9"))]);
    assert_eq!(*finally.lock().unwrap(), [told("finally", Value::Null, json!("bound twice"))]);
}

/// The first answer of a stage stands, whatever language its handler speaks.
#[tokio::test]
async fn l11_a_second_answer_in_json_is_refused_in_the_report() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (_, first) = says(json!({"output": "first"}));
    let (seen, second) = says(json!({"output": "second"}));
    let here = "books:bind/beforeExecute";
    hooks
        .register([
            points.on(here).unwrap().name("first").handler(first),
            points.on(here).unwrap().name("second").handler(second),
        ])
        .unwrap();
    let json = hooks.json(&points);
    let never_called = async |_: Value| -> Result<Value, String> { panic!("not to be called") };
    let (output, report) = json.flow("books:bind").unwrap().run_reported("5", never_called).await;
    assert_eq!(output.unwrap(), json!("first"));
    assert_eq!(seen.lock().unwrap()[0]["output"], json!("first"));
    let report = report.unwrap();
    let rows = report.stages()[0].handlers().iter().map(|row| row.status().to_string());
    let expected = ["answered", "answer refused: an earlier handler answered"];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn l27_stages_answer_skip_and_abort() {
    let (hooks, points) = (HookRegistry::new(), points());
    let (_, answers) = says(json!({"output": "from the cache", "skip": true}));
    let (never, skipped) = says(json!({"abort": "not reached"}));
    let here = "books:bind/beforeExecute";
    let answering = hooks
        .register([
            points.on(here).unwrap().name("cache").target_named("leather").handler(answers),
            points.on(here).unwrap().name("skipped").target_named("leather").handler(skipped),
        ])
        .unwrap();
    let json = hooks.json(&points);
    let never_called = async |_: Value| -> Result<Value, String> { panic!("not to be called") };
    let output = json.flow("books:bind").unwrap().target_named("leather").run("5", never_called);
    assert_eq!(output.await.unwrap(), json!("from the cache"));
    assert!(never.lock().unwrap().is_empty());
    answering.unregister();

    let (_, aborts) = says(json!({"abort": "no glue"}));
    let (seen, sees) = says(Value::Null);
    hooks
        .register([
            points.on(here).unwrap().name("glue").plugin("press").handler(aborts),
            points.on("books:bind/onError").unwrap().name("mend").handler(sees),
        ])
        .unwrap();
    let error = json.run_flow("books:bind", "5", never_called).await.unwrap_err();
    let told = "`books:bind` was aborted in beforeExecute by `glue` (plugin `press`): no glue";
    assert_eq!(error.to_string(), told);
    assert_eq!(seen.lock().unwrap()[0]["error"], told);
}

#[tokio::test]
async fn l27_an_operation_may_fail_or_answer_what_does_not_fit() {
    let (hooks, points) = (HookRegistry::new(), points());
    let json = hooks.json(&points);
    let failed = json.run_flow("books:bind", "5", async |_| Err::<Value, _>("no thread")).await;
    assert_eq!(failed.unwrap_err().to_string(), "no thread");
    let wrong = json.run_flow("books:bind", "5", async |_| Ok::<_, String>(json!([1]))).await;
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "the operation's output of `books:bind` does not fit as a whole: invalid type: sequence, \
         expected a string"
    );
}

#[tokio::test(start_paused = true)]
async fn l27_the_options_of_a_json_handler_are_those_of_any() {
    let (hooks, points) = (HookRegistry::new(), points());
    let slow = points
        .on("returned")
        .unwrap()
        .name("slow")
        .plugin("desk")
        .priority(4)
        .timeout(Duration::from_millis(20))
        .on_failure(FailurePolicy::Closed)
        .after("first");
    hooks.register(slow.handler(async |_: Value| std::future::pending::<()>().await)).unwrap();
    let line = line!() - 9;
    let info = &hooks.handlers()[0];
    assert_eq!((info.point, info.model, &*info.name), ("returned", ModelKind::Void, "slow"));
    assert_eq!((info.priority, info.policy), (4, FailurePolicy::Closed));
    assert_eq!((info.location.file(), info.location.line()), (file!(), line));
    let error = hooks.json(&points).fire("returned", r#"{"bookId": 1}"#).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `slow` (plugin `desk`) at `returned`: did not finish within 20ms"
    );
    let twice = points.on("returned").unwrap().name("slow").plugin("desk");
    hooks.register(twice.handler(|_: Value| ())).unwrap_err();
    let instead = points.on("returned").unwrap().name("slow").plugin("desk").replace();
    hooks.register(instead.handler(|_: Value| ())).unwrap();
    assert_eq!(hooks.handlers()[0].priority, 4);
    // A plugin's registrar takes it as it takes any.
    let registrar = hooks.registrar("other").unwrap();
    let handler = points.on("returned").unwrap().name("theirs").handler(|_: Value| ());
    registrar.register(handler).unwrap();
    let desk = points.on("returned").unwrap().plugin("desk").handler(|_: Value| ());
    registrar.register(desk).unwrap_err();
}

#[tokio::test]
async fn l27_fires_by_name_can_be_spawned() {
    let hooks = HookRegistry::new();
    let fired = tokio::spawn(async move {
        let points = points();
        let json = hooks.json(&points);
        let told = json.fire("returned", r#"{"bookId": 1}"#).await;
        let ran = json.run_flow("books:bind", "1", async |_| Ok::<_, String>(json!("done"))).await;
        (told.is_ok(), ran.unwrap())
    });
    assert_eq!(fired.await.unwrap(), (true, json!("done")));
}

#[tokio::test]
async fn l12_a_json_handler_that_panics_fails_like_any() {
    let (hooks, points) = (HookRegistry::new(), points());
    let panics = points.on("returned").unwrap().name("panics").on_failure(FailurePolicy::Closed);
    let panics = panics.handler(|_: Value| -> Value {
        std::panic::resume_unwind(Box::new("torn"));
    });
    hooks.register(panics).unwrap();
    let error = hooks.json(&points).fire("returned", r#"{"bookId": 1}"#).await.unwrap_err();
    assert!(matches!(error, JsonError::Fire(_)));
    assert_eq!(error.to_string(), "handler `panics` (built-in) at `returned`: panicked: torn");
}
