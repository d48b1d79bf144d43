//! A recording that is kept here, `day.jsonl`: it is written anew, byte by byte the same but
//! for what is measured, read back, and fits the schema (L38). One test, in a program of its
//! own, because fires and calls are numbered in a process.
//!
//! After a change run with `UPDATE=1`, which writes the recording and the schema anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use hooks_runtime::operator::BreakerSettings;
use hooks_runtime::record::{CapturePolicy, Line, Part, Reader, Recorder};
use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Judgement, Verdict, hook_points, on,
};
use serde_json::Value;

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]
    /// A door was opened.
    pub void Opened { door: u32 }
    /// A label is made.
    pub modifying Labelled { book: u32 } -> { title: String, shelf_no: u32 }
    /// Who takes it?
    pub claiming Routed { path: String } -> { port: u16 }
    /// Before a message leaves.
    pub gating Sending { to: String, text: String }
    /// Secret.
    pub void LoggedIn { account: String, password: String }
    /// Large.
    pub void Heard { sound: Vec<u8> }
    /// A press.
    pub flow Press(u32) -> u32;
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The handlers of the day.
fn register(hooks: &HookRegistry) {
    let log = on::<Opened>().name("log").plugin("audit").pure();
    hooks.register(log.handler(|_: &OpenedPayload| ())).unwrap();
    let alarm = on::<Opened>().name("alarm").when(|opened: &OpenedPayload| opened.door == 7);
    hooks.register(alarm.handler(|_: &OpenedPayload| Err("no power"))).unwrap();
    let title = on::<Labelled>().name("title").handler(|label: &LabelledPayload| LabelledResult {
        title: Some(format!("book {}", label.book)),
        ..Default::default()
    });
    hooks.register(title).unwrap();
    let web = on::<Routed>().name("web").plugin("net");
    hooks
        .register(web.handler(async |route: &RoutedPayload, cx: &HookContext| {
            cx.hooks().fire_void::<Opened>(&OpenedPayload { door: 80 }).await.unwrap();
            (route.path == "/").then_some(RoutedResult { port: 80 })
        }))
        .unwrap();
    let polite = on::<Sending>().name("polite").handler(|message: &SendingPayload| {
        Verdict::Replace(SendingPayload {
            text: format!("{}, please", message.text),
            ..message.clone()
        })
    });
    hooks.register(polite).unwrap();
    let short = on::<Sending>().name("short").guard(|message: &SendingPayload| {
        if message.text.len() < 20 { Judgement::Pass } else { Judgement::reject("too long") }
    });
    hooks.register(short).unwrap();
    let before = on::<BeforeExecute<Press>>().name("gently");
    hooks
        .register(before.handler(|flow: &mut FlowContext<Press>| *flow.input_mut().unwrap() += 1))
        .unwrap();
}

/// What happens on the day.
async fn day(hooks: &HookRegistry) {
    let operator = hooks.operator();
    hooks.fire_void::<Opened>(&OpenedPayload { door: 1 }).await.unwrap();
    let breaker = BreakerSettings::consecutive(1);
    operator.breaker("opened:alarm", breaker).by("ops").because("it is flaky").apply().unwrap();
    hooks.fire_void::<Opened>(&OpenedPayload { door: 7 }).await.unwrap();
    hooks.fire_modifying::<Labelled>(&LabelledPayload { book: 3 }).await.unwrap();
    let _ = hooks.fire_claiming::<Routed>(&RoutedPayload { path: "/".into() }).await.unwrap();
    let shadow = operator.shadow("sending:short").break_glass("a new rule");
    let shadow = shadow.until(Duration::from_secs(60)).apply().unwrap();
    for (to, text) in [("desk", "close the door and the window"), ("door", "open")] {
        let message = SendingPayload { to: to.into(), text: text.into() };
        let _ = hooks.fire_gating::<Sending>(message).await.unwrap();
    }
    operator.clear(shadow.id()).unwrap();
    let message = SendingPayload { to: "desk".into(), text: "close the window".into() };
    let _ = hooks.fire_gating::<Sending>(message).await.unwrap();
    let login = LoggedInPayload { account: "desk".into(), password: "1234".into() };
    hooks.fire_void::<LoggedIn>(&login).await.unwrap();
    hooks.fire_void::<Heard>(&HeardPayload { sound: vec![1, 2, 3] }).await.unwrap();
    let press = async |n: u32| Ok::<_, io::Error>(n * 10);
    hooks.flow::<Press>().run(1, press).await.unwrap();
    hooks.unregister_plugin("audit").await;
    // More than the queue has room for.
    for door in 2..5 {
        hooks.fire_void::<Opened>(&OpenedPayload { door }).await.unwrap();
    }
}

async fn record() -> String {
    let (hooks, text) = (HookRegistry::new(), Text::default());
    register(&hooks);
    let seconds = AtomicU64::new(1_700_000_000);
    let now = move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.fetch_add(1, Ordering::Relaxed))
    };
    let redacted = CapturePolicy::redacted(|_, part, value| {
        if part == Part::Payload {
            value["password"] = "…".into();
        }
    });
    let recorder = Recorder::into_writer(text.clone()).run("golden").clock(now).queue(17);
    let recorder = recorder.catalogue(&points()).capture("*", CapturePolicy::Full);
    let recorder = recorder.capture("logged_in", redacted).capture("heard", CapturePolicy::Hash);
    let (recording, writer) = recorder.start(&hooks).unwrap();
    day(&hooks).await;
    drop(writer);
    recording.close().await;
    String::from_utf8(text.0.lock().unwrap().clone()).unwrap()
}

/// Without what is measured, and without the place in this file.
fn settled(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        settle(&mut line);
        // In the order of the keys that lines are written in.
        Line::parse(&line.to_string()).unwrap().to_json() + "\n"
    });
    lines.collect()
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "took_ns" if value.is_number() => *value = 1.into(),
                    "ends_in_ns" if value.is_number() => *value = 60_000_000_000_u64.into(),
                    "location" => *value = "main.rs:1:1".into(),
                    _ => settle(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(settle),
        _ => {}
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares with the file, or writes it.
#[track_caller]
fn assert_kept(path: &Path, text: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, text).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(kept == text, "{} is not what is written now: run with UPDATE=1", path.display());
}

/// L38: what is written today is what was written, and what was written is read today.
#[tokio::test]
async fn l38_the_recording_that_is_kept_is_written_and_read() {
    let path = here("tests/record_golden/day.jsonl");
    let written = settled(&record().await);
    assert_kept(&path, &written);

    let kept = fs::read_to_string(&path).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let lines: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    assert!(reader.torn().is_empty());
    let again: String = lines.iter().map(|line| line.to_json() + "\n").collect();
    assert!(again == kept, "read and written, it is the same");
    let mut kinds: Vec<_> = lines.iter().map(|line| line.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let all =
        ["breaker", "call", "dropped", "end", "fire", "handlers", "header", "setting", "step"];
    assert_eq!(kinds, all, "every kind is in it");

    let schema = Line::schema();
    let shown = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    assert_kept(&here("../hooks-runtime/src/record/schema.json"), &shown);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in kept.lines() {
        let value = serde_json::from_str(line).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{line}\n{error} at {}", error.instance_path());
        }
        // The schema tells: each key that is not optional is asked for.
        let mut less = value.clone();
        less.as_object_mut().unwrap().remove("seq");
        assert!(!validator.is_valid(&less));
        let mut other = value.clone();
        other["kind"] = "mood".into();
        assert!(!validator.is_valid(&other));
    }
}

/// L38: what was written before a line said which call had made a fire is read still.
#[test]
fn l38_an_older_recording_is_read() {
    let fires = Reader::open(here("tests/record_golden/older.jsonl")).unwrap().fires();
    let fires: Vec<_> = fires.collect::<Result<_, _>>().unwrap();
    assert!(fires.iter().any(|fire| fire.fire.parent.is_some()));
    assert!(fires.iter().all(|fire| fire.fire.parent_call.is_none()));
}
