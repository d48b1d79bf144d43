//! What the API answers, held against the schemas that it serves.

mod support;

use hooks_runtime::operator::{BreakerState, Mode};
use serde_json::{Value, json};
use support::{App, Host};

/// Whether a document is what the schema of a call says.
#[track_caller]
fn assert_valid(schemas: &Value, call: &str, part: &str, document: &Value) {
    let schema = if call == "error" { &schemas["error"] } else { &schemas["calls"][call][part] };
    assert!(schema.is_object(), "no schema of {call} {part}");
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{call}: {errors:#?}\n{document:#}");
}

async fn schemas(app: &App) -> Value {
    app.get("/api/schema").await.json()
}

fn setting(target: &str, change: impl Into<Value>) -> Value {
    let change = change.into();
    json!({ "target": target, "change": change, "by": "ops", "why": "a test" })
}

#[tokio::test]
async fn the_state_is_one_document_with_everything() {
    let host = Host::new();
    let app = host.app();
    for item in ["lamp", "chair", "chair"] {
        host.order(item).await;
    }
    app.change("POST", "/api/settings", &setting("ordered:stats/*", json!("disable"))).await;
    host.order("lamp").await;
    let state = app.get("/api/state").await.json();
    assert_valid(&schemas(&app).await, "GET api/state", "response", &state);

    assert_eq!(state["title"], "shop");
    assert_eq!(state["groups"], json!(["shop", "other"]));
    let points: Vec<_> = state["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| {
            (
                point["name"].as_str().unwrap(),
                point["group"].as_str().unwrap(),
                point["fired"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        points,
        [
            ("ordered", "shop", Some(true)),
            ("paying", "shop", Some(false)),
            ("van:deliver", "shop", Some(false)),
            ("van:deliver/beforeExecute", "shop", None),
            ("forgotten", "shop", Some(false)),
            ("undeclared", "other", Some(false)),
        ]
    );
    assert_eq!(state["points"][0]["doc"], "An order came in.");
    assert_eq!(state["points"][1]["model"], "gating");

    let handlers = state["handlers"].as_array().unwrap();
    let addresses: Vec<_> = handlers.iter().map(|it| it["address"].as_str().unwrap()).collect();
    assert_eq!(
        addresses,
        [
            "ordered:stats/count",
            "ordered:post/mail",
            "paying:limit",
            "undeclared:spare",
            "van:deliver/beforeExecute:route",
        ]
    );
    let [count, mail, limit] = &handlers[..3] else { panic!("three") };
    assert_eq!((&count["calls"], &count["skips_by"]), (&json!(3), &json!({ "disabled": 1 })));
    assert_eq!((&count["mode"], &count["settings"]), (&json!("disable"), &json!([1])));
    assert_eq!((&mail["calls"], &mail["failures_by"]), (&json!(4), &json!({ "error": 2 })));
    assert_eq!(mail["latency"]["count"], 4);
    assert!(mail["latency"]["p50_ns"].as_u64() <= mail["latency"]["p99_ns"].as_u64());
    assert_eq!(
        (&limit["guard"], &limit["gate"], &limit["on_failure"]),
        (&json!(true), &json!(true), &json!("closed"))
    );
    assert_eq!(count["gate"], false);

    let set = &state["settings"][0];
    assert_eq!(
        (&set["by"], &set["why"], &set["setting"]),
        (&json!("ops"), &json!("a test"), &json!("disable"))
    );
    assert_eq!((&set["applied"], &set["ends_in_ns"]), (&json!(1), &Value::Null));
    let failure = &state["failures"][0];
    assert_eq!(
        (&failure["handler"], &failure["text"], &failure["count"], &failure["effect"]),
        (&json!("ordered:post/mail"), &json!("no address for chair"), &json!(2), &json!("open"))
    );
}

#[tokio::test]
async fn explain_says_value_layer_and_place() {
    let host = Host::new();
    let app = host.app();
    let limit = setting("ordered:post/mail", json!({ "time_limit": { "ms": 50 } }));
    assert_eq!(app.change("POST", "/api/settings", &limit).await.status, 201);
    let explained = app.get("/api/explain?target=ordered:post/mail").await.json();
    assert_valid(&schemas(&app).await, "GET api/explain", "response", &explained);
    assert_eq!((&explained["place"], &explained["of"]), (&json!(2), &json!(2)));
    assert_eq!(
        explained["why_here"],
        "priority 0; after `count`, it asks for that; registered as number 2 of that priority",
    );
    let values = explained["values"].as_array().unwrap();
    let value = values.iter().find(|value| value["setting"] == "time_limit").unwrap();
    assert_eq!(
        (&value["value"], &value["layer"], &value["by"], &value["why"]),
        (&json!("50ms"), &json!("live"), &json!("ops"), &json!("a test"))
    );
    // The name of a point may have a `:` and a `/` itself.
    let stage = app.get("/api/explain?target=van:deliver/beforeExecute:route").await.json();
    assert_eq!((&stage["place"], &stage["of"]), (&json!(1), &json!(1)));

    let typo = app.get("/api/explain?target=ordered:post/mial").await;
    assert_eq!(typo.refusal(), (404, "no_match".to_owned()));
    let said = "no handler is `ordered:post/mial`; did you mean `ordered:post/mail`?";
    assert_eq!(typo.json()["message"], said);
    assert_eq!(app.get("/api/explain?target=ordered:*").await.refusal().0, 422);
    for query in ["", "?", "?handler=x", "?target=a:b&more=1"] {
        let answer = app.get(&format!("/api/explain{query}")).await;
        assert_eq!(answer.refusal(), (400, "bad_request".to_owned()), "{query}");
    }
}

#[tokio::test]
async fn the_audit_names_what_has_no_effect() {
    let host = Host::new();
    let app = host.app();
    host.order("lamp").await;
    host.hooks
        .fire_void::<support::Undeclared>(&support::UndeclaredPayload { n: 1 })
        .await
        .unwrap();
    let audit = app.get("/api/audit").await.json();
    assert_valid(&schemas(&app).await, "GET api/audit", "response", &audit);
    assert_eq!(audit["clean"], false);
    assert_eq!(audit["undeclared"], json!(["undeclared"]));
    let never: Vec<_> = audit["never_fired"].as_array().unwrap().clone();
    assert!(never.contains(&json!("forgotten")) && !never.contains(&json!("ordered")), "{never:?}");
    let limit = json!({ "handler": "paying:limit", "why": "its point is never fired" });
    assert!(audit["never_called"].as_array().unwrap().contains(&limit), "{audit}");
}

#[tokio::test]
async fn every_setting_can_be_applied_and_cleared() {
    let host = Host::new();
    let app = host.app();
    let schemas = schemas(&app).await;
    let handler = || host.hooks.handlers_of("stats").remove(0);
    for (change, value) in [
        (json!("enforce"), "enforce"),
        (json!("disable"), "disable"),
        (json!("fail_closed"), "fail-closed"),
        (json!("fail_open"), "fail-open"),
        (json!({ "time_limit": { "ms": 20 } }), "time limit 20ms"),
        (json!({ "sample": { "part": 0.25 } }), "sample 25 %"),
        (json!({ "rate_limit": { "calls": 5 } }), "rate limit 5 in 1s"),
        (
            json!({ "rate_limit": { "calls": 5, "per_ms": 500, "burst": 1 } }),
            "rate limit 5 in 500ms, at most 1 at once",
        ),
        (
            json!({ "breaker": { "consecutive": 3 } }),
            "breaker opens for 60s after 3 failures in a row",
        ),
        (
            json!({ "breaker": { "percent": 50, "over_ms": 1000, "at_least": 4, "open_for_ms": 2000, "shadow": true } }),
            "breaker opens for 2s at 50 % failures of at least 4 calls in 1s, only counted",
        ),
        (json!({ "force_breaker": { "state": "open" } }), "breaker forced open"),
        (json!({ "force_breaker": { "state": "closed" } }), "breaker forced closed"),
    ] {
        let mut asked = setting("ordered:stats/count", change.clone());
        asked["until_s"] = 60.into();
        assert_valid(&schemas, "POST api/settings", "request", &asked);
        let answer = app.change("POST", "/api/settings", &asked).await;
        assert_eq!(answer.status, 201, "{change}: {}", answer.body);
        let applied = answer.json();
        assert_valid(&schemas, "POST api/settings", "response", &applied);
        assert_eq!(applied["value"], value, "{change}");
        assert_eq!(handler().settings.len(), 1, "{change}");
        let path = format!("/api/settings/{}", applied["id"]);
        let cleared = app.change("DELETE", &path, &Value::Null).await;
        assert_eq!(cleared.status, 200, "{}", cleared.body);
        assert_valid(&schemas, "DELETE api/settings/{id}", "response", &cleared.json());
        assert_eq!(handler().settings.len(), 0, "{change}");
        let again = app.change("DELETE", &path, &Value::Null).await;
        assert_eq!(again.refusal(), (404, "no_setting".to_owned()));
    }
    assert_eq!(app.change("DELETE", "/api/settings/one", &Value::Null).await.refusal().0, 400);
    assert_eq!(handler().mode, Mode::Enforce);
}

#[tokio::test]
async fn a_breaker_is_reset() {
    let host = Host::new();
    let app = host.app();
    let breaker = setting("ordered:post/mail", json!({ "breaker": { "consecutive": 1 } }));
    assert_eq!(app.change("POST", "/api/settings", &breaker).await.status, 201);
    host.order("chair").await;
    let state = || host.hooks.handlers_of("post").remove(0).breaker;
    assert_eq!(state(), Some(BreakerState::Open));
    let target = json!({ "target": "ordered:post/*" });
    let answer = app.change("POST", "/api/breakers/reset", &target).await;
    assert_valid(&schemas(&app).await, "POST api/breakers/reset", "response", &answer.json());
    assert_eq!(answer.json(), json!({ "reset": 1 }));
    assert_eq!(state(), Some(BreakerState::Closed));
}

#[tokio::test]
async fn a_gate_is_opened_by_break_glass_only() {
    let host = Host::new();
    let app = host.app();
    let asked = setting("paying:limit", json!("disable"));
    let answer = app.change("POST", "/api/settings", &asked).await;
    assert_eq!(answer.refusal(), (409, "needs_break_glass".to_owned()));
    assert_eq!(
        answer.json()["message"],
        "`disable` of `paying:limit` would open the gate `paying`. If that is meant, send it with \
         `break_glass: true`, a `why` and an `until_s`",
    );
    let mut glass = asked;
    glass["break_glass"] = true.into();
    let endless = app.change("POST", "/api/settings", &glass).await;
    assert_eq!(endless.refusal(), (422, "not_possible".to_owned()));
    assert!(host.hooks.operator().settings().is_empty());
    glass["until_s"] = 600.into();
    let applied = app.change("POST", "/api/settings", &glass).await.json();
    assert_eq!((&applied["break_glass"], &applied["by"]), (&json!(true), &json!("ops")));
    assert!(applied["ends_in_ns"].as_u64().unwrap() <= 600_000_000_000);
}

#[tokio::test]
async fn what_is_malformed_says_what_was_expected() {
    let host = Host::new();
    let app = host.app();
    let schemas = schemas(&app).await;
    let good = setting("ordered:stats/count", json!("disable"));
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let without = |field: &str| {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    for (body, status, said) in [
        (
            with("untill", json!(1)),
            400,
            "unknown field `untill`, expected one of `target`, `change`, `by`",
        ),
        (without("by"), 400, "missing field `by`"),
        (without("why"), 400, "missing field `why`"),
        (
            with("change", json!("disabled")),
            400,
            "`change`: unknown variant `disabled`, expected one of `enforce`",
        ),
        (
            with("change", json!({ "time_limit": { "s": 1 } })),
            400,
            "`change.time_limit.s`: unknown field `s`, expected `ms`",
        ),
        (with("change", json!({ "time_limit": { "ms": -1 } })), 400, "invalid value: integer `-1`"),
        (
            with("until_s", json!("soon")),
            400,
            "`until_s`: invalid type: string \"soon\", expected u64",
        ),
        (json!([]), 400, "invalid length 0"),
        (with("until_s", json!(0)), 422, "`until_s` is at least 1"),
        (with("until_s", json!(u64::MAX)), 422, "a setting ends within a year"),
        (with("by", json!(" ")), 422, "`by` says nothing"),
        (with("by", json!("x".repeat(201))), 422, "`by` has 201 bytes, and 200 are the most"),
        (with("why", json!("x".repeat(1001))), 422, "`why` has 1001 bytes, and 1000 are the most"),
        (
            with("target", json!("x".repeat(1001))),
            422,
            "`target` has 1001 bytes, and 1000 are the most",
        ),
        (with("target", json!("nothing")), 422, "`nothing` is no target"),
        (with("target", json!("ordered:stats/cuont")), 404, "did you mean `ordered:stats/count`?"),
        (
            with("change", json!({ "sample": { "part": 2.0 } })),
            422,
            "a fraction is between 0 and 1",
        ),
        (with("change", json!({ "breaker": {} })), 422, "give one of the two"),
        (with("change", json!({ "rate_limit": { "calls": 0 } })), 422, "would refuse every call"),
        (with("change", json!("shadow")), 422, "cannot run in shadow: it is void"),
        (with("change", json!("warn")), 422, "only a guard of a gating point can"),
    ] {
        let answer = app.change("POST", "/api/settings", &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert_valid(&schemas, "error", "", &answer.json());
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(said), "{message}");
    }
    for text in ["", "{", "disable", "{} {}", "\u{feff}{}"] {
        let change = support::changing("POST", "/api/settings").body(text.to_owned().into());
        assert_eq!(app.send(change.unwrap()).await.refusal().0, 400, "{text}");
    }
    let more = format!("{good} {{}}");
    let change = support::changing("POST", "/api/settings").body(more.into());
    assert_eq!(
        app.send(change.unwrap()).await.json()["message"],
        "there is more behind the JSON object"
    );
    assert!(host.hooks.operator().settings().is_empty());
}

#[tokio::test]
async fn without_observers_there_are_no_latencies() {
    let host = Host::new();
    host.order("chair").await;
    let app = App(hooks_inspect::Inspector::new(&host.hooks).router());
    let state = app.get("/api/state").await.json();
    assert_valid(&schemas(&app).await, "GET api/state", "response", &state);
    assert_eq!((&state["timed"], &state["failures"]), (&json!(false), &json!([])));
    assert_eq!(state["groups"], json!(["other"]));
    assert!(state["handlers"].as_array().unwrap().iter().all(|it| it["latency"].is_null()));
}

#[tokio::test]
async fn a_page_is_mounted_anywhere() {
    let host = Host::new();
    let app = App(axum::Router::new().nest("/ops/hooks", host.inspector().router()));
    assert_eq!(app.get("/ops/hooks/api/state").await.status, 200);
    assert!(app.get("/ops/hooks").await.body.starts_with("<!doctype html>"));
    // A host that mounts it with a `/` has it there.
    let slash = App(axum::Router::new().nest("/hooks/", host.inspector().router()));
    assert!(slash.get("/hooks/").await.body.starts_with("<!doctype html>"));
    assert_eq!(slash.get("/hooks/api/state").await.status, 200);
    assert_eq!(app.get("/ops/hooks/api/nothing").await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(app.get("/ops").await.status, 404);
}
