//! One fire: which handlers take part, and where its failures go.

use std::any::TypeId;
use std::ptr;
use std::time::{Duration, Instant};

use crate::engine::call::CallRecord;
use crate::engine::containment::{drop_contained, shown};
use crate::engine::raw::{HandlerRef, Nested, Watch};
use crate::error::{FailureKind, HandlerFailure};
use crate::flow::{Participants, Standing};
use crate::handler::target::Target;
use crate::observe::log;
use crate::observe::notes::CallKey;
use crate::observe::recorder::Recorder;
use crate::operator::breaker::{Permit, Transition};
use crate::operator::rules::{Began, FireRules, HandlerRules, PointRules};
use crate::operator::{BreakerState, Mode, Setting, all_breakers_open, breaker_changed};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, PointDescriptor};
use crate::registry::entry::Entry;
use crate::registry::list::HandlerList;
use crate::registry::snapshot::Snapshot;
use crate::report::{Contribution, HandlerStatus, SkipReason};
use crate::timer::{now, try_now};

/// What a fire is about.
#[derive(Clone, Copy)]
pub(crate) struct FireInfo<'f> {
    pub(crate) hooks: &'f ScopedHooks,
    pub(crate) point: &'static PointDescriptor,
    /// By reference: one word is cheaper to keep than two.
    pub(crate) point_type: &'static TypeId,
}

impl<'f> FireInfo<'f> {
    pub(crate) fn of<P: HookPoint>(hooks: &'f ScopedHooks) -> Self {
        Self { hooks, point: P::descriptor(), point_type: const { &TypeId::of::<P>() } }
    }

    /// The fire as the chain of nested fires knows it, where it is not recorded.
    #[inline]
    pub(super) fn nested(&self) -> Nested {
        Nested { point: self.point, registry: self.hooks.registry(), fire: 0 }
    }
}

impl ScopedHooks {
    /// Whether the scope admits every handler of the list. One by one they are
    /// tested by [`refusal`](Fire::refusal), with all else that is asked of a
    /// handler; a list that has handlers with more to ask is not plain.
    #[inline]
    pub(super) fn admits_all(&self, list: &HandlerList) -> bool {
        self.bits.as_ref().is_none_or(|scope| scope.admits_all(list.owners()))
    }
}

/// What a stage of a flow takes over from the flow's run.
pub(crate) struct RunScope<'f> {
    /// What the run is for.
    pub(crate) targets: &'f [Target],
    /// All handlers as they were when the run began.
    pub(crate) handlers: &'f Snapshot,
    /// The owners whose handlers have begun in the run.
    pub(crate) participants: &'f Participants,
    /// When it began, as far as an operator's settings ask for that.
    pub(crate) began: Began,
}

/// One fire, as its calls share it.
#[derive(Clone, Copy)]
pub(crate) struct Fire<'w> {
    pub(crate) info: &'w FireInfo<'w>,
    pub(crate) recorder: Option<&'w Recorder<'w>>,
    pub(crate) run: Option<&'w RunScope<'w>>,
    /// What an operator has set for the handlers, where that is anything.
    pub(crate) rules: Option<FireRules<'w>>,
}

impl<'w> Fire<'w> {
    /// The fire as the chain of nested fires knows it.
    #[inline]
    pub(crate) fn nested(&self) -> Nested {
        Nested { fire: self.recorder.map_or(0, Recorder::id), ..self.info.nested() }
    }

    /// What is wanted of a call of that handler beside its answer.
    pub(crate) fn watch(&self, entry: &Entry) -> Watch {
        let rules = self.rules(entry);
        let in_shadow = rules.is_some_and(HandlerRules::is_shadow);
        let contribution = self.recorder.is_some() || in_shadow;
        Watch::new(contribution || self.time_limit(entry).is_some(), contribution)
            .in_shadow(in_shadow)
            .under(rules.and_then(|rules| rules.policy))
            .shortened(rules.is_some_and(|rules| rules.limit.is_some()))
    }

    /// The fire begins, over that list: it uses what an operator has set then, to its
    /// end.
    #[inline]
    pub(crate) fn begin(mut self, list: &'w HandlerList, began: &mut Began) -> Self {
        if let Some(rules) = list.rules() {
            *began = self.begin_under(rules);
            self.rules = FireRules::of_list(list, *began);
        }
        self
    }

    #[cold]
    fn begin_under(&self, rules: &PointRules) -> Began {
        let inner = &self.info.hooks.inner;
        let began = match self.run {
            Some(run) => run.began,
            None => {
                rules.begin(|| try_now(&*inner.config.timer), || inner.sample_number(self.recorder))
            }
        };
        if rules.sees_end(began) {
            inner.end_settings();
        }
        began
    }

    /// What an operator has set for a handler, where that is anything.
    pub(crate) fn rules(&self, entry: &Entry) -> Option<&'w HandlerRules> {
        self.rules?.of(entry)
    }

    /// Tells a call of that handler in this fire from others, as its context does.
    pub(crate) fn call_key(&self, entry: &Entry) -> CallKey {
        (ptr::from_ref(self.info).addr(), ptr::from_ref(entry).addr())
    }

    /// How long this fire waits for a handler.
    pub(crate) fn time_limit(&self, entry: &Entry) -> Option<Duration> {
        self.rules(entry).and_then(|rules| rules.limit).or(entry.timeout)
    }

    /// What a failure of a handler means for this fire.
    fn policy(&self, entry: &Entry) -> FailurePolicy {
        self.rules(entry).and_then(|rules| rules.policy).unwrap_or(entry.policy)
    }

    /// What time it is, for what an operator has set.
    pub(crate) fn now(&self) -> Instant {
        now(&*self.info.hooks.inner.config.timer)
    }

    /// Why a handler does not take part; `None` where it does.
    pub(crate) fn refusal(&self, handler: &HandlerRef) -> Option<SkipReason> {
        if let Some(scope) = &self.info.hooks.bits
            && !scope.admits(handler.owner_bit, &handler.entry.name)
        {
            return Some(SkipReason::Scope);
        }
        if let Some(target) = &handler.entry.target
            && !self.run.is_some_and(|run| run.targets.contains(target))
        {
            return Some(SkipReason::Target);
        }
        let fire = self.rules?;
        let rules = fire.of(&handler.entry)?;
        rules.settings.iter().for_each(Setting::count);
        fire.skip(rules)
    }

    /// Whether a call of a handler may start, as far as an operator has limited that: its
    /// permit of the breaker, or the failure that takes the place of the call.
    pub(crate) fn admit(&self, entry: &Entry) -> Result<Option<Permit>, FailureKind> {
        // In shadow nothing is limited: what comes of it must not count later.
        let Some(rules) = self.rules(entry).filter(|rules| !rules.is_shadow()) else {
            return Ok(None);
        };
        let (permit, transition) = rules.admit(|| self.now());
        self.breaker_changed(entry, transition);
        permit
    }

    /// Takes the one call of a handler that is called once, which a call in shadow leaves
    /// to it. Whether a call may start.
    pub(crate) fn takes_turn(&self, entry: &Entry) -> bool {
        if self.rules(entry).is_some_and(HandlerRules::is_shadow) {
            return !entry.was_called_once();
        }
        entry.take_turn()
    }

    /// Reports how the breaker of a handler has changed.
    fn breaker_changed(&self, entry: &Entry, transition: Option<Transition>) {
        let Some(transition) = transition else { return };
        let inner = &*self.info.hooks.inner;
        let is_shadow = self.rules(entry).is_some_and(HandlerRules::has_shadow_breaker);
        breaker_changed(entry, transition, is_shadow, inner);
        if !is_shadow
            && transition.to == BreakerState::Open
            && self.rules.is_some_and(|rules| rules.are_all_breakers_open(self.now()))
        {
            all_breakers_open(self.info.point, &inner.config.observers);
        }
    }

    /// Notes that a handler is about to be called in a run; what its owner was to
    /// the run before.
    pub(crate) fn standing(&self, entry: &Entry) -> Standing {
        self.run.map_or(Standing::Unknown, |run| run.participants.join(entry))
    }

    /// Takes that back: the handler was removed before it was called.
    #[cold]
    pub(crate) fn stands_back(&self, entry: &Entry, standing: Standing) {
        if let (Some(run), Standing::New) = (self.run, standing) {
            run.participants.stand_back(entry);
        }
    }

    /// A handler does not take part. The walk over the list counts it among
    /// those that were called, so that is taken back.
    #[cold]
    pub(crate) fn skipped(&self, entry: &Entry, reason: SkipReason) {
        entry.counters.skipped(reason);
        self.report_skipped(entry, reason);
    }

    /// Reports a handler that is not called.
    #[cold]
    pub(crate) fn report_skipped(&self, entry: &Entry, reason: SkipReason) {
        if let Some(recorder) = self.recorder {
            recorder.skipped(entry, reason, self.rules(entry));
        }
    }

    /// A call has ended well.
    #[inline]
    pub(crate) fn ran(&self, entry: &Entry, call: &mut CallRecord, contribution: Contribution) {
        if let Some((limit, elapsed)) = call.overrun() {
            self.overran(entry, call, limit, elapsed);
        }
        // A decision, whichever it is, is a success of the handler.
        if let Some(permit) = call.take_permit() {
            self.breaker_changed(entry, permit.succeeded(self.now()));
        }
        let rules = self.rules(entry);
        let status = match rules.filter(|rules| rules.is_shadow()) {
            None => HandlerStatus::Ran(contribution),
            Some(rules) => {
                entry.counters.decided_in_shadow(&contribution);
                let warns = rules.mode == Mode::Warn;
                HandlerStatus::Shadowed { decision: contribution, warns }
            }
        };
        if let Some(recorder) = self.recorder {
            recorder.call_ended(entry, call, status, rules);
        }
    }

    /// A handler that answered after its limit: counted, logged and observed.
    #[cold]
    fn overran(&self, entry: &Entry, call: &CallRecord, limit: Duration, elapsed: Duration) {
        entry.counters.overran();
        if self.recorder.is_none_or(Recorder::logs_failures) {
            log::overrun(self.info.point, entry, limit, elapsed);
        }
        if let Some(recorder) = self.recorder {
            recorder.overran(entry, call, limit, elapsed);
        }
    }

    /// Reports a failure: counted, logged, observed, in the report. No failure
    /// is silent. It comes back where it is the fire's error.
    #[cold]
    pub(crate) fn failed(
        &self,
        entry: &Entry,
        call: &mut CallRecord,
        kind: FailureKind,
    ) -> Option<HandlerFailure> {
        // Code of the handler's owner, as is the drop below: it runs before the
        // call is over.
        let message = shown(&kind.raw());
        if let Some((limit, elapsed)) = call.overrun() {
            self.overran(entry, call, limit, elapsed);
        }
        entry.counters.failed(kind.cause());
        // What is not the handler's fault says nothing of it: the permit is given back.
        if let Some(permit) = call.take_permit()
            && kind.is_of_handler()
        {
            self.breaker_changed(entry, permit.failed(self.now()));
        }
        let rules = self.rules(entry);
        let in_shadow = rules.is_some_and(HandlerRules::is_shadow);
        if in_shadow {
            entry.counters.failed_in_shadow();
        }
        let policy = if in_shadow { None } else { Some(self.policy(entry)) };
        // Measured for a trace alone, it is not for the log and the error, which are as
        // they are without the trace.
        let is_wanted = in_shadow
            || self.time_limit(entry).is_some()
            || self.recorder.is_none_or(|recorder| !recorder.is_only_traced());
        let elapsed = call.elapsed().filter(|_| is_wanted);
        if self.recorder.is_none_or(Recorder::logs_failures) {
            log::failure(self.info.point, entry, &kind, &message, (policy, elapsed));
        }
        if let Some(recorder) = self.recorder {
            let kind = kind.as_str();
            let status = match policy {
                None => HandlerStatus::ShadowFailed { kind, message },
                Some(policy) => HandlerStatus::Failed { kind, message, policy },
            };
            recorder.call_ended(entry, call, status, rules);
        }
        if policy != Some(FailurePolicy::Closed) {
            // The handler's own error may panic even in its drop.
            drop_contained("a handler's error", kind);
            return None;
        }
        let (name, owner) = (entry.name.clone(), entry.owner());
        let point = self.info.point.name();
        Some(HandlerFailure::new(point, name, owner, entry.location, kind, elapsed))
    }
}
