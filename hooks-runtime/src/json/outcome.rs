//! The outcome of a fire by name.

use std::fmt;
use std::ops::Deref;

use serde_json::{Value, json};

use crate::model::{Claim, Gate, Rejection};

/// The outcome of a fire by name.
///
/// ```
/// # use hooks_runtime::{Gate, HookRegistry, hook_points};
/// # use hooks_runtime::json::{Outcome, json};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a pot is fired.
/// #     pub gating Firing { degrees: u32 }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let catalogue = points();
/// match hooks.json(&catalogue).fire("firing", r#"{"degrees": 900}"#).await? {
///     Outcome::Gate(Gate::Passed(payload)) => assert_eq!(payload, json!({"degrees": 900})),
///     other => panic!("{}", other.to_json()),
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a rejection, a claim or a change that is not looked at is lost"]
#[non_exhaustive]
pub enum Outcome {
    /// A void point: its handlers were called.
    Notified,
    /// A modifying point: the merged result.
    Result(Value),
    /// A claiming point: the claim as handlers answer it, or none.
    Claim(Claim<Value>),
    /// A gating point: the final payload, or the rejection: by which handler, and
    /// why, in the serde form of the point's reasons.
    Gate(Gate<Value, JsonReason>),
}

/// Why a payload was rejected: as JSON for programs, and as text for people.
///
/// It derefs to the text, which is that of the reason's `Display`. Where the point
/// declares no type for its reasons, the JSON is that text.
///
/// ```
/// # use hooks_runtime::{Gate, HookRegistry, Judgement, hook_points, on};
/// # use hooks_runtime::json::{Outcome, json};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a pot is fired.
/// #     pub gating Firing { degrees: u32 }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Firing>().guard(|_: &FiringPayload| Judgement::reject("too cold")))?;
/// let catalogue = points();
/// let outcome = hooks.json(&catalogue).fire("firing", r#"{"degrees": 9}"#).await?;
/// let Outcome::Gate(Gate::Rejected(rejection)) = outcome else { panic!() };
/// let reason = rejection.into_reason();
/// assert_eq!((&*reason, reason.json()), ("too cold", &json!("too cold")));
/// assert_eq!(reason.into_json(), "too cold");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonReason {
    pub(super) text: String,
    pub(super) json: Value,
}

impl JsonReason {
    /// The reason in its serde form.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The same, to be kept.
    pub fn into_json(self) -> Value {
        self.json
    }
}

impl Deref for JsonReason {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for JsonReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl PartialEq<str> for JsonReason {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<Value> for JsonReason {
    fn eq(&self, json: &Value) -> bool {
        self.json == *json
    }
}

impl Outcome {
    /// The outcome in one document, for those that only pass it on.
    ///
    /// `null` for a void point; the result of a modifying one; `{"handled":
    /// true, …}` or `{"handled": false}` of a claiming one; of a gating one
    /// `{"verdict": "passed", "payload": …}` or `{"verdict": "rejected",
    /// "reason": …, "handler": …, "owner": …}`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Notified => Value::Null,
            Self::Result(result) => result.clone(),
            Self::Claim(Claim::Claimed(claim)) => claim.clone(),
            Self::Claim(Claim::Unclaimed) => json!({"handled": false}),
            Self::Gate(Gate::Passed(payload)) => json!({"verdict": "passed", "payload": payload}),
            Self::Gate(Gate::Rejected(rejection)) => rejected(rejection),
        }
    }
}

fn rejected(rejection: &Rejection<JsonReason>) -> Value {
    json!({
        "verdict": "rejected",
        "reason": rejection.reason().json(),
        "handler": rejection.handler(),
        "owner": rejection.owner(),
    })
}
