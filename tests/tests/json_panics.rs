//! How a payload or a result is read, written and dropped is the host's code, and
//! a fire by name runs it: its panics are contained too (L12, L27).

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hooks_runtime::json::Outcome;
use hooks_runtime::{Claim, Gate, HookRegistry, hook_points};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use support::{keep_quiet, poll_once};

/// Panics where its text says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragile(String);

impl Serialize for Fragile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        assert!(self.0 != "unwritable", "it broke while it was written");
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        assert!(text != "unreadable", "it broke while it was read");
        Ok(Self(text))
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(self.0 != "undroppable", "it broke while it was dropped");
    }
}

hook_points! {
    #![hook(json = "snake_case", catalogue = fn points)]

    /// It was sent.
    pub void Sent(Fragile);
    /// Before it is wrapped.
    pub modifying Wrapping(u32) -> { paper: Fragile, ribbon: Fragile }
    /// Where it goes.
    pub claiming Shelving(u32) -> Fragile;
    /// Before it is sent.
    pub gating Sending(Fragile);
    /// One mending, stage by stage.
    pub flow Mending(Fragile) -> Fragile;
}

fn quiet() -> HookRegistry {
    keep_quiet(&[
        "it broke while it was read",
        "it broke while it was written",
        "it broke while it was dropped",
    ]);
    HookRegistry::new()
}

/// The outcomes of a fire without and with a report.
async fn fired(hooks: &HookRegistry, name: &str, payload: &str) -> [Result<Outcome, String>; 2] {
    let points = points();
    let json = hooks.json(&points);
    let text = |outcome: Result<Outcome, _>| outcome.map_err(|error| format!("{error}"));
    let (reported, _) = json.fire_reported(name, payload).await;
    [text(json.fire(name, payload).await), text(reported)]
}

#[tokio::test]
async fn l12_a_payload_that_panics_while_it_is_read_is_an_error_and_no_handler_is_called() {
    let hooks = quiet();
    hooks.register(points().on("sent").unwrap().name("log").handler(|_: Value| ())).unwrap();
    let expected = "the payload of `sent` does not fit as a whole: reading it panicked: it broke \
                    while it was read";
    for outcome in fired(&hooks, "sent", r#""unreadable""#).await {
        assert_eq!(outcome.unwrap_err(), expected);
    }
    assert_eq!(hooks.handlers_at::<Sent>()[0].calls, 0);
}

#[tokio::test]
async fn l12_a_payload_with_something_after_it_is_dropped_with_care() {
    let expected = "the payload of `sent` does not fit as a whole: trailing characters at line 1 \
                    column 15";
    for outcome in fired(&quiet(), "sent", r#""undroppable" 1"#).await {
        assert_eq!(outcome.unwrap_err(), expected);
    }
}

#[tokio::test]
async fn l12_an_outcome_that_panics_while_it_is_written_is_an_error() {
    let (hooks, points) = (quiet(), points());
    let claims = |_: Value| Claim::Claimed(json!("unwritable"));
    hooks
        .register([
            points.on("wrapping").unwrap().handler(|_: Value| json!({"paper": "unwritable"})),
            points.on("shelving").unwrap().handler(claims),
        ])
        .unwrap();
    for (name, payload) in [("wrapping", "1"), ("shelving", "1"), ("sending", r#""unwritable""#)] {
        let expected = format!(
            "the outcome of `{name}` cannot be written as JSON: writing it panicked: it broke \
             while it was written; its type needs a `Serialize` that writes JSON"
        );
        for outcome in fired(&hooks, name, payload).await {
            assert_eq!(outcome.unwrap_err(), expected);
        }
    }
    let json = hooks.json(&points);
    let mended =
        json.run_flow("mending", r#""cup""#, async |_| Ok::<_, String>("unwritable".into()));
    assert_eq!(
        mended.await.unwrap_err().to_string(),
        "the outcome of `mending` cannot be written as JSON: writing it panicked: it broke while \
         it was written; its type needs a `Serialize` that writes JSON"
    );
}

#[tokio::test]
async fn l12_payloads_and_outcomes_are_dropped_with_care_after_a_fire_by_name() {
    let (hooks, points) = (quiet(), points());
    let claims = |_: Value| Claim::Claimed(json!("undroppable"));
    hooks
        .register([
            points.on("sent").unwrap().handler(|_: Value| ()),
            points.on("wrapping").unwrap().handler(|_: Value| json!({"paper": "undroppable"})),
            points.on("wrapping").unwrap().handler(|_: Value| json!({"ribbon": "undroppable"})),
            points.on("shelving").unwrap().handler(claims),
        ])
        .unwrap();
    let claimed = Claim::Claimed(json!({"handled": true, "claim": "undroppable"}));
    let wrapped = json!({"paper": "undroppable", "ribbon": "undroppable"});
    for (name, payload, expected) in [
        ("sent", r#""undroppable""#, Outcome::Notified),
        ("wrapping", "1", Outcome::Result(wrapped)),
        ("shelving", "1", Outcome::Claim(claimed)),
        ("sending", r#""undroppable""#, Outcome::Gate(Gate::Passed(json!("undroppable")))),
    ] {
        for outcome in fired(&hooks, name, payload).await {
            assert_eq!(outcome.unwrap(), expected);
        }
    }
}

#[test]
fn l25_a_payload_is_dropped_with_care_where_a_fire_by_name_is_dropped() {
    let (hooks, points) = (quiet(), points());
    let waits = async |_: Value| std::future::pending::<()>().await;
    hooks.register(points.on("sent").unwrap().handler(waits)).unwrap();
    let json = hooks.json(&points);
    let mut fire = Box::pin(json.fire("sent", r#""undroppable""#));
    assert!(poll_once(fire.as_mut()).is_pending());
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(fire)));
    assert!(dropped.is_ok(), "it reached the host");
}
