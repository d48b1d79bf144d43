//! Code of others in a recorded fire: values, redactions, clocks, observers and wakers that
//! panic, fail or fire (L12). Whatever they do, the fire comes to the same and each line is
//! one line of JSON.

mod record_support;
mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime};

use hooks_runtime::observe::{FireEnd, ObservedFire, Observer};
use hooks_runtime::record::{CapturePolicy, Captured, Line, LineKind, NotCaptured, Part, Recorder};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, hook_points, on};
use record_support::{Text, call, fires, recorded};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use support::{keep_quiet, poll_once};

/// A value that does not serialise well.
#[derive(Clone, Debug, PartialEq)]
pub enum Odd {
    Fine(u32),
    Fails,
    Panics,
    Long(usize),
    Number(f64),
    Wide(u128),
}

impl Serialize for Odd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fine(n) => serializer.serialize_u32(*n),
            Self::Fails => Err(serde::ser::Error::custom("no\nform")),
            Self::Panics => panic!("planned: in serialize"),
            Self::Long(n) => serializer.serialize_str(&"x".repeat(*n)),
            Self::Number(n) => serializer.serialize_f64(*n),
            Self::Wide(n) => serializer.serialize_u128(*n),
        }
    }
}

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u32::deserialize(from).map(Self::Fine)
    }
}

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    /// A value that may be odd.
    pub gating Judged(Odd);
    /// Text.
    pub void Said { text: String }
}

const PLANNED: &[&str] = &[
    "planned: in serialize",
    "planned: in redaction",
    "planned: in clock",
    "planned: in observer",
    "planned: in waker",
];

fn full(recorder: Recorder) -> Recorder {
    recorder.catalogue(&points()).capture("*", CapturePolicy::Full)
}

/// L12: what cannot be made into JSON is missing, with the reason, and the fire goes on.
#[tokio::test]
async fn l12_values_that_fail_panic_or_are_too_large_are_missing_and_the_fire_goes_on() {
    keep_quiet(PLANNED);
    let missing = |why| Captured::Missing { why };
    let odd = [
        (Odd::Fails, missing(NotCaptured::Failed { problem: "no\nform".into() })),
        (Odd::Panics, missing(NotCaptured::Panicked { problem: "planned: in serialize".into() })),
        (Odd::Long(99), missing(NotCaptured::TooLarge { bytes: 101, most: 100 })),
        (Odd::Long(98), Captured::Full { value: json!("x".repeat(98)) }),
        (
            Odd::Wide(u128::MAX),
            missing(NotCaptured::Failed { problem: "number out of range".into() }),
        ),
        // JSON has no such numbers, and serde writes them so.
        (Odd::Number(f64::NAN), Captured::Full { value: json!(null) }),
        (Odd::Number(f64::INFINITY), Captured::Full { value: json!(null) }),
    ];
    for (value, expected) in odd {
        let hooks = HookRegistry::new();
        let echo = |value: &Odd| Verdict::Replace(value.clone());
        hooks.register(on::<Judged>().name("echo").handler(echo)).unwrap();
        let lines = recorded(
            &hooks,
            |it| full(it).value_bytes(100),
            async || {
                let gate = hooks.fire_gating::<Judged>(value.clone()).await.unwrap();
                assert!(matches!(gate, Gate::Passed(_)));
            },
        )
        .await;
        assert_eq!(fires(&lines)[0].payload, expected, "{value:?}");
        let answer = call(&lines, "echo").answer.clone().unwrap();
        match expected {
            Captured::Missing { why: NotCaptured::TooLarge { .. } } | Captured::Full { .. } => {}
            expected => assert_eq!(answer, expected, "{value:?}"),
        }
        assert_eq!(call(&lines, "echo").decision.as_ref().unwrap().as_str(), "replaced");
    }
}

/// L12: a redaction that panics leaves nothing of the value, and nobody notices but the
/// recording.
#[tokio::test]
async fn l12_a_redaction_that_panics_lets_nothing_through() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    let no = |_: &Odd| Judgement::reject("secret reason");
    hooks.register(on::<Judged>().name("no").guard(no)).unwrap();
    let policy = CapturePolicy::redacted(|_, _, value| {
        *value = json!("half done: secret");
        // As that of a slice is, which quotes the text that it is of.
        panic!("planned: in redaction of {value}");
    });
    let ask = |it: Recorder| it.catalogue(&points()).capture("judged", policy);
    let lines = recorded(&hooks, ask, async || {
        let gate = hooks.fire_gating::<Judged>(Odd::Fine(1)).await.unwrap();
        assert_eq!(gate.into_result().unwrap_err().reason(), "secret reason");
    })
    .await;
    let panicked =
        Captured::Missing { why: NotCaptured::Panicked { problem: "in the redaction".into() } };
    assert_eq!(fires(&lines)[0].payload, panicked);
    assert_eq!(call(&lines, "no").answer, Some(panicked));
    assert!(!format!("{lines:?}").contains("secret"), "{lines:#?}");
}

/// L12: why a value is no JSON may quote it, and is redacted as text.
#[tokio::test]
async fn l12_why_a_value_is_missing_is_redacted_too() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Judged>().name("echo").handler(|it: &Odd| Verdict::Replace(it.clone())))
        .unwrap();
    for (odd, why) in [
        (Odd::Fails, NotCaptured::Failed { problem: "…".into() }),
        (Odd::Panics, NotCaptured::Panicked { problem: "…".into() }),
    ] {
        let policy = CapturePolicy::redacted(|_, part, value| {
            assert_eq!(part, Part::Text);
            *value = json!("…");
        });
        let ask = |it: Recorder| it.catalogue(&points()).capture("judged", policy);
        let lines = recorded(&hooks, ask, async || {
            let gate = hooks.fire_gating::<Judged>(odd.clone()).await.unwrap();
            assert!(matches!(gate, Gate::Passed(_)));
        })
        .await;
        let missing = Captured::Missing { why };
        assert_eq!(fires(&lines)[0].payload, missing);
        assert_eq!(call(&lines, "echo").answer, Some(missing));
    }
}

/// L12: names and texts of others stay in one line, as they are.
#[tokio::test]
async fn l12_names_and_texts_with_line_breaks_stay_in_one_line() {
    let wild = "a\nb\r\u{0}\u{7f}\u{2028}\u{2029}\u{1b}[31m\"\\ü😀";
    let hooks = HookRegistry::new();
    let fails = move |_: &SaidPayload| Err::<(), _>(wild);
    let name = "a \"b\\c\" ü😀";
    hooks.register(on::<Said>().name(name).handler(fails)).unwrap();
    let operator = hooks.operator();
    let setting = operator.time_limit("said:*", Duration::from_secs(1)).by(wild);
    setting.because(wild).apply().unwrap();
    let text = Text::default();
    let recorder = full(Recorder::into_writer(text.clone())).run(wild);
    let (recording, writer) = recorder.start(&hooks).unwrap();
    hooks.fire_void::<Said>(&SaidPayload { text: wild.into() }).await.unwrap();
    drop(writer);
    let summary = recording.close().await;
    let text = text.get();
    assert_eq!(text.matches('\n').count() as u64, summary.lines);
    let lines: Vec<_> = text.lines().map(|line| Line::parse(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line.run == wild));
    assert_eq!(fires(&lines)[0].payload.value().unwrap()["text"], wild);
    let call = call(&lines, name);
    assert_eq!(call.failure.as_ref().unwrap().message, wild);
    let LineKind::Header(header) = &lines[0].kind else { panic!("the header") };
    assert_eq!(header.settings[0].why.as_deref(), Some(wild));
    // A text that is too long is cut, at a character.
    let long = recorded(
        &hooks,
        |it| it.value_bytes(9),
        async || {
            hooks.fire_void::<Said>(&SaidPayload { text: wild.into() }).await.unwrap();
        },
    )
    .await;
    let message = &record_support::call(&long, name).failure.as_ref().unwrap().message;
    assert_eq!(message, "a\nb\r\u{0}\u{7f}\u{2028}…");
}

/// L12: a clock that panics tells no time, and nothing else happens.
#[tokio::test]
async fn l12_a_clock_that_panics_is_contained() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    hooks.register(on::<Said>().handler(|_: &SaidPayload| ())).unwrap();
    let clock = || -> SystemTime { panic!("planned: in clock") };
    let lines = recorded(
        &hooks,
        |it| it.clock(clock),
        async || {
            hooks.fire_void::<Said>(&SaidPayload { text: String::new() }).await.unwrap();
            hooks.register(on::<Said>().handler(|_: &SaidPayload| ())).unwrap();
        },
    )
    .await;
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| line.at_ns == 0));
}

#[derive(Debug)]
struct Panics;

impl Observer for Panics {
    fn fire_started(&self, _: &ObservedFire) {
        panic!("planned: in observer");
    }

    fn fire_ended(&self, _: &ObservedFire, _: &FireEnd<'_>, _: Duration) {
        panic!("planned: in observer");
    }
}

/// L12: an observer that panics takes nothing from the recording.
#[tokio::test]
async fn l12_an_observer_that_panics_takes_nothing_from_a_recording() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::builder().observer(Panics).build();
    hooks.register(on::<Said>().handler(|_: &SaidPayload| ())).unwrap();
    let lines = recorded(&hooks, full, async || {
        hooks.fire_void::<Said>(&SaidPayload { text: "a".into() }).await.unwrap();
    })
    .await;
    assert_eq!(fires(&lines)[0].outcome, "notified");
}

/// L26: a redaction that fires what it redacts has an end.
#[tokio::test]
async fn l26_a_redaction_that_fires_comes_to_an_end() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    hooks.register(on::<Said>().name("log").handler(|_: &SaidPayload| ())).unwrap();
    let (inner, asked) = (hooks.clone(), Arc::new(AtomicU32::new(0)));
    let counted = asked.clone();
    let fires_in_turn = CapturePolicy::redacted(move |_, _, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        let payload = SaidPayload { text: "again".into() };
        let fire = pin!(inner.fire_void::<Said>(&payload));
        assert!(poll_once(fire).is_ready());
    });
    let ask = |it: Recorder| it.catalogue(&points()).capture("said", fires_in_turn);
    let lines = recorded(&hooks, ask, async || {
        hooks.fire_void::<Said>(&SaidPayload { text: "once".into() }).await.unwrap();
    })
    .await;
    let (count, recorded) = (asked.load(Ordering::Relaxed), fires(&lines).len() as u32);
    assert!((2..20).contains(&count) && recorded >= 2, "{count} {recorded}");
    let depths: Vec<_> = fires(&lines).iter().map(|fire| fire.depth).collect();
    assert_eq!(depths.iter().max(), Some(&(recorded - 1)), "{depths:?}");
}

/// L26: a clock that fires what it tells the time of has an end.
#[tokio::test]
async fn l26_a_clock_that_fires_comes_to_an_end() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    hooks.register(on::<Said>().name("log").handler(|_: &SaidPayload| ())).unwrap();
    let (inner, asked) = (hooks.clone(), Arc::new(AtomicU32::new(0)));
    let counted = asked.clone();
    let fires_in_turn = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let payload = SaidPayload { text: "again".into() };
        let fire = pin!(inner.fire_void::<Said>(&payload));
        assert!(poll_once(fire).is_ready());
        SystemTime::UNIX_EPOCH
    };
    let lines = recorded(
        &hooks,
        |it| it.clock(fires_in_turn),
        async || {
            hooks.fire_void::<Said>(&SaidPayload { text: "once".into() }).await.unwrap();
        },
    )
    .await;
    let asked = asked.load(Ordering::Relaxed);
    assert!((2..1_000).contains(&asked), "{asked}");
    assert!(fires(&lines).iter().all(|fire| fire.depth < 4));
}

struct Bad(AtomicBool);

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        panic!("planned: in waker");
    }
}

/// L12: the waker of the writer's task is called by fires, and may panic.
#[tokio::test]
async fn l12_a_waker_of_the_writer_that_panics_does_not_reach_the_fire() {
    keep_quiet(PLANNED);
    let (hooks, text) = (HookRegistry::new(), Text::default());
    hooks.register(on::<Said>().handler(|_: &SaidPayload| ())).unwrap();
    let (recording, writer) = Recorder::into_writer(text.clone()).start(&hooks).unwrap();
    let mut writing = Box::pin(writer.run());
    let bad = Arc::new(Bad(AtomicBool::new(false)));
    let waker = Waker::from(bad.clone());
    assert!(writing.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    hooks.fire_void::<Said>(&SaidPayload { text: String::new() }).await.unwrap();
    assert!(bad.0.load(Ordering::Relaxed), "it was woken");
    drop(recording);
    let mut task = Context::from_waker(Waker::noop());
    let summary = loop {
        if let Poll::Ready(summary) = writing.as_mut().poll(&mut task) {
            break summary;
        }
    };
    assert_eq!(summary.fires, 1);
}

/// L25: nothing of a recording outlives it: neither its redaction, nor what it captured.
#[tokio::test]
async fn l25_what_a_recording_holds_goes_with_it() {
    let hooks = HookRegistry::new();
    let held = Arc::new(());
    let kept = held.clone();
    let policy = CapturePolicy::redacted(move |_, _, _| drop(kept.clone()));
    let recorder = Recorder::into_writer(std::io::sink()).catalogue(&points());
    let (recording, writer) = recorder.capture("said", policy).start(&hooks).unwrap();
    hooks.fire_void::<Said>(&SaidPayload { text: String::new() }).await.unwrap();
    drop(recording);
    drop(writer);
    assert_eq!(Arc::strong_count(&held), 1);
}
