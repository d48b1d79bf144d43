//! Gates and the changes that the API makes.

mod support;

use hooks_runtime::{FailurePolicy, Judgement, on};
use serde_json::{Value, json};
use support::{Host, Paying, PayingPayload};

fn setting(change: &Value) -> Value {
    json!({ "target": "paying:*", "change": change, "by": "ops", "why": "busy" })
}

/// Every change without break-glass, one after the other and all at once, and what a gate
/// refuses is still refused: of a guard, and of one that is registered later.
#[tokio::test]
async fn l35_no_sequence_of_changes_opens_a_gate() {
    let changes = [
        json!("enforce"),
        json!("disable"),
        json!("shadow"),
        json!("warn"),
        json!("fail_open"),
        json!({ "time_limit": { "ms": 1 } }),
        json!({ "sample": { "part": 0.0 } }),
        json!({ "rate_limit": { "calls": 1, "per_ms": 60_000 } }),
        json!({ "breaker": { "consecutive": 1 } }),
        json!({ "breaker": { "percent": 1, "at_least": 1, "shadow": true } }),
        json!({ "force_breaker": { "state": "open" } }),
        json!({ "force_breaker": { "state": "closed" } }),
        json!("fail_closed"),
    ];
    let host = Host::new();
    let app = host.app();
    let refuses = async || {
        for _ in 0..4 {
            let paid = host.hooks.fire_gating::<Paying>(PayingPayload { cents: 500 }).await;
            let passed = paid.is_ok_and(|paid| paid.into_result().is_ok());
            assert!(!passed, "{:?}", host.hooks.operator().settings());
        }
    };
    for change in &changes {
        for fail_closed in [false, true] {
            for target in ["paying:limit", "paying:*", "*:*", "*:limit", "*ying:l*"] {
                let mut asked = setting(change);
                asked["target"] = target.into();
                asked["fail_closed"] = fail_closed.into();
                app.change("POST", "/api/settings", &asked).await;
                refuses().await;
            }
        }
    }
    // In every order of clearing.
    let ids: Vec<_> = host.hooks.operator().settings().iter().map(|it| it.id().number()).collect();
    assert!(!ids.is_empty());
    for id in ids.iter().step_by(2).chain(ids.iter().rev()) {
        app.change("DELETE", &format!("/api/settings/{id}"), &Value::Null).await;
        refuses().await;
    }

    // What matched only handlers that may be set, before a guard came.
    let host = Host::new();
    let app = host.app();
    for change in &changes {
        let mut asked = setting(change);
        asked["target"] = "*:stats/*".into();
        app.change("POST", "/api/settings", &asked).await;
    }
    let later = on::<Paying>().name("later").plugin("stats");
    host.hooks
        .register(
            later
                .on_failure(FailurePolicy::Closed)
                .guard(|_: &PayingPayload| Judgement::reject("closed today")),
        )
        .unwrap();
    let paid = host.hooks.fire_gating::<Paying>(PayingPayload { cents: 5 }).await;
    assert!(!paid.is_ok_and(|paid| paid.into_result().is_ok()));

    // By break-glass it opens: what is looked at above can be seen.
    let host = Host::new();
    let mut glass = setting(&json!("disable"));
    (glass["break_glass"], glass["until_s"]) = (true.into(), 60.into());
    assert_eq!(host.app().change("POST", "/api/settings", &glass).await.status, 201);
    let paid = host.hooks.fire_gating::<Paying>(PayingPayload { cents: 500 }).await;
    assert!(paid.unwrap().into_result().is_ok());
}
