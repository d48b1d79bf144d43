//! What does a recording cost the fire that is recorded? The writer has a thread of its own
//! and writes to nowhere: what the disk takes is not the fire's.

use std::hint::black_box;
use std::io;
use std::thread;

use hooks_runtime::record::{CapturePolicy, Recorder};
use hooks_runtime::{HookPoint, HookRegistry};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::points::{HEAR, Hear, hearers, serialised};
use crate::questions::FINE;

const PLAIN: &str = "hooks, not recorded";

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    vec![table(effort)]
}

fn table(effort: Effort) -> Table {
    let plain = hearers(8);
    let policies = [CapturePolicy::None, CapturePolicy::Hash, CapturePolicy::Full];
    let names = ["hooks, recorded", "hooks, recorded, a hash", "hooks, recorded, the payload"];
    let recorded = policies.map(recording);
    let mut contenders = vec![contender(PLAIN, &plain)];
    contenders.extend(names.into_iter().zip(&recorded).map(|(name, hooks)| contender(name, hooks)));
    Table::new("8 handlers", PLAIN, measure(effort, contenders))
}

fn contender<'h>(name: &'static str, hooks: &'h HookRegistry) -> Contender<'h> {
    Contender::fire(name, async || {
        hooks.fire_void::<Hear>(black_box(&HEAR)).await.expect(FINE);
    })
}

/// A registry that is recorded for as long as it is there.
fn recording(policy: CapturePolicy) -> HookRegistry {
    let hooks = hearers(8);
    let recorder = Recorder::into_writer(io::sink()).catalogue(&serialised());
    let recorder = recorder.capture(Hear::NAME, policy);
    let (recording, writer) = recorder.start(&hooks).expect("it begins");
    // Ended by the drop of the registry.
    std::mem::forget(recording);
    thread::spawn(|| futures::executor::block_on(writer.run()));
    hooks
}
