//! Typed reasons of rejections by wire name (L27) and in the catalogue (L28): in
//! JSON they have their serde form.

mod support;

use std::fmt;

use hooks_runtime::json::{JsonError, Outcome};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, hook_points, on};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use support::keep_quiet;

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Denied {
    /// For admins only.
    Forbidden,
    /// Too many of them.
    Busy {
        /// When to come again.
        retry_after: u32,
    },
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden => f.write_str("for admins only"),
            Self::Busy { retry_after } => write!(f, "come again in {retry_after}s"),
        }
    }
}

/// In JSON it is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closed")
    }
}

/// Can be printed in no form.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("not in JSON")
    }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("not in text")
    }
}

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn points)]

    /// May this request be served?
    pub gating Authorize { path: String } -> Denied;
    /// May it come in?
    pub gating Enter(u32) -> Closed;
    /// May it go?
    pub gating Leave(u32) -> Unwritable;
    /// Before a message leaves.
    pub gating Send(String);
}

const REQUEST: &str = r#"{"path": "/"}"#;

#[tokio::test]
async fn l27_the_outcome_of_a_gate_has_the_serde_form_of_the_reason() {
    let busy = |_: &AuthorizePayload| Judgement::Reject(Denied::Busy { retry_after: 9 });
    let (hooks, points) = (HookRegistry::new(), points());
    hooks.register(on::<Authorize>().name("busy").guard(busy)).unwrap();
    let (outcome, report) = hooks.json(&points).fire_reported("authorize", REQUEST).await;
    let outcome = outcome.unwrap();
    let expected = json!({
        "verdict": "rejected",
        "reason": {"busy": {"retryAfter": 9}},
        "handler": "busy",
        "owner": {"kind": "built_in"},
    });
    assert_eq!(outcome.to_json(), expected);
    let Outcome::Gate(Gate::Rejected(rejection)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejection.reason(), &json!({"busy": {"retryAfter": 9}}));
    assert_eq!(rejection.reason(), "come again in 9s");
    assert_eq!(
        rejection.to_string(),
        "rejected at `authorize` by `busy` (built-in): come again in 9s"
    );
    assert_eq!(rejection.into_reason().into_json(), expected["reason"]);
    let report = report.unwrap().to_string();
    assert!(report.ends_with("  rejected: come again in 9s"), "{report}");
}

#[tokio::test]
async fn l27_a_text_reason_is_text_in_json() {
    let (hooks, points) = (HookRegistry::new(), points());
    let no = |_: &String| Verdict::reject("no \"secrets\"");
    hooks.register(on::<Send>().name("no").guard(no)).unwrap();
    let outcome = hooks.json(&points).fire("send", "\"x\"").await.unwrap();
    assert_eq!(
        outcome.to_json().to_string(),
        r#"{"handler":"no","owner":{"kind":"built_in"},"reason":"no \"secrets\"","verdict":"rejected"}"#
    );
    let Outcome::Gate(Gate::Rejected(rejection)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejection.to_string(), "rejected at `send` by `no` (built-in): no \"secrets\"");
    let text: &str = rejection.reason();
    assert_eq!(text, "no \"secrets\"");
    assert_eq!(rejection.reason().json(), "no \"secrets\"");
}

/// What a handler that speaks JSON comes to with this answer at that point.
async fn answered(point: &str, payload: &str, answer: Value) -> Result<Outcome, JsonError> {
    let (hooks, points) = (HookRegistry::new(), points());
    let handler = move |_: Value| answer.clone();
    hooks.register(points.on(point).unwrap().name("json").handler(handler)).unwrap();
    hooks.json(&points).fire(point, payload).await
}

#[tokio::test]
async fn l27_a_handler_that_speaks_json_rejects_for_a_reason_of_the_points_type() {
    let (hooks, points) = (HookRegistry::new(), points());
    let says = json!({"verdict": "reject", "reason": {"busy": {"retryAfter": 3}}});
    let handler = move |_: Value| says.clone();
    hooks.register(points.on("authorize").unwrap().name("json").handler(handler)).unwrap();
    let payload = AuthorizePayload { path: "/".into() };
    let Gate::Rejected(rejection) = hooks.fire_gating::<Authorize>(payload).await.unwrap() else {
        panic!("it passed")
    };
    assert_eq!(rejection.reason(), &Denied::Busy { retry_after: 3 });
    assert_eq!(rejection.handler(), "json");

    // A word is text, which a verdict carries.
    let (hooks, word) = (HookRegistry::new(), |_: Value| Verdict::<Value>::reject("forbidden"));
    hooks.register(points.on("authorize").unwrap().name("word").handler(word)).unwrap();
    let outcome = hooks.json(&points).fire("authorize", REQUEST).await.unwrap();
    assert_eq!(outcome.to_json()["reason"], "forbidden");

    // `null` is a reason where the type has that form.
    let closed = answered("enter", "1", json!({"verdict": "reject", "reason": null})).await;
    assert_eq!(closed.unwrap().to_json()["reason"], Value::Null);
}

#[tokio::test]
async fn l27_a_reason_that_does_not_fit_is_a_failure_that_says_what_was_expected() {
    let reject = |reason: Value| json!({"verdict": "reject", "reason": reason});
    let cases = [
        (
            reject(json!("forbiden")),
            "the answer of `authorize` does not fit at `reason`: unknown variant `forbiden`, expected `forbidden` or `busy`",
        ),
        (
            reject(json!({"busy": {"retryAfter": "soon"}})),
            "the answer of `authorize` does not fit at `reason.busy.retryAfter`: invalid type: string \"soon\", expected u32",
        ),
        (
            reject(json!({"busy": {"retryAfter": 1, "why": ""}})),
            "the answer of `authorize` does not fit at `reason.busy.why`: unknown field `why`, expected `retryAfter`",
        ),
        (
            reject(Value::Null),
            "the answer of `authorize` does not fit as a whole: `reject` needs `reason`, and nothing else",
        ),
        (
            json!({"verdict": "reject"}),
            "the answer of `authorize` does not fit as a whole: `reject` needs `reason`, and nothing else",
        ),
        (
            json!({"verdict": "pass", "reason": "forbidden"}),
            "the answer of `authorize` does not fit as a whole: `pass` stands alone",
        ),
    ];
    for (answer, expected) in cases {
        let error = answered("authorize", REQUEST, answer).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("handler `json` (built-in) at `authorize`: {expected}")
        );
    }
    // As ever, `null` is no text, and no reason beside `pass`.
    let error = answered("send", "\"x\"", reject(Value::Null)).await.unwrap_err();
    assert!(error.to_string().ends_with("`reject` needs `reason`, and nothing else"), "{error}");
    let passed = answered("send", "\"x\"", json!({"verdict": "pass", "reason": null})).await;
    assert_eq!(passed.unwrap().to_json(), json!({"verdict": "passed", "payload": "x"}));
}

#[tokio::test]
async fn l27_a_reason_that_cannot_be_written_is_a_typed_error() {
    keep_quiet(&["not in JSON", "not in text"]);
    let (hooks, points) = (HookRegistry::new(), points());
    hooks.register(on::<Leave>().guard(|_: &u32| Judgement::Reject(Unwritable))).unwrap();
    let error = hooks.json(&points).fire("leave", "1").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outcome of `leave` cannot be written as JSON: writing it panicked: not in JSON; its \
         type needs a `Serialize` that writes JSON"
    );
}

#[test]
fn l28_the_catalogue_describes_the_reason_of_a_gate_that_declares_its_type() {
    let points = points();
    let typed = points.get("authorize").unwrap().result().unwrap();
    assert_eq!((typed.name(), typed.fields()), ("Denied", &[][..]));
    let schema = typed.schema().unwrap();
    assert_eq!(schema["description"], "Why a request is not served.");
    assert_eq!(schema["oneOf"][0]["const"], "forbidden");
    assert!(points.get("send").unwrap().result().is_none());

    let json = serde_json::to_value(&points).unwrap();
    assert_eq!(
        json["points"][0]["result"],
        json!({"type": "Denied", "fields": [], "schema": schema})
    );
    assert_eq!(json["points"][3]["result"], Value::Null);

    let page = points.to_markdown();
    let (_, authorize) = page.split_once("## `authorize`").unwrap();
    let (authorize, _) = authorize.split_once("\n## ").unwrap();
    let expected = "\n\n*gating*, fail-closed\n\nMay this request be served?\n\n\
         Payload `AuthorizePayload`\n\n| field | type | |\n|---|---|---|\n| `path` | string |  |\n\n\
         Reason `Denied`\n\n- `\"forbidden\"`: For admins only.\nToo many of them.\n\n\
         | field | type | |\n|---|---|---|\n| `busy` | object |  |\n";
    assert_eq!(authorize, expected);
    let (_, send) = page.split_once("## `send`").unwrap();
    assert!(!send.contains("Reason"), "{send}");
}
