//! The recording of a registry that is under way, if there is one.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::capture::CapturePolicy;
use super::format::{
    BreakerLine, Header, LineKind, PointHandlers, RecordedHandler, RecordedSetting, SettingChanged,
    SettingLine,
};
use super::queue::{Batch, Pending, Queue};
use crate::catalogue::Catalogue;
use crate::engine::containment::contained;
use crate::engine::raw::Contained;
use crate::flow::StageKind;
use crate::json::JsonPoint;
use crate::operator::target::{address, glob};
use crate::operator::{Setting, Transition};
use crate::point::{ModelKind, PointDescriptor};
use crate::registry::Inner;
use crate::registry::entry::{Entry, Phase};
use crate::registry::store::PointStore;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::timer::{now, system_now};

/// The recording of a registry that is under way.
#[derive(Debug, Default)]
pub(crate) struct RecordingSlot {
    /// Whether there is one: most fires that are observed ask no more.
    any: AtomicBool,
    active: Mutex<Option<Arc<RecordingState>>>,
    /// How often settings have changed.
    generation: AtomicU64,
}

type Clock = Box<dyn Fn() -> SystemTime + Send + Sync>;

/// A recording, as its fires, its handle and its writer share it.
pub(crate) struct RecordingState {
    pub(super) run: String,
    pub(super) queue: Queue,
    pub(super) catalogues: Vec<Catalogue>,
    /// For points of these patterns; for all where there are none.
    pub(super) only: Vec<String>,
    /// The last that fits counts.
    pub(super) policies: Vec<(String, CapturePolicy)>,
    pub(super) value_bytes: u64,
    pub(super) clock: Option<Contained<Clock>>,
}

impl RecordingSlot {
    pub(super) fn active(&self) -> Option<Arc<RecordingState>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        self.active.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The recording that fires of that point are written to.
    pub(super) fn of_point(&self, point: &PointDescriptor) -> Option<Arc<RecordingState>> {
        self.active().filter(|recording| recording.is_for(point))
    }

    /// Whether fires of that point are to be recorded.
    pub(crate) fn concerns(&self, point: &PointDescriptor) -> bool {
        self.active().is_some_and(|recording| recording.concerns(point))
    }

    /// The settings of operators have changed, behind the lock.
    pub(crate) fn settings_changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn set(&self, recording: Option<Arc<RecordingState>>) {
        let any = recording.is_some();
        let before = {
            let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *active, recording)
        };
        self.any.store(any, Ordering::Release);
        drop(before);
    }
}

impl Drop for RecordingSlot {
    fn drop(&mut self) {
        if let Some(recording) = self.active() {
            recording.close();
        }
    }
}

impl RecordingState {
    pub(super) fn close(&self) {
        self.queue.close().wake();
    }

    /// The time: nanoseconds since the Unix epoch. A clock that panics is at its start.
    pub(super) fn now_ns(&self) -> u64 {
        let now = match &self.clock {
            None => system_now(),
            Some(clock) => contained(|| (clock.get())()).unwrap_or(SystemTime::UNIX_EPOCH),
        };
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        nanoseconds(since)
    }

    fn is_for(&self, point: &PointDescriptor) -> bool {
        let is_named = |pattern: &String| {
            glob(pattern, point.name()) || point.flow().is_some_and(|flow| glob(pattern, flow))
        };
        self.only.is_empty() || self.only.iter().any(is_named)
    }

    /// The same, or it is for a stage of that flow, whose runs are then recorded too.
    fn concerns(&self, point: &PointDescriptor) -> bool {
        let is_of_stage = || {
            let stages = StageKind::ALL.iter();
            let mut names = stages.map(|stage| format!("{}/{}", point.name(), stage.name()));
            names.any(|name| self.only.iter().any(|pattern| glob(pattern, &name)))
        };
        self.is_for(point) || point.model() == ModelKind::Flow && is_of_stage()
    }

    /// What is written of values at that point.
    pub(super) fn policy(&self, point: &PointDescriptor) -> CapturePolicy {
        let mut policies = self.policies.iter().rev();
        // What is said of a flow is said of its stages too: they see its values.
        let policy = policies.find(|(pattern, _)| {
            glob(pattern, point.name()) || point.flow().is_some_and(|flow| glob(pattern, flow))
        });
        policy.map_or(CapturePolicy::None, |(_, policy)| policy.clone())
    }

    /// How values at that point are made into JSON.
    pub(super) fn json(&self, point: &PointDescriptor) -> Option<JsonPoint> {
        let mut catalogues = self.catalogues.iter();
        let known = catalogues.find_map(|catalogue| {
            let (info, known) = catalogue.named(point.name())?;
            (known.index() == point.index()).then_some(info)
        });
        known?.json
    }

    fn add(&self, at_ns: u64, generation: u64, kind: LineKind) {
        self.queue.add(Batch::state(vec![Pending { generation, at_ns, kind }])).wake();
    }
}

impl fmt::Debug for RecordingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingState").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Inner {
    /// Begins a recording, unless there is one. Who is there then.
    pub(super) fn begin_recording(&self, recording: &Arc<RecordingState>) -> Option<(Header, u64)> {
        let at = now(&*self.config.timer);
        self.end_settings();
        let store = self.store();
        if self.recording.active().is_some() {
            return None;
        }
        let points = store.sorted_points().into_iter();
        let points = points.filter(|(_, point)| !point.order.is_empty());
        let points = points.map(|(_, point)| PointHandlers::of(point)).collect();
        let settings = store.settings.all().iter();
        let settings = settings.map(|setting| RecordedSetting::of(setting, at)).collect();
        let generation = self.recording.generation();
        self.recording.set(Some(Arc::clone(recording)));
        self.mark_observed(&store);
        Some((Header::new(points, settings), generation))
    }

    /// Ends a recording: fires that begin from now on are not recorded.
    pub(super) fn end_recording(&self, recording: &Arc<RecordingState>) {
        let store = self.store();
        if self.recording.active().is_some_and(|active| Arc::ptr_eq(&active, recording)) {
            self.recording.set(None);
            self.mark_observed(&store);
        }
    }

    /// The handlers of these points have changed.
    pub(crate) fn record_handlers(&self, points: &[usize]) {
        let Some(recording) = self.recording.active() else { return };
        let at_ns = recording.now_ns();
        let wake = {
            // What is read and added under one lock is added in the order of the changes.
            let store = self.store();
            let generation = self.recording.generation();
            let changed = points.iter().filter_map(|index| store.points().get(index));
            let lines = changed.map(|point| {
                let kind = LineKind::Handlers(PointHandlers::of(point));
                Pending { generation, at_ns, kind }
            });
            recording.queue.add(Batch::state(lines.collect()))
        };
        wake.wake();
    }

    /// A setting began, ended, or does not apply to a handler.
    #[cold]
    pub(crate) fn record_setting(&self, setting: &Setting, change: SettingChanged) {
        let Some(recording) = self.recording.active() else { return };
        let at = now(&*self.config.timer);
        let line = SettingLine { change, setting: RecordedSetting::of(setting, at) };
        let generation = self.recording.generation();
        recording.add(recording.now_ns(), generation, LineKind::Setting(line));
    }

    /// The breaker of a handler has changed.
    #[cold]
    pub(crate) fn record_breaker(&self, entry: &Entry, transition: Transition, shadow: bool) {
        let Some(recording) = self.recording.of_point(entry.point) else { return };
        let Transition { from, to } = transition;
        let line = BreakerLine { handler: address(entry), from, to, shadow };
        recording.add(recording.now_ns(), self.recording.generation(), LineKind::Breaker(line));
    }
}

/// Whole nanoseconds, of what is no longer than 584 years.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl PointHandlers {
    fn of(point: &PointStore) -> Self {
        let descriptor = point.descriptor;
        Self {
            point: descriptor.name().to_owned(),
            model: descriptor.model().to_string(),
            handlers: point.order.iter().map(|entry| RecordedHandler::of(entry)).collect(),
        }
    }
}

impl RecordedHandler {
    fn of(entry: &Entry) -> Self {
        Self {
            handler: entry.name.to_string(),
            plugin: entry.plugin.as_ref().map(|plugin| plugin.id().to_string()),
            priority: entry.priority,
            guard: entry.phase == Phase::Guard,
            policy: entry.policy,
            time_limit_ns: entry.timeout.map(nanoseconds),
            pure: entry.pure,
            conditional: entry.handler.is_conditional(),
            once: entry.once.is_some(),
            target: entry.target.as_ref().map(ToString::to_string),
            location: entry.location.to_string(),
        }
    }
}

impl RecordedSetting {
    /// The setting as it is at that time. The clock was asked before: it is code of the host.
    fn of(setting: &Setting, at: Instant) -> Self {
        let ends_in = setting.ends().map(|ends| ends.saturating_duration_since(at));
        Self {
            id: setting.id().number(),
            target: setting.target().to_owned(),
            setting: setting.change().verb().to_owned(),
            value: setting.change().to_string(),
            fail_closed: setting.fails_closed(),
            by: setting.by().map(str::to_owned),
            why: setting.why().map(str::to_owned),
            ends_in_ns: ends_in.map(nanoseconds),
            layer: setting.layer(),
            break_glass: setting.is_break_glass(),
        }
    }
}
