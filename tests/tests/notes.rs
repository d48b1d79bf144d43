//! What handlers note of their calls: in the row of the report, and of no other call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooks_runtime::operator::{TraceFilter, TraceLimit};
use hooks_runtime::report::FireReport;
use hooks_runtime::{HookContext, HookRegistry, Verdict, hook_points, on};
use tokio::task::yield_now;

hook_points! {
    pub void Noted { n: u32 }
    pub gating Send(u32);
    pub claiming Inner(u32) -> u32;
}

fn notes(report: &FireReport, handler: &str) -> Vec<(&'static str, String)> {
    let row = report.handler(handler).unwrap();
    row.notes().map(|(key, value)| (key, value.to_owned())).collect()
}

/// L21: calls that run at the same time each have their own, from every poll of theirs, and
/// the last value of a key.
#[tokio::test]
async fn l21_concurrent_calls_have_their_own_notes() {
    let hooks = HookRegistry::new();
    for name in ["a", "b"] {
        let noting = async |name: &&'static str, _: &NotedPayload, cx: &HookContext| {
            cx.note("by", *name);
            cx.note("step", "1");
            yield_now().await;
            cx.note("step", "2");
            yield_now().await;
            cx.note("end", format!("of {name}"));
        };
        hooks.register(on::<Noted>().name(name).handler_with(name, noting)).unwrap();
    }
    hooks.register(on::<Noted>().name("silent").handler(async |_: &NotedPayload| ())).unwrap();
    let (_, report) = hooks.fire_void_reported::<Noted>(&NotedPayload { n: 1 }).await;
    for name in ["a", "b"] {
        let expected = [("by", name), ("step", "2"), ("end", &*format!("of {name}"))]
            .map(|(key, value)| (key, value.to_owned()));
        assert_eq!(notes(&report, name), expected);
    }
    assert_eq!(notes(&report, "silent"), []);
    assert_eq!(report.handler("a").unwrap().note("none"), None);
}

/// L21: a call without a report notes nothing in the row of the call that fired it, also where
/// both are of one handler.
#[tokio::test]
async fn l21_a_nested_call_notes_nothing_in_the_outer_row() {
    let hooks = HookRegistry::new();
    let twice = async |n: &u32, cx: &HookContext| {
        cx.note(if *n == 0 { "inner" } else { "outer" }, "before");
        if *n > 0 {
            let _ = Box::pin(cx.hooks().fire_claiming::<Inner>(&(n - 1))).await;
            cx.note("after", "the nested fire");
        }
        Some(*n)
    };
    hooks.register(on::<Inner>().name("twice").handler(twice)).unwrap();
    let (_, report) = hooks.fire_claiming_reported::<Inner>(&1).await;
    let expected = [("outer", "before"), ("after", "the nested fire")];
    assert_eq!(notes(&report, "twice"), expected.map(|(key, value)| (key, value.to_owned())));
}

/// L21: what was noted before a failure is in the row, whatever the failure is; text of others
/// is shown escaped.
#[tokio::test(start_paused = true)]
async fn l21_notes_of_a_call_that_failed_are_kept() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Noted>().name("panics").handler(|_: &NotedPayload, cx: &HookContext| {
                cx.note("at", "line\n2");
                if cx.point() == "noted" {
                    panic!("broken");
                }
            }),
            on::<Noted>().name("waits").timeout(Duration::from_secs(1)).handler(
                async |_: &NotedPayload, cx: &HookContext| {
                    cx.note("at", "the gate");
                    std::future::pending::<()>().await;
                },
            ),
        ])
        .unwrap();
    let (_, report) = hooks.fire_void_reported::<Noted>(&NotedPayload { n: 1 }).await;
    assert_eq!(report.handler("panics").unwrap().note("at"), Some("line\n2"));
    assert_eq!(report.handler("waits").unwrap().note("at"), Some("the gate"));
    let shown = report.to_string();
    assert!(shown.contains(r" {at: line\n2}"), "{shown}");
    assert!(shown.ends_with(" {at: the gate}"), "{shown}");
}

/// Counts how often it is made into text.
struct Made(&'static AtomicUsize);

impl From<Made> for String {
    fn from(made: Made) -> Self {
        made.0.fetch_add(1, Ordering::Relaxed);
        "value".to_owned()
    }
}

/// L21: where there is no row, the value of a note is not made.
#[tokio::test]
async fn l21_a_note_without_a_report_is_not_made() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let hooks = HookRegistry::new();
    let note = |n: &u32, cx: &HookContext| {
        cx.note("key", Made(&MADE));
        Some(*n)
    };
    hooks.register(on::<Inner>().name("noting").handler(note)).unwrap();
    let _ = hooks.fire_claiming::<Inner>(&1).await.unwrap();
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
    let (_, report) = hooks.fire_claiming_reported::<Inner>(&1).await;
    assert_eq!(report.handler("noting").unwrap().note("key"), Some("value"));
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

/// L21: traces have them as well; a fire without either keeps none, and goes on as it would.
#[tokio::test]
async fn l21_traces_show_notes() {
    let hooks = HookRegistry::new();
    let pass = |_: &u32, cx: &HookContext| {
        cx.note("edition", "7");
        Verdict::<u32, String>::Pass
    };
    hooks.register(on::<Send>().name("list").handler(pass)).unwrap();
    assert!(hooks.fire_gating::<Send>(1).await.unwrap().into_result().is_ok());
    let mut trace =
        hooks.operator().trace(TraceFilter::at::<Send>(), TraceLimit::count(1)).unwrap();
    assert!(hooks.fire_gating::<Send>(1).await.unwrap().into_result().is_ok());
    let traced = trace.next().await.unwrap();
    assert_eq!(traced.report().handler("list").unwrap().note("edition"), Some("7"));
}

/// L21: notes of many calls that run at the same time are kept without looking through all of
/// them for each.
#[tokio::test]
async fn l21_notes_of_many_calls_cost_no_more_for_each() {
    let took = async |is_noting: bool| {
        let hooks = HookRegistry::new();
        let noting = async |is_noting: &bool, _: &NotedPayload, cx: &HookContext| {
            for step in ["first", "second"] {
                if *is_noting {
                    cx.note("step", step);
                }
                yield_now().await;
            }
        };
        let one = |at: u32| on::<Noted>().name(format!("{at}")).handler_with(is_noting, noting);
        hooks.register((0..10_000).map(one).collect::<Vec<_>>()).unwrap();
        let since = Instant::now();
        let (_, report) = hooks.fire_void_reported::<Noted>(&NotedPayload { n: 1 }).await;
        let took = since.elapsed();
        let noted = report.handlers().iter().filter(|row| row.note("step") == Some("second"));
        assert_eq!(noted.count(), if is_noting { 10_000 } else { 0 });
        took
    };
    let (silent, noting) = (took(false).await, took(true).await);
    assert!(noting < silent * 20, "{noting:?}, and {silent:?} without notes");
}
