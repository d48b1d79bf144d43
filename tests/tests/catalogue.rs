//! The catalogue of declared points (L28), its names (L03) and what it is for
//! in an audit (L23), to the letter.

use std::time::Duration;

use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::point::ModelKind;
use hooks_runtime::{FailurePolicy, FlowContext, HookRegistry, OnError, hook_points, on};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A drawer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawer {
    /// Its label.
    label: String,
}

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn points)]

    /// A drawer was opened.
    ///
    /// Not for those that stand open; see [`Drawer`].
    pub void Opened {
        /// Which one.
        drawer_id: u32,
        /// Who | what opened it.
        by: Option<String>,
    }

    /// Before a label is printed.
    #[hook(timeout = "2s", on_failure = "closed")]
    #[deprecated(note = "print it yourself")]
    pub modifying Labelling(Drawer) -> {
        /// What it says.
        text: String,
    }

    /// One move.
    #[hook(name = "drawers:move")]
    pub flow Moving(Drawer) -> Drawer;
}
const OPENED_LINE: u32 = line!() - 19;

mod plain {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub fn points)]
        /// It is private.
        pub void Unseen { since: std::time::Instant }
        #[deprecated]
        pub claiming Nameless(u8) -> u8;
    }
}

mod rivals {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub fn points)]
        pub void Opened {}
        #[hook(name = "drawers:move/finally")]
        pub void Moved {}
        pub void Closed {}
    }
}

#[test]
fn l28_the_declaration_as_data() {
    let points = points();
    let names: Vec<_> = points.points().iter().map(|point| point.name()).collect();
    assert_eq!(names, ["opened", "labelling", "drawers:move"]);
    let opened = points.get("opened").unwrap();
    assert_eq!(opened.model(), ModelKind::Void);
    assert!(opened.doc().starts_with("A drawer was opened.\n\nNot for those"));
    assert_eq!((opened.policy(), opened.timeout()), (FailurePolicy::Open, None));
    assert_eq!((opened.location().file(), opened.location().line()), (file!(), OPENED_LINE));
    assert_eq!(opened.deprecated(), None);
    assert_eq!(opened.payload().name(), "OpenedPayload");
    let field = &opened.payload().fields()[1];
    assert_eq!((field.name, field.ty), ("by", "Option<String>"));
    assert_eq!(field.doc, "Who | what opened it.");
    assert!(opened.result().is_none());

    let labelling = points.get("labelling").unwrap();
    assert_eq!(labelling.policy(), FailurePolicy::Closed);
    assert_eq!(labelling.timeout(), Some(Duration::from_secs(2)));
    assert_eq!(labelling.deprecated(), Some("print it yourself"));
    assert_eq!(labelling.payload().name(), "Drawer");
    assert!(labelling.payload().fields().is_empty());
    assert_eq!(labelling.result().unwrap().name(), "LabellingResult");

    let moving = points.get("drawers:move").unwrap();
    assert_eq!(moving.stage_names().len(), 6);
    assert_eq!(moving.stage_names()[5], "drawers:move/finally");
    assert!(points.get("closed").is_none());
    assert_eq!(plain::points().get("nameless").unwrap().deprecated(), Some(""));
}

#[test]
fn l28_the_catalogue_as_json() {
    let catalogue = serde_json::to_value(points()).unwrap();
    let drawer = json!({
        "type": "object",
        "description": "A drawer.",
        "properties": {"label": {"type": "string", "description": "Its label."}},
        "required": ["label"],
        "additionalProperties": false,
    });
    let mut whole = drawer;
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    whole["title"] = "Drawer".into();
    let moving = &catalogue["points"][2];
    assert_eq!(
        *moving,
        json!({
            "name": "drawers:move",
            "model": "flow",
            "doc": "One move.",
            "policy": "closed",
            "timeout_ns": null,
            "deprecated": null,
            "location": moving["location"],
            "payload": {"type": "Drawer", "fields": [], "schema": whole},
            "result": {"type": "Drawer", "fields": [], "schema": whole},
            "stages": [
                "drawers:move/beforeValidation",
                "drawers:move/afterValidation",
                "drawers:move/beforeExecute",
                "drawers:move/afterExecute",
                "drawers:move/onError",
                "drawers:move/finally",
            ],
        })
    );
    let opened = &catalogue["points"][0];
    assert_eq!(opened["location"]["line"], json!(OPENED_LINE));
    assert_eq!(opened["result"], Value::Null);
    assert_eq!(
        opened["payload"]["fields"][0],
        json!({"name": "drawer_id", "type": "u32", "doc": "Which one."})
    );
    // The schema spells it as the wire does.
    let properties = opened["payload"]["schema"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["by", "drawerId"]);
    assert_eq!(catalogue["points"][1]["timeout_ns"], json!(2_000_000_000));
    // Without a schema the key is there all the same.
    let plain = serde_json::to_value(plain::points()).unwrap();
    assert_eq!(plain["points"][0]["payload"]["schema"], Value::Null);
}

#[test]
fn l28_the_catalogue_as_markdown() {
    assert_eq!(
        points().to_markdown(),
        "\
## `opened`

*void*, fail-open

A drawer was opened.

Not for those that stand open; see `Drawer`.

Payload `OpenedPayload`

| field | type | |
|---|---|---|
| `drawerId` | integer | Which one. |
| `by`? | string | Who \\| what opened it. |

## `labelling`

*modifying*, fail-closed, 2s

**Deprecated:** print it yourself

Before a label is printed.

Payload `Drawer`

| field | type | |
|---|---|---|
| `label` | string | Its label. |

Result `LabellingResult`

| field | type | |
|---|---|---|
| `text`? | string | What it says. |

## `drawers:move`

*flow*, fail-closed

One move.

Handlers belong to its stages, from `drawers:move/beforeValidation` to `drawers:move/finally`.

Input `Drawer`

| field | type | |
|---|---|---|
| `label` | string | Its label. |

Output `Drawer`

| field | type | |
|---|---|---|
| `label` | string | Its label. |
"
    );
    assert_eq!(
        plain::points().to_markdown(),
        "\
## `unseen`

*void*, fail-open

It is private.

Payload `UnseenPayload`

| field | type | |
|---|---|---|
| `since` | `std::time::Instant` |  |

## `nameless`

*claiming*, fail-open

**Deprecated.**

Payload `u8`

Claim `u8`
"
    );
}

#[test]
fn l03_two_points_of_one_name_do_not_go_into_one_catalogue() {
    let merged = Catalogue::merge([points(), plain::points(), points()]).unwrap();
    assert_eq!(merged.points().len(), 5, "the same points are the same points");
    let error = Catalogue::merge([points(), rivals::points()]).unwrap_err();
    let names: Vec<_> = error.clashes().iter().map(|clash| clash.name).collect();
    // A stage is a point as well.
    assert_eq!(names, ["opened", "drawers:move/finally"]);
    let clash = &error.clashes()[0];
    assert_eq!(clash.first.line(), OPENED_LINE);
    let told = error.to_string();
    let first = format!(
        "two hook points are called `opened`: one declared at {}, one at {}; rename one with \
         `#[hook(name = \"…\")]`",
        clash.first, clash.second
    );
    assert_eq!(told.lines().next().unwrap(), first);
    assert_eq!(told.lines().count(), 2);
}

/// What a panic said.
fn panic_of(work: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_err();
    *panic.downcast::<String>().unwrap()
}

#[tokio::test]
async fn l23_one_line_fails_when_a_declared_point_is_never_fired() {
    let (hooks, points) = (HookRegistry::new(), points());
    hooks.fire_void::<Opened>(&OpenedPayload { drawer_id: 1, by: None }).await.unwrap();
    let location = |name| points.get(name).unwrap().location();
    assert_eq!(
        panic_of(|| points.assert_all_fired(&hooks)),
        format!(
            "2 of 3 declared hook points are never fired:\n\
             \x20 labelling     declared at {}\n\
             \x20 drawers:move  declared at {}",
            location("labelling"),
            location("drawers:move")
        )
    );
    let drawer = Drawer { label: "a".to_owned() };
    #[allow(deprecated)]
    hooks.fire_modifying::<Labelling>(&drawer).await.unwrap();
    hooks.run_flow::<Moving, _>(drawer, async |d| Ok::<_, String>(d)).await.unwrap();
    points.assert_all_fired(&hooks);
}

#[tokio::test]
async fn l23_an_audit_with_the_catalogue_knows_what_is_declared() {
    let (hooks, points) = (HookRegistry::new(), points());
    assert!(hooks.audit().is_clean());
    let audit = hooks.audit_with(&points);
    assert_eq!(audit.never_fired, ["drawers:move", "labelling", "opened"]);

    hooks.fire_void::<Opened>(&OpenedPayload { drawer_id: 1, by: None }).await.unwrap();
    hooks
        .fire_void::<plain::Unseen>(&plain::UnseenPayload { since: std::time::Instant::now() })
        .await
        .unwrap();
    // Known to the registry, but never fired.
    hooks.register(on::<rivals::Closed>().name("late").handler(|_: &_| ())).unwrap();
    let mends = |_: &mut FlowContext<Moving>| ();
    hooks.register(on::<OnError<Moving>>().name("mends").handler(mends)).unwrap();
    let drawer = Drawer { label: "a".to_owned() };
    hooks.run_flow::<Moving, _>(drawer, async |d| Ok::<_, String>(d)).await.unwrap();
    let told = hooks.audit_with(&points).to_string();
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        [
            "`closed` is never fired",
            "`drawers:move/onError` is never fired",
            "`labelling` is never fired",
            "`late` (built-in) at `closed` is never called: its point is never fired",
            "`mends` (built-in) at `drawers:move/onError` is never called: its point is never fired",
            "`unseen` is fired but not declared",
        ]
    );
}

#[tokio::test]
async fn l23_an_audit_with_the_catalogue_knows_names_declared_twice() {
    let hooks = HookRegistry::new();
    hooks.fire_void::<rivals::Opened>(&rivals::OpenedPayload {}).await.unwrap();
    let (ours, theirs) = (points(), rivals::points());
    let audit = hooks.audit_with(&ours);
    assert_eq!(audit.declared_twice.len(), 1);
    let clash = &audit.declared_twice[0];
    assert_eq!(clash.name, "opened");
    assert_eq!(clash.first, theirs.get("opened").unwrap().location());
    assert_eq!(clash.second, ours.get("opened").unwrap().location());
    assert!(audit.undeclared.is_empty());
    let json = serde_json::to_value(&audit).unwrap();
    assert_eq!(json["declared_twice"][0]["name"], "opened");
    assert_eq!(json["undeclared"], json!([]));
    assert_eq!(json["never_fired"], json!(["drawers:move", "labelling", "opened"]));
}
