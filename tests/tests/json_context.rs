//! Handlers that speak JSON and take the context, and what has been merged (L27, L08).

use std::sync::{Arc, Mutex};

use hooks_runtime::json::Outcome;
use hooks_runtime::{
    Claim, Gate, HookContext, HookRegistry, Plugins, Verdict, capturing, hook_points, on,
};
use serde_json::{Value, json};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// A book came back.
    pub void Returned { book_id: u32 }
    /// It was noted that one came back.
    pub void Noted { book_id: u32 }
    /// Before a label is printed.
    #[hook(on_failure = "closed")]
    pub modifying Labelling { book_id: u32 } -> { big_title: String, footer: String }
    /// Where it goes.
    pub claiming Shelving { book_id: u32 } -> u32;
    /// Before it is lent.
    pub gating Lending { book_id: u32, days: u32 }
    /// One binding, stage by stage.
    #[hook(name = "books:bind")]
    pub flow Binding(u32) -> String;
}

type Seen = Arc<Mutex<Vec<Value>>>;

/// What a context says of its call.
fn of(cx: &HookContext) -> Value {
    json!([cx.point(), cx.handler(), cx.owner().to_string()])
}

fn sync_context(_: Value, cx: &HookContext) -> Value {
    json!({"footer": of(cx).to_string()})
}

async fn async_context(_: Value, cx: &HookContext) -> Value {
    tokio::task::yield_now().await;
    json!({"footer": of(cx).to_string()})
}

#[tokio::test]
async fn l27_a_json_handler_takes_the_context_sync_and_async() {
    let points = points();
    let labelled = async |registration| {
        let hooks = HookRegistry::new();
        hooks.register(registration).unwrap();
        let outcome = hooks.json(&points).fire("labelling", r#"{"bookId": 7}"#).await.unwrap();
        outcome.to_json()["footer"].as_str().unwrap().to_owned()
    };
    let at = || points.on("labelling").unwrap().name("sign").plugin("printer");
    let expected = r#"["labelling","sign","plugin `printer`"]"#;
    assert_eq!(labelled(at().handler(sync_context)).await, expected);
    assert_eq!(labelled(at().handler(async_context)).await, expected);
    let closure = |_: Value, cx: &HookContext| json!({"footer": of(cx).to_string()});
    assert_eq!(labelled(at().handler(closure)).await, expected);
    let closure = async |_: Value, cx: &HookContext| {
        tokio::task::yield_now().await;
        json!({"footer": of(cx).to_string()})
    };
    assert_eq!(labelled(at().handler(closure)).await, expected);
    let mark = String::from("!");
    let closure = capturing(async move |_: Value, cx: &HookContext| {
        tokio::task::yield_now().await;
        json!({"footer": of(cx).to_string() + &mark})
    });
    assert_eq!(labelled(at().handler(closure)).await, format!("{expected}!"));
    let mark = String::from("!");
    let closure = capturing(async move |told: Value| json!({"footer": told.to_string() + &mark}));
    assert_eq!(labelled(at().handler(closure)).await, r#"{"bookId":7}!"#);
}

#[tokio::test]
async fn l27_what_a_json_handler_fires_through_its_context_keeps_the_scope() {
    let (hooks, points) = (HookRegistry::new(), points());
    let seen = Seen::default();
    let note = |name: &'static str| {
        let seen = Arc::clone(&seen);
        let note = move |told: Value, cx: &HookContext| {
            seen.lock().unwrap().push(json!([of(cx), told]));
        };
        points.on("noted").unwrap().name(name).plugin(name).handler(note)
    };
    hooks
        .register([
            note("inside"),
            note("outside"),
            points.on("returned").unwrap().name("pass_on").plugin("inside").handler(
                async |_: Value, cx: &HookContext| {
                    cx.hooks().fire_void::<Noted>(&NotedPayload { book_id: 9 }).await
                },
            ),
        ])
        .unwrap();
    let scope = hooks.scope(Plugins::only(["inside"]));
    let outcome = scope.json(&points).fire("returned", r#"{"bookId": 7}"#).await.unwrap();
    assert_eq!(outcome, Outcome::Notified);
    let expected = json!([["noted", "inside", "plugin `inside`"], {"bookId": 9}]);
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn l08_a_json_handler_reads_what_has_been_merged_so_far() {
    let (hooks, points) = (HookRegistry::new(), points());
    let seen = Seen::default();
    let (first, second, third) = (Arc::clone(&seen), Arc::clone(&seen), Arc::clone(&seen));
    let at = |name, priority| points.on("labelling").unwrap().name(name).priority(priority);
    hooks
        .register([
            at("first", 0).handler(move |told: Value, cx: &HookContext, merged: Value| {
                first.lock().unwrap().push(json!([cx.handler(), told, merged]));
            }),
            on::<Labelling>().name("typed").priority(1).handler(|_: &LabellingPayload| {
                LabellingResult { big_title: Some("Lamps".into()), ..Default::default() }
            }),
            at("second", 2).handler(capturing(
                async move |told: Value, cx: &HookContext, merged: Value| {
                    tokio::task::yield_now().await;
                    second.lock().unwrap().push(json!([cx.handler(), told, merged]));
                    json!({"bigTitle": "not this", "footer": format!("of {}", merged["bigTitle"])})
                },
            )),
            at("third", 3).handler(move |told: Value, cx: &HookContext, merged: Value| {
                third.lock().unwrap().push(json!([cx.handler(), told, merged]));
            }),
        ])
        .unwrap();
    let outcome = hooks.json(&points).fire("labelling", r#"{"bookId": 7}"#).await.unwrap();
    let both = json!({"bigTitle": "Lamps", "footer": "of \"Lamps\""});
    assert_eq!(outcome, Outcome::Result(both.clone()));
    let expected = [
        json!(["first", {"bookId": 7}, {}]),
        json!(["second", {"bookId": 7}, {"bigTitle": "Lamps"}]),
        json!(["third", {"bookId": 7}, both]),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

async fn async_merged(told: Value, _: &HookContext, merged: Value) -> Value {
    assert_eq!(merged, Value::Null);
    json!({"handled": true, "claim": told["bookId"]})
}

#[tokio::test]
async fn l27_where_nothing_is_merged_a_json_handler_gets_null() {
    let (hooks, points) = (HookRegistry::new(), points());
    let on = |name: &str| points.on(name).unwrap();
    hooks
        .register([
            on("shelving").handler(async_merged),
            on("lending").name("week").handler(
                |mut told: Value, cx: &HookContext, merged: Value| {
                    assert_eq!((cx.handler(), merged), ("week", Value::Null));
                    told["days"] = 7.into();
                    Verdict::Replace(told)
                },
            ),
            on("lending")
                .name("judge")
                .guard(async |told: Value, cx: &HookContext| {
                    let said = format!("{} days, says {}", told["days"], of(cx));
                    if told["bookId"] == 13 { Verdict::<Value>::reject(said) } else { Verdict::Pass }
                })
                .unwrap(),
            on("books:bind/beforeExecute").name("bound").handler(
                async |run: Value, cx: &HookContext, merged: Value| {
                    json!({"output": format!("{} {} {merged}", run["input"], of(cx))})
                },
            ),
        ])
        .unwrap();
    let json = hooks.json(&points);
    let claimed = json.fire("shelving", r#"{"bookId": 7}"#).await.unwrap();
    assert_eq!(claimed, Outcome::Claim(Claim::Claimed(json!({"handled": true, "claim": 7}))));
    let lent = json.fire("lending", r#"{"bookId": 7, "days": 30}"#).await.unwrap();
    assert_eq!(lent, Outcome::Gate(Gate::Passed(json!({"bookId": 7, "days": 7}))));
    let refused = json.fire("lending", r#"{"bookId": 13, "days": 30}"#).await.unwrap();
    let Outcome::Gate(Gate::Rejected(rejection)) = refused else {
        panic!("the guard has rejected it");
    };
    assert_eq!(rejection.reason(), r#"7 days, says ["lending","judge","built-in"]"#);
    let bound = hooks.run_flow::<Binding, _>(3, async |n: u32| Ok::<_, String>(n.to_string()));
    assert_eq!(bound.await.unwrap(), r#"3 ["books:bind/beforeExecute","bound","built-in"] null"#);
}
