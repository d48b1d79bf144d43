//! Stages that are fired by name for a run that is elsewhere.

use hooks_runtime::json::{Value, json};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, HookRegistry, OnError, hook_points, on,
};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]
    /// One sum, stage by stage.
    pub flow Sum(u32) -> Option<u32>;
    /// Nothing of a flow.
    pub void Rang { n: u32 }
}

async fn fire(hooks: &HookRegistry, stage: &str, mut run: Value) -> Result<Value, String> {
    run["flow"] = json!("sum");
    run["stage"] = json!(stage);
    let (name, catalogue) = (format!("sum/{stage}"), points());
    let (answer, _) = hooks.json(&catalogue).fire_stage(&name, run.to_string()).await;
    answer.map_err(|error| error.to_string())
}

/// L27, L11: what handlers ask for is the answer, as a handler that speaks JSON gives it.
#[tokio::test]
async fn l27_what_the_handlers_of_a_stage_ask_for_is_the_answer() {
    let hooks = HookRegistry::new();
    let steer = |flow: &mut FlowContext<Sum>| match flow.input().copied() {
        Some(1) => *flow.input_mut().unwrap() = 10,
        Some(2) => drop(flow.respond(Some(20)).then_some(String::new())),
        Some(3) => flow.skip(),
        Some(4) => flow.abort("no"),
        _ => {}
    };
    let late = |flow: &mut FlowContext<Sum>| {
        if let Some(output @ Some(_)) = flow.output_mut() {
            *output = None;
        }
    };
    let rescue = |flow: &mut FlowContext<Sum>| drop(flow.recover(Some(7)).then_some(String::new()));
    hooks
        .register([
            on::<BeforeExecute<Sum>>().handler(steer),
            on::<AfterExecute<Sum>>().handler(late),
            on::<OnError<Sum>>().handler(rescue),
        ])
        .unwrap();
    let before = async |n: u32| fire(&hooks, "beforeExecute", json!({"input": n})).await;
    assert_eq!(before(0).await, Ok(Value::Null));
    assert_eq!(before(1).await, Ok(json!({"input": 10})));
    assert_eq!(before(2).await, Ok(json!({"output": 20})));
    assert_eq!(before(3).await, Ok(json!({"skip": true})));
    assert_eq!(before(4).await, Ok(json!({"abort": "no"})));
    let after = async |output: Value| fire(&hooks, "afterExecute", json!({"output": output})).await;
    assert_eq!(after(json!(1)).await, Ok(json!({"output": null})));
    assert_eq!(after(json!(null)).await, Ok(Value::Null));
    let failed = async |run: Value| fire(&hooks, "onError", run).await;
    assert_eq!(failed(json!({"error": "down"})).await, Ok(json!({"recover": 7})));
    // Also where that is what there was.
    let equal = json!({"error": "down", "output": 7});
    assert_eq!(failed(equal).await, Ok(json!({"recover": 7})));
    // Another has recovered before: the first one counts.
    let recovered = json!({"error": "down", "output": 3, "recovered": true});
    assert_eq!(failed(recovered).await, Ok(Value::Null));
    assert_eq!(fire(&hooks, "finally", json!({"output": 3})).await, Ok(Value::Null));
}

/// L13: a failure is in the report, and in the answer where it ends the run.
#[tokio::test]
async fn l13_a_handler_that_fails_is_reported() {
    let hooks = HookRegistry::new();
    let fails = |_: &mut FlowContext<Sum>| -> Result<(), &'static str> { Err("no ink") };
    hooks.register(on::<Finally<Sum>>().name("print").handler(fails)).unwrap();
    let catalogue = points();
    let run = r#"{"flow": "sum", "stage": "finally", "output": 1}"#;
    let (answer, report) = hooks.json(&catalogue).fire_stage("sum/finally", run).await;
    assert_eq!(answer.unwrap(), Value::Null);
    let report = report.unwrap();
    let HandlerStatus::Failed { message, .. } = report.handler("print").unwrap().status() else {
        panic!("{report}")
    };
    assert_eq!(message, "no ink");
}

/// L27: a run that cannot be at that stage is refused before any handler is called.
#[tokio::test]
async fn l27_a_run_that_cannot_be_is_refused() {
    let hooks = HookRegistry::new();
    let never = |_: &mut FlowContext<Sum>| -> () { panic!("it was called") };
    hooks
        .register([
            on::<BeforeExecute<Sum>>().handler(never),
            on::<OnError<Sum>>().handler(never),
            on::<Finally<Sum>>().handler(never),
        ])
        .unwrap();
    let error_word = "an error is what there is in `onError`, and in `finally` after it";
    for (stage, run, problem) in [
        (
            "beforeExecute",
            json!({}),
            "the input of `sum/beforeExecute` does not fit as a whole: invalid type: null, expected u32",
        ),
        ("beforeExecute", json!({"input": 1, "error": "x"}), error_word),
        ("onError", json!({}), error_word),
        ("onError", json!({"error": 1}), "the run of `sum/onError` does not fit at `error`"),
        ("finally", json!({"output": 1, "recovered": true}), "it is recovered from no error"),
        ("finally", json!({"surprise": 1}), "unknown field `surprise`"),
    ] {
        let error = fire(&hooks, stage, run.clone()).await.unwrap_err();
        assert!(error.contains(problem), "{stage} {run}: {error}");
    }
    let catalogue = points();
    let json = hooks.json(&catalogue);
    let other = r#"{"flow": "sum", "stage": "finally", "output": 1}"#;
    let error = json.fire_stage("sum/onError", other).await.0.unwrap_err();
    assert!(error.to_string().ends_with("it is at `sum/finally`"), "{error}");
    for (name, problem) in [
        ("rang", "it has no stages of that name, so fire or run it"),
        ("sum", "it has no stages of that name, so fire or run it"),
        ("sum/onEror", "did you mean `sum/onError`?"),
    ] {
        let error = json.fire_stage(name, other).await.0.unwrap_err().to_string();
        assert!(error.ends_with(problem), "{name}: {error}");
    }
    let short = hooks.json(&catalogue).max_bytes(9);
    let error = short.fire_stage("sum/finally", other).await.0.unwrap_err();
    assert!(error.to_string().contains("9"), "{error}");
}
