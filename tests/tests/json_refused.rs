//! What is refused by name (L27): the error says what was expected, and nothing
//! is called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_points::catalogue;
use hooks_runtime::json::JsonError;
use hooks_runtime::point::ModelKind;
use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A type that would let unknown keys pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parcel {
    weight: f64,
    from: Sender,
    labels: std::collections::BTreeMap<u8, String>,
    raw: Value,
}

/// A sender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sender {
    name: String,
    floor: u8,
}

hook_points! {
    #![hook(json = "snake_case", catalogue = fn points)]

    /// Before a parcel leaves.
    pub gating Sending(Parcel);
    /// Who takes it.
    pub claiming Taking { n: u32 } -> u32;
    /// What is on it.
    pub modifying Labelling { n: u32 } -> { label: String }
    /// It left.
    pub void Sent { n: u32 }
    /// One delivery.
    pub flow Deliver { n: u32 } -> { done: bool }
}

mod plain {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub fn points)]
        /// Nothing of this goes over a wire.
        pub void Private(std::time::Instant);
    }
}

const GOOD: &str = r#"{"weight": 1, "from": {"name": "x", "floor": 2}, "labels": {"7": "fragile"}, "raw": {"a": [1]}}"#;

/// Fires `sending` with a text that must be refused, and returns the message.
#[track_caller]
fn refused(text: impl AsRef<[u8]> + Send) -> String {
    let (hooks, points) = (HookRegistry::new(), points());
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = calls.clone();
    hooks
        .register(on::<Sending>().name("counts").handler(move |_: &Parcel| {
            counts.fetch_add(1, Ordering::Relaxed);
            hooks_runtime::Verdict::<Parcel>::Pass
        }))
        .unwrap();
    let json = hooks.json(&points).max_bytes(4096);
    let (refused, report) = block_on(json.fire_reported("sending", text));
    assert_eq!(calls.load(Ordering::Relaxed), 0, "a handler was called");
    assert!(report.is_none());
    assert!(!hooks.audit().never_fired.is_empty(), "it counts as fired");
    let _passed = block_on(json.fire("sending", GOOD)).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    refused.unwrap_err().to_string()
}

/// `GOOD` with one piece replaced.
fn with(piece: &str, by: &str) -> String {
    assert!(GOOD.contains(piece));
    GOOD.replace(piece, by)
}

#[test]
fn l27_the_message_says_where_and_what_was_expected() {
    let told = [
        (
            with("\"x\"", "5"),
            "the payload of `sending` does not fit at `from.name`: invalid type: integer `5`, expected a string",
        ),
        (
            with(", \"floor\": 2", ""),
            "the payload of `sending` does not fit at `from`: missing field `floor`",
        ),
        // A misspelt key, of a type that says nothing about unknown ones.
        (
            with("\"floor\"", "\"flor\": 1, \"floor\""),
            "the payload of `sending` does not fit at `from.flor`: nothing of that name is expected here",
        ),
        // A key given twice: in a struct, in a map, and in a value that is kept as it is.
        (
            with("\"name\"", "\"name\": \"y\", \"name\""),
            "the payload of `sending` does not fit at `from`: the key `name` is given twice",
        ),
        (
            with("\"7\"", "\"7\": \"a\", \"7\""),
            "the payload of `sending` does not fit at `labels`: the key `7` is given twice",
        ),
        (
            with("\"a\"", "\"b\": 1, \"a\": 2, \"a\""),
            "the payload of `sending` does not fit at `raw`: the key `a` is given twice",
        ),
        // An array where an object belongs.
        (
            with(r#"{"name": "x", "floor": 2}"#, r#"["x", 2]"#),
            "the payload of `sending` does not fit at `from`: invalid type: sequence, expected struct Sender",
        ),
        (
            r#"[1, ["x", 2], {}, null]"#.to_owned(),
            "the payload of `sending` does not fit as a whole: invalid type: sequence, expected struct Parcel",
        ),
        // Numbers that their types cannot hold.
        (
            with("\"floor\": 2", "\"floor\": 256"),
            "the payload of `sending` does not fit at `from.floor`: invalid value: integer `256`, expected u8",
        ),
        (
            with("\"weight\": 1", "\"weight\": 1e999"),
            "the payload of `sending` does not fit at `weight`: number out of range",
        ),
        (
            with("[1]", "[1e999]"),
            "the payload of `sending` does not fit at `raw.a[0]`: number out of range",
        ),
        // A lone surrogate, something after the end, no end, nothing at all.
        (
            with("\"x\"", r#""\ud800""#),
            "the payload of `sending` does not fit at `from.name`: unexpected end of hex escape",
        ),
        (
            format!("{GOOD} {{}}"),
            "the payload of `sending` does not fit as a whole: trailing characters",
        ),
        (
            GOOD[..40].to_owned(),
            "the payload of `sending` does not fit at `from`: EOF while parsing a string",
        ),
        (
            String::new(),
            "the payload of `sending` does not fit as a whole: EOF while parsing a value",
        ),
        ("NaN".to_owned(), "the payload of `sending` does not fit as a whole: expected value"),
    ];
    for (text, message) in told {
        let refused = refused(&text);
        // Line and column are those of the text, and not ours to judge.
        let (told, _) = refused.rsplit_once(" at line 1 column ").unwrap();
        assert_eq!(told, message, "{text}");
    }
}

#[test]
fn l27_bytes_that_are_no_text_are_refused() {
    let mut bytes = GOOD.as_bytes().to_vec();
    let x = GOOD.find("\"x\"").unwrap() + 1;
    bytes[x] = 0xff;
    assert_eq!(
        refused(&bytes),
        "the payload of `sending` does not fit at `from.name`: invalid unicode code point at line 1 \
         column 33"
    );
    assert!(refused([0xff, 0xfe]).contains("expected value"));
}

#[test]
fn l27_depth_and_size_have_a_limit() {
    let deep = with("[1]", &format!("{}{}", "[".repeat(200), "]".repeat(200)));
    assert!(refused(deep).contains("recursion limit exceeded"));
    let long = with("\"x\"", &format!("\"{}\"", "x".repeat(4096)));
    let size = long.len();
    assert_eq!(
        refused(long),
        format!(
            "the payload of `sending` has {size} bytes, 4096 are allowed: send less, or \
                 raise `max_bytes`"
        )
    );
}

#[test]
fn l27_what_a_message_quotes_is_short_and_safe_to_print() {
    let long = with("\"floor\": 2", &format!("\"floor\": \"{}\"", "x".repeat(3000)));
    let told = refused(long);
    assert!(told.len() < 600, "{} bytes", told.len());
    assert!(
        told.starts_with("the payload of `sending` does not fit at `from.floor`: invalid type")
    );
    assert!(told.contains("xxx … xxx") && told.contains("expected u8"));
    let hostile = with("\"floor\"", "\"\\u001b[2J\\u202e\\n\": 1, \"floor\"");
    let told = refused(hostile);
    assert!(told.contains(r"at `from.\u{1b}[2J\u{202e}\n`"), "{told}");
    assert!(!told.contains(|char: char| char.is_control()));
}

/// The error of a fire by name.
fn fire(name: &str) -> JsonError {
    block_on(HookRegistry::new().json(&points()).fire(name, "{}")).unwrap_err()
}

#[test]
fn l27_errors_of_unknown_names_say_the_nearest() {
    let told = [
        ("sendign", "there is no hook point `sendign`: did you mean `sending`?"),
        ("Sent", "there is no hook point `Sent`: did you mean `sent`?"),
    ];
    for (name, message) in told {
        assert_eq!(fire(name).to_string(), message);
    }
    // Stages are not fired, so none is offered.
    for name in ["unheard_of", "", "a\u{202e}b\n", "deliver/finaly"] {
        let shown = name.replace('\u{202e}', "\\u{202e}").replace('\n', "\\n");
        let message = format!(
            "there is no hook point `{shown}`; the catalogue has all names: see its `points`"
        );
        assert_eq!(fire(name).to_string(), message);
    }
    let long = fire(&"x".repeat(1 << 20)).to_string();
    let shown = "x".repeat(40);
    let message =
        format!("there is no hook point `{shown}…`; the catalogue has all names: see its `points`");
    assert_eq!(long, message);
    let on = points().on("deliver/finaly").unwrap_err();
    let message = "there is no hook point `deliver/finaly`: did you mean `deliver/finally`?";
    assert_eq!(on.to_string(), message);
}

#[test]
fn l27_the_wrong_model_says_which_call_to_use() {
    let (hooks, points) = (HookRegistry::new(), points());
    let json = hooks.json(&points);
    assert_eq!(fire("deliver").to_string(), "`deliver` is a flow point: run it with `run_flow`");
    assert_eq!(
        fire("deliver/finally").to_string(),
        "`deliver/finally` is a stage point: it is fired by its flow, so call `run_flow` with the \
         flow's name"
    );
    let run = block_on(json.run_flow("sent", r#"{"n": 1}"#, async |n| Ok::<_, String>(n)));
    assert_eq!(run.unwrap_err().to_string(), "`sent` is a void point: fire it with `fire`");
    assert_eq!(
        points.on("deliver").unwrap_err().to_string(),
        "`deliver` is a flow point: handlers belong to its stages, such as `…/beforeExecute`"
    );
    let guard = points.on("sent").unwrap().guard(|_: Value| ()).unwrap_err();
    assert_eq!(
        guard.to_string(),
        "`sent` is a void point: guards belong to gating points, so register it with `handler`"
    );
    let JsonError::WrongModel { point, model, .. } = guard else { panic!("{guard}") };
    assert_eq!((point, model), ("sent", ModelKind::Void));
}

#[test]
fn l27_points_without_json_say_how_to_get_it() {
    let (hooks, points) = (HookRegistry::new(), plain::points());
    let told =
        "`private` is declared without JSON: add `json = \"…\"` to `#![hook(…)]` of its block";
    let error = block_on(hooks.json(&points).fire("private", "{}")).unwrap_err();
    assert_eq!(error.to_string(), told);
    assert_eq!(points.on("private").unwrap_err().to_string(), told);
}

/// What a fail-closed handler at this point fails with when it answers so.
fn failed(name: &str, answer: Value) -> String {
    let (hooks, points) = (HookRegistry::new(), points());
    let handler = points.on(name).unwrap().name("h").on_failure(FailurePolicy::Closed);
    hooks.register(handler.handler(move |_: Value| answer.clone())).unwrap();
    let json = hooks.json(&points);
    let payload = if name == "sending" { GOOD } else { r#"{"n": 1}"# };
    let error = match name.split_once('/') {
        None => block_on(json.fire(name, payload)).map(drop),
        Some((flow, _)) => {
            let operation = async |_| Ok::<_, String>(json!({"done": true}));
            block_on(json.run_flow(flow, payload, operation)).map(drop)
        }
    };
    let message = error.unwrap_err().to_string();
    let head = format!("handler `h` (built-in) at `{name}`: ");
    message.strip_prefix(&head).unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn l27_an_answer_that_does_not_fit_is_a_failure_of_the_handler() {
    let told = [
        (
            "sent",
            json!(5),
            "the answer of `sent` does not fit as a whole: invalid type: integer `5`, expected unit",
        ),
        (
            "labelling",
            json!({"label": 5}),
            "the answer of `labelling` does not fit at `label`: invalid type: integer `5`, expected a string",
        ),
        (
            "labelling",
            json!({"lable": "x"}),
            "the answer of `labelling` does not fit at `lable`: unknown field `lable`, expected `label`",
        ),
        (
            "labelling",
            json!(["x"]),
            "the answer of `labelling` does not fit as a whole: invalid type: sequence, expected struct LabellingResult",
        ),
        (
            "taking",
            Value::Null,
            "the answer of `taking` does not fit as a whole: invalid type: null, expected an object with `handled` and, when it is true, the fields of the claim",
        ),
        (
            "taking",
            json!({}),
            "the answer of `taking` does not fit as a whole: missing field `handled`",
        ),
        (
            "taking",
            json!({"claim": 1}),
            "the answer of `taking` does not fit as a whole: missing field `handled`",
        ),
        (
            "taking",
            json!({"handled": true}),
            "the answer of `taking` does not fit as a whole: missing field `claim`",
        ),
        (
            "taking",
            json!({"handled": false, "claim": 1}),
            "the answer of `taking` does not fit as a whole: `claim` cannot stand beside `handled: false`",
        ),
        (
            "taking",
            json!({"handled": true, "claim": "x"}),
            "the answer of `taking` does not fit at `claim`: invalid type: string \"x\", expected u32",
        ),
        (
            "taking",
            json!({"handled": 1}),
            "the answer of `taking` does not fit at `handled`: invalid type: integer `1`, expected a boolean",
        ),
        (
            "sending",
            json!({"verdict": "perhaps"}),
            "the answer of `sending` does not fit at `verdict`: unknown variant `perhaps`, expected one of `pass`, `replace`, `reject`",
        ),
        (
            "sending",
            json!({"verdict": "pass", "reason": "x"}),
            "the answer of `sending` does not fit as a whole: `pass` stands alone",
        ),
        (
            "sending",
            json!({"verdict": "replace"}),
            "the answer of `sending` does not fit as a whole: `replace` needs `payload`, and nothing else",
        ),
        (
            "sending",
            json!({"verdict": "reject"}),
            "the answer of `sending` does not fit as a whole: `reject` needs `reason`, and nothing else",
        ),
        (
            "sending",
            json!({"verdict": "replace", "payload": {"weight": "heavy"}}),
            "the answer of `sending` does not fit at `payload.weight`: invalid type: string \"heavy\", expected f64",
        ),
        (
            "deliver/beforeExecute",
            json!({"output": {"done": 1}}),
            "the answer of `deliver/beforeExecute` does not fit at `output.done`: invalid type: integer `1`, expected a boolean",
        ),
        (
            "deliver/beforeExecute",
            json!({"respond": {}}),
            "the answer of `deliver/beforeExecute` does not fit at `respond`: unknown field `respond`, expected one of `input`, `output`, `recover`, `skip`, `abort`",
        ),
        (
            "deliver/afterExecute",
            json!({"input": {"n": 2}}),
            "`deliver/afterExecute` has no input to rewrite: the operation took it",
        ),
    ];
    for (name, answer, message) in told {
        assert_eq!(failed(name, answer.clone()), message, "{answer}");
    }
}

#[test]
fn l13_an_answer_that_does_not_fit_obeys_the_policy() {
    let (hooks, points) = (HookRegistry::new(), points());
    hooks
        .register([
            points.on("labelling").unwrap().name("bad").handler(|_: Value| json!({"label": 5})),
            points.on("labelling").unwrap().name("good").handler(|_: Value| json!({"label": "x"})),
        ])
        .unwrap();
    let fired = block_on(hooks.json(&points).fire_reported("labelling", r#"{"n": 1}"#));
    assert_eq!(fired.0.unwrap().to_json(), json!({"label": "x"}));
    assert_eq!(
        fired.1.unwrap().handler("bad").unwrap().status().to_string(),
        "error, fail-open: the answer of `labelling` does not fit at `label`: invalid type: integer \
         `5`, expected a string"
    );
}

#[test]
fn l10_a_guard_that_speaks_json_cannot_replace() {
    let (hooks, points) = (HookRegistry::new(), points());
    let guard = points
        .on("sending")
        .unwrap()
        .name("g")
        .guard(|payload: Value| json!({"verdict": "replace", "payload": payload}));
    hooks.register(guard.unwrap()).unwrap();
    let error = block_on(hooks.json(&points).fire("sending", GOOD)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `g` (built-in) at `sending`: a guard of `sending` cannot replace the payload"
    );
}

#[test]
fn l27_content_blocks_are_read_as_strictly_as_the_rest() {
    let (hooks, mcp) = (HookRegistry::new(), catalogue::mcp());
    let run = |content: Value| {
        let operation = async move |_| Ok::<_, String>(json!({"content": content}));
        let ran =
            block_on(hooks.json(&mcp).run_flow("tools:call-tool", r#"{"name": "ls"}"#, operation));
        ran.unwrap_err().to_string()
    };
    let head = "the operation's output of `tools:call-tool` does not fit at ";
    let told = [
        (json!([["text", "x"]]), "`content[0]`: invalid type: sequence, expected struct Wire"),
        (
            json!([{"type": "text", "text": "x", "annotations": [["user"], 1, null]}]),
            "`content[0].annotations`: invalid type: sequence, expected struct Annotations",
        ),
        (json!([{"type": "text", "data": "x"}]), "`content[0]`: a block of `text` needs `text`"),
        // What belongs to another kind of block is not passed over.
        (
            json!([{"type": "text", "text": "x", "data": "y"}]),
            "`content[0]`: a block of `text` needs `text`",
        ),
    ];
    for (content, message) in told {
        assert_eq!(run(content), format!("{head}{message}"));
    }
}
