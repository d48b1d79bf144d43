//! The record of one fire: notifies the observers, and collects the rows of the
//! report.

#[cfg(feature = "record")]
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::call::CallRecord;
use crate::engine::fire::FireInfo;
use crate::engine::nesting;
use crate::engine::raw::{Nested, chain};
use crate::error::FireError;
use crate::flow::{FlowStep, NotRun, StepStatus};
#[cfg(feature = "record")]
use crate::handler::target::Target;
#[cfg(feature = "record")]
use crate::json::JsonPoint;
use crate::observe::notes::Note;
use crate::observe::{
    FireEnd, ObservedCall, ObservedFire, ObservedStep, Observer, logs_failures, notify,
};
use crate::operator::Setting;
use crate::operator::rules::HandlerRules;
use crate::operator::trace::{FireTraces, Payload};
use crate::point::PointDescriptor;
#[cfg(feature = "record")]
use crate::record::{FireRecording, RawAnswer, StageRun, Timed};
#[cfg(feature = "replay")]
use crate::registry::copy::ForReplay;
use crate::registry::entry::Entry;
use crate::registry::list::HandlerList;
use crate::report::{FireReport, HandlerReport, HandlerStatus, SkipReason};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, OnceLock, statics};

/// A fire that is observed or reported. Its end is recorded once: by
/// `fire_ended`, or, when the fire is dropped, by dropping this.
pub(crate) struct Recorder<'f> {
    fire: ObservedFire,
    point: &'static PointDescriptor,
    registry: usize,
    observers: &'f [Arc<dyn Observer>],
    since: Instant,
    ended: AtomicBool,
    report: Option<Rows>,
    /// The traces of operators that the fire may be part of.
    traces: Option<Box<FireTraces<'f>>>,
    /// The recording that it is written to.
    #[cfg(feature = "record")]
    recording: Option<Box<FireRecording>>,
    /// The replay that its registry is a copy for.
    #[cfg(feature = "replay")]
    replay: Option<&'f dyn ForReplay>,
    /// Of a stage: how its run was after the last handler, where answers are recorded.
    #[cfg(feature = "record")]
    stage: Mutex<Option<Box<StageRun>>>,
    is_only_traced: bool,
}

/// The rows of a report while its fire runs.
#[derive(Default)]
struct Rows {
    ended: Mutex<Vec<(u64, HandlerReport)>>,
    /// What the calls that run have noted, by their numbers.
    notes: Mutex<BTreeMap<u64, Vec<Note>>>,
    /// The handlers' ids in the order of the list: concurrent handlers end in
    /// any order, but are reported in the order in which they start.
    order: OnceLock<Vec<u64>>,
    /// The break-glass settings that held when the fire began.
    break_glass: Vec<Setting>,
}

impl Rows {
    fn new(FireInfo { hooks, .. }: FireInfo<'_>) -> Self {
        Self { break_glass: hooks.inner.holding_break_glass(), ..Self::default() }
    }
}

/// Fires and calls are numbered together, so that no two have the same number.
static NEXT_ID: statics::AtomicU64 = statics::AtomicU64::new(1);

pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl<'f> Recorder<'f> {
    /// The record of a fire that observers are notified of.
    pub(crate) fn observing(info: FireInfo<'f>) -> Self {
        Self::new(info, None, None)
    }

    /// The record of a fire that returns a report.
    pub(crate) fn reporting(info: FireInfo<'f>) -> Self {
        Self::new(info, Some(Rows::new(info)), None)
    }

    /// The record of a stage of this run, with a report if `reported`.
    pub(crate) fn stage(&self, info: FireInfo<'f>, reported: bool) -> Self {
        Self::new(info, reported.then(|| Rows::new(info)), Some(self.fire.id()))
    }

    fn new(info: FireInfo<'f>, report: Option<Rows>, run: Option<u64>) -> Self {
        let FireInfo { hooks, point, .. } = info;
        let (registry, config) = (hooks.registry(), &hooks.inner.config);
        let endless = nesting::is_endless(registry, config.depth);
        let observers = if endless { &[][..] } else { &config.observers };
        let nested = (nesting::depth(registry), nesting::innermost());
        let fire = ObservedFire::new(next_id(), point, nested, run);
        // Where observers would have no end, traces would not either.
        let traces = if endless { None } else { FireTraces::of(&hooks.inner, point) };
        #[cfg(feature = "record")]
        let recording = if endless {
            None
        } else {
            FireRecording::of(info, Nested { point, registry, fire: fire.id() }, fire.parent())
        };
        let is_only_traced = report.is_none() && config.observers.is_empty();
        let report = report.or_else(|| traces.is_some().then(|| Rows::new(info)));
        let (since, ended) = (Instant::now(), AtomicBool::new(false));
        let recorder = Self {
            fire,
            point,
            registry,
            observers,
            since,
            ended,
            report,
            traces,
            #[cfg(feature = "record")]
            recording,
            #[cfg(feature = "replay")]
            replay: config.replay.as_deref(),
            #[cfg(feature = "record")]
            stage: Mutex::default(),
            is_only_traced,
        };
        recorder.notify(|observer| observer.fire_started(&recorder.fire));
        recorder
    }

    /// The number of the fire.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.fire.id()
    }

    pub(crate) fn notify(&self, what: impl Fn(&dyn Observer)) {
        if !self.observers.is_empty() {
            chain::observing(self.nested(), || notify(self.observers, what));
        }
    }

    /// The fire, as observers see it.
    pub(crate) fn fire(&self) -> &ObservedFire {
        &self.fire
    }

    /// Records that a step of this run starts; returns its number.
    pub(crate) fn step_started(&self, step: FlowStep) -> u64 {
        let id = next_id();
        self.notify(|observer| observer.step_started(&ObservedStep::new(id, &self.fire, step)));
        id
    }

    /// Records that a step of this run ended.
    pub(crate) fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, took: Duration) {
        self.notify(|observer| observer.step_ended(step, status, took));
        #[cfg(feature = "record")]
        if let Some(recording) = &self.recording {
            recording.step(step.step(), status, Some(took));
        }
    }

    /// Records that a step of this run is not run.
    pub(crate) fn step_not_run(&self, step: FlowStep, reason: NotRun) {
        #[cfg(feature = "record")]
        if let Some(recording) = &self.recording {
            recording.step(step, &StepStatus::NotRun(reason), None);
        }
        let step = ObservedStep::new(0, &self.fire, step);
        self.notify(|observer| observer.step_not_run(&step, reason));
    }

    /// Whether neither observers nor a report, but only traces are why it is recorded.
    pub(crate) fn is_only_traced(&self) -> bool {
        self.is_only_traced
    }

    /// Whether failures go to the log as well.
    pub(crate) fn logs_failures(&self) -> bool {
        logs_failures(self.observers)
    }

    /// Notes the handlers that this fire walks, in order.
    pub(crate) fn walks(&self, list: &HandlerList) {
        if let Some(report) = &self.report {
            let ids = || list.handlers().map(|handler| handler.entry.id).collect();
            report.order.get_or_init(ids);
        }
        #[cfg(feature = "record")]
        if let Some(recording) = &self.recording {
            recording.walks(list);
        }
    }

    /// Records that a call starts; returns its number.
    pub(crate) fn call_started(&self, entry: &Entry) -> u64 {
        let id = next_id();
        self.notify(|observer| observer.handler_started(&self.call(id, entry)));
        #[cfg(feature = "record")]
        self.record(|recording| recording.call_started(id));
        id
    }

    /// Records that a call ended.
    pub(crate) fn call_ended(
        &self,
        entry: &Entry,
        record: &CallRecord,
        status: HandlerStatus,
        rules: Option<&HandlerRules>,
    ) {
        let call = self.call(record.number, entry);
        let elapsed = record.elapsed();
        self.notify(|observer| observer.handler_ended(&call, &status, elapsed.unwrap_or_default()));
        let overrun = record.overrun().map(|(limit, _)| limit);
        #[cfg(feature = "record")]
        self.record(|recording| {
            let timed = Timed { call: record.number, elapsed, overrun };
            recording.call_ended(entry, Some(timed), &status, rules);
        });
        if self.report.is_none() {
            return;
        }
        let row = HandlerReport::new(entry, status, elapsed, overrun, rules);
        self.end_row(row.with_notes(self.take_notes(record.number)), entry);
    }

    /// Whether notes of handlers are kept: there is a report to show them in.
    pub(crate) fn keeps_notes(&self) -> bool {
        self.report.is_some()
    }

    /// Records what a call has noted of itself.
    #[cold]
    pub(crate) fn noted(&self, id: u64, noted: Vec<Note>) {
        if let Some(Rows { notes, .. }) = &self.report {
            let mut kept = notes.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = kept.entry(id).or_default();
            for (key, value) in noted {
                kept.retain(|(earlier, _)| *earlier != key);
                kept.push((key, value));
            }
        }
    }

    fn take_notes(&self, id: u64) -> Vec<Note> {
        let Some(Rows { notes, .. }) = &self.report else { return Vec::new() };
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.remove(&id).unwrap_or_default()
    }

    /// Records that a call ended by itself after its time limit.
    pub(crate) fn overran(
        &self,
        entry: &Entry,
        record: &CallRecord,
        limit: Duration,
        elapsed: Duration,
    ) {
        let call = self.call(record.number, entry);
        self.notify(|observer| observer.handler_overran(&call, limit, elapsed));
    }

    /// Records that the code of a call is about to run, or has just run.
    pub(crate) fn polling(&self, id: u64, entry: &Entry, about_to: bool) {
        let call = self.call(id, entry);
        if about_to {
            self.notify(|observer| observer.poll_started(&call));
        }
        #[cfg(feature = "record")]
        if self.recording.is_some() {
            crate::record::polling(self.id(), id, about_to);
        }
        if !about_to {
            self.notify(|observer| observer.poll_ended(&call));
        }
    }

    /// Records that a handler is not called.
    pub(crate) fn skipped(&self, entry: &Entry, reason: SkipReason, rules: Option<&HandlerRules>) {
        self.notify(|observer| observer.handler_filtered(&self.call(0, entry), reason));
        let status = HandlerStatus::Filtered(reason);
        #[cfg(feature = "record")]
        self.record(|recording| recording.call_ended(entry, None, &status, rules));
        self.end_row(HandlerReport::new(entry, status, None, None, rules), entry);
    }

    fn end_row(&self, row: HandlerReport, entry: &Entry) {
        if let Some(Rows { ended, .. }) = &self.report {
            ended.lock().unwrap_or_else(PoisonError::into_inner).push((entry.id, row));
        }
    }

    fn call<'c>(&'c self, id: u64, entry: &'c Entry) -> ObservedCall<'c> {
        ObservedCall::new(id, &self.fire, entry)
    }

    pub(crate) fn fire_ended_with(
        &self,
        result: &Result<(), FireError>,
        outcome: impl FnOnce() -> &'static str,
    ) {
        self.fire_ended(&match result {
            Ok(()) => FireEnd::Completed(outcome()),
            Err(error) => FireEnd::Failed(error),
        });
    }

    /// Records the end of the fire. Only the first end counts.
    pub(crate) fn fire_ended(&self, end: &FireEnd<'_>) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            let elapsed = self.since.elapsed();
            self.notify(|observer| observer.fire_ended(&self.fire, end, elapsed));
            if let Some(traces) = &self.traces {
                // Its poll is over, but the clock and wakers may fire in turn.
                let report = || self.report_so_far();
                chain::observing(self.nested(), || traces.end(&self.fire, end, elapsed, report));
            }
            #[cfg(feature = "record")]
            self.record(|recording| recording.end(&self.fire, end, elapsed));
        }
    }

    /// Asks the traces that may match the fire, which begins with that payload, and
    /// the recording that it is part of.
    pub(crate) fn begin(&self, payload: &mut Payload<'_>) {
        #[cfg(feature = "record")]
        {
            self.record(|recording| recording.begin(payload));
            #[cfg(feature = "replay")]
            if let (Some(replay), Some(_)) = (self.replay, self.fire.parent())
                && let Some(json) = replay.json(self.point)
                && let Some(Ok(payload)) = crate::record::raw_payload(json, payload)
            {
                replay.begun(self.id(), payload);
            }
            if let Some(run) = self.stage_run(payload) {
                *self.stage.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Box::new(StageRun::new(run)));
            }
        }
        if let Some(traces) = &self.traces {
            // The clock, and code of the one who traces: both may fire in turn.
            chain::observing(self.nested(), || traces.begin(self.point, payload));
        }
    }

    /// What is written to the recording, if there is one. Its clock and its redaction are
    /// code of the one who records, which may fire in turn.
    #[cfg(feature = "record")]
    fn record(&self, what: impl FnOnce(&FireRecording)) {
        if let Some(recording) = &self.recording {
            chain::observing(self.nested(), || what(recording));
        }
    }

    /// How the recording makes answers into JSON, where it asks for them.
    #[cfg(feature = "record")]
    pub(crate) fn captures_answers(&self) -> Option<JsonPoint> {
        #[cfg(feature = "replay")]
        if let Some(replay) = self.replay {
            return replay.json(self.point);
        }
        self.recording.as_ref()?.captures_answers()
    }

    /// How the run of a stage is, where answers are recorded.
    #[cfg(feature = "record")]
    fn stage_run(&self, payload: &mut Payload<'_>) -> Option<RawAnswer> {
        let (stage, json) = (self.point.stage()?, self.captures_answers()?);
        crate::record::raw_run(json, stage, payload)
    }

    /// Records what a handler of a stage did to its run before it failed.
    #[cfg(feature = "record")]
    #[cold]
    pub(crate) fn failed_in_stage(&self, entry: &Entry, payload: &mut Payload<'_>) {
        if let Some(run) = self.stage_run(payload) {
            self.answered(entry, run);
        }
    }

    /// Records what a handler answered, before its call ends.
    #[cfg(feature = "record")]
    pub(crate) fn answered(&self, entry: &Entry, answer: RawAnswer) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match &mut *stage {
            Some(run) => run.did(answer),
            None => answer,
        };
        drop(stage);
        #[cfg(feature = "replay")]
        if let Some(replay) = self.replay {
            return replay.answered(self.id(), entry, answer);
        }
        self.record(|recording| recording.answered(entry, answer));
    }

    /// Records what the operation of this run returned, before its step ends.
    #[cfg(feature = "record")]
    pub(crate) fn operated(&self, output: &dyn Any) {
        self.record(|recording| recording.operated(output));
    }

    /// Records what this run is for.
    #[cfg(feature = "record")]
    pub(crate) fn for_targets(&self, targets: &[Target]) {
        if let Some(recording) = &self.recording {
            recording.for_targets(targets);
        }
    }

    /// The fire, as the chain of nested fires knows it.
    fn nested(&self) -> Nested {
        Nested { point: self.point, registry: self.registry, fire: self.id() }
    }

    /// The report, as far as handlers have ended.
    fn report_so_far(&self) -> FireReport {
        let Some(Rows { ended, order, break_glass, .. }) = &self.report else {
            return FireReport::without_handlers(self.point);
        };
        let rows = ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        report(self.point, rows, order.get().map_or(&[], |order| order), break_glass.clone())
    }

    /// The report, once the fire has ended.
    pub(crate) fn into_report(mut self) -> FireReport {
        let Rows { ended, order, break_glass, .. } = self.report.take().unwrap_or_default();
        let rows = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        report(self.point, rows, &order.into_inner().unwrap_or_default(), break_glass)
    }
}

/// The report of a fire that walked handlers in that order.
fn report(
    point: &PointDescriptor,
    mut rows: Vec<(u64, HandlerReport)>,
    order: &[u64],
    break_glass: Vec<Setting>,
) -> FireReport {
    let places: HashMap<_, _> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|(id, _)| places.get(id).copied().unwrap_or(usize::MAX));
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    FireReport::new(point, rows).under(break_glass)
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.fire_ended(&FireEnd::Dropped);
    }
}
