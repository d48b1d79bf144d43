//! What handlers say stays one line in the log (L20).
//!
//! A program of its own: `tracing` remembers for the whole process whether
//! any subscriber wants an event, so another test's thread could switch it off.

mod support;

use std::fmt::Debug;

use hooks_runtime::observe::{ObservedFire, Observer};
use hooks_runtime::{HookRegistry, hook_points, on};
use support::{Log, keep_quiet};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

hook_points! {
    pub void Tell { n: u32 }
}

/// Clears the screen, forges a line, turns the rest around and hides a letter.
const NASTY: &str = "no\u{1b}[2J\nINFO granted\u{202e}\u{2028}\u{200b}.";
const SHOWN: &str = r"no\u{1b}[2J\nINFO granted\u{202e}\u{2028}\u{200b}.";

/// Notes the texts of events, and of the fields those that are printed as text.
struct Texts(Log);

struct Fields<'l>(&'l Log);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if ["message", "panic"].contains(&field.name()) {
            self.0.push(format!("{}: {value:?}", field.name()));
        }
    }

    fn record_str(&mut self, _: &Field, _: &str) {}
}

impl Subscriber for Texts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hooks_runtime")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields(&self.0));
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Debug)]
struct Panics;

impl Observer for Panics {
    fn fire_started(&self, _: &ObservedFire) {
        panic!("{NASTY}");
    }
}

#[tokio::test]
async fn l20_the_text_of_an_event_is_one_line() {
    keep_quiet(&[NASTY]);
    let log = Log::new();
    let _quiet = tracing::subscriber::set_default(Texts(log.clone()));
    let hooks = HookRegistry::builder().observer(Panics).build();
    hooks
        .register([
            on::<Tell>().name("fails").handler(|_: &TellPayload| Err::<(), _>(NASTY)),
            on::<Tell>().name("panics").handler(|_: &TellPayload| -> () { panic!("{NASTY}") }),
        ])
        .unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    let expected = [
        "message: an observer panicked".to_owned(),
        format!("panic: {SHOWN}"),
        format!("message: a hook handler failed: {SHOWN}"),
        format!("message: a hook handler failed: panicked: {SHOWN}"),
    ];
    assert_eq!(log.take(), expected);
}
