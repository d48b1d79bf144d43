//! No failure is silent (L20): each is a `tracing` event.
//!
//! A program of its own: `tracing` remembers for the whole process whether
//! any subscriber wants an event, so another test's thread could switch it off.

mod support;

use std::fmt::{Debug, Write};
use std::time::Duration;

use hooks_runtime::model::FieldSet;
use hooks_runtime::observe::Observer;
use hooks_runtime::{FailurePolicy, HookRegistry, Merge, Verdict, hook_points, on};
use support::{Log, keep_quiet};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
    /// Amends.
    pub modifying Amend { n: u32 } -> { word: &'static str }
    /// Routes.
    pub claiming Route { n: u32 } -> &'static str;
    /// Checks.
    pub gating Check(u32);
    /// Joins.
    pub modifying Join(u32) -> Merged;
}

/// Notes the events of this registry as lines: level, then fields but for the
/// time taken, which is another each time.
struct Lines(Log);

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "elapsed" => {}
            "message" => write!(self.0, " {value:?}").unwrap(),
            name => write!(self.0, " {name}={value:?}").unwrap(),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hooks_runtime") && *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.push(line.0);
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn l20_every_failure_is_an_event_with_what_is_needed_to_find_it() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let limit = Duration::from_secs(1);
    hooks
        .register([
            on::<Tell>()
                .name("error")
                .plugin("shed")
                .handler(|_: &TellPayload| Err::<(), _>("no oil")),
            on::<Tell>().name("panic").handler(|_: &TellPayload| -> () { panic!("no wick") }),
            on::<Tell>()
                .name("slow")
                .timeout(limit)
                .on_failure(FailurePolicy::Closed)
                .handler(async |_: &TellPayload| std::future::pending::<()>().await),
            on::<Tell>().name("fine").handler(|_: &TellPayload| ()),
            on::<Amend>()
                .name("amends")
                .handler(|_: &AmendPayload| Err::<AmendResult, _>("no ink")),
            on::<Route>().name("routes").handler(|_: &RoutePayload| Err::<Option<_>, _>("no map")),
            on::<Check>().name("checks").guard(|_: &u32| Err::<Verdict, _>("no scale")),
        ])
        .unwrap();
    // The test's runtime has this one thread, so all events come here.
    let _events = tracing::subscriber::set_default(Lines(log.clone()));

    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err();
    assert_eq!(
        log.take(),
        [
            r#"WARN a hook handler failed: no oil point="tell" handler="error" owner=plugin `shed` kind="error" policy=fail-open"#,
            r#"WARN a hook handler failed: panicked: no wick point="tell" handler="panic" owner=built-in kind="panic" policy=fail-open"#,
            r#"WARN a hook handler failed: did not finish within 1s point="tell" handler="slow" owner=built-in kind="timeout" policy=fail-closed"#,
        ]
    );
    hooks.fire_modifying::<Amend>(&AmendPayload { n: 1 }).await.unwrap();
    assert!(!hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap().is_claimed());
    hooks.fire_gating::<Check>(1).await.unwrap_err();
    assert_eq!(
        log.take(),
        [
            r#"WARN a hook handler failed: no ink point="amend" handler="amends" owner=built-in kind="error" policy=fail-open"#,
            r#"WARN a hook handler failed: no map point="route" handler="routes" owner=built-in kind="error" policy=fail-open"#,
            r#"WARN a hook handler failed: no scale point="check" handler="checks" owner=built-in kind="error" policy=fail-closed"#,
        ]
    );
}

/// A result whose merge is written by hand, and panics once it has kept what is new.
#[derive(Debug, Default, PartialEq)]
pub struct Merged([Option<&'static str>; 2]);

impl Merge for Merged {
    const FIELDS: &'static [&'static str] = &["bolt", "nut"];

    fn merge(&mut self, later: Self) -> FieldSet {
        for (own, later) in self.0.iter_mut().zip(later.0) {
            *own = own.or(later);
        }
        panic!("no glue");
    }

    fn filled(&self) -> FieldSet {
        let mut filled = FieldSet::new();
        for index in (0..2).filter(|&index| self.0[index].is_some()) {
            filled.insert(index);
        }
        filled
    }
}

/// The handlers have not failed, so only the event says that something panicked.
#[tokio::test]
async fn l20_a_panic_of_a_merge_that_is_written_by_hand_is_an_event() {
    keep_quiet(&["no glue"]);
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks
        .register([
            on::<Join>().handler(|_: &u32| Merged([Some("short"), None])),
            on::<Join>().handler(|_: &u32| Merged([Some("long"), Some("round")])),
        ])
        .unwrap();
    let _events = tracing::subscriber::set_default(Lines(log.clone()));
    let events = ["ERROR dropping what came too late panicked panic=no glue"; 2];
    let both = Merged([Some("short"), Some("round")]);
    assert_eq!(hooks.fire_modifying::<Join>(&1).await.unwrap(), both);
    assert_eq!(log.take(), events);
    let (joined, report) = hooks.fire_modifying_reported::<Join>(&1).await;
    assert_eq!(joined.unwrap(), both);
    assert_eq!(log.take(), events);
    let rows: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(rows, ["set bolt", "set nut"]);
    let infos = hooks.handlers_at::<Join>();
    let counts: Vec<_> = infos.iter().map(|info| (info.calls, info.failures)).collect();
    assert_eq!(counts, [(2, 0); 2]);
}

/// Sees to failures itself, or not.
#[derive(Debug)]
struct Keeps {
    failures: bool,
}

impl Observer for Keeps {
    fn logs_failures(&self) -> bool {
        !self.failures
    }
}

#[tokio::test]
async fn l20_one_observer_that_keeps_failures_keeps_them_from_the_log() {
    let log = Log::new();
    let _events = tracing::subscriber::set_default(Lines(log.clone()));
    for (observers, events) in [(&[false][..], 1), (&[true], 0), (&[false, true], 0)] {
        let mut builder = HookRegistry::builder();
        for &failures in observers {
            builder = builder.observer(Keeps { failures });
        }
        let hooks = builder.build();
        hooks.register(on::<Tell>().handler(|_: &TellPayload| Err::<(), _>("no oil"))).unwrap();
        hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
        assert_eq!(log.take().len(), events, "{observers:?}");
    }
}
