//! What the settings come to for the handlers of one point.
//!
//! Worked out when settings or handlers change, and published with the list: a fire only
//! looks up the rules of a handler, and one at a point without settings has none to look
//! up. Settings end while lists stay, so the rules of a handler are spans, each with what
//! holds until an end. A fire chooses by the time at which it began.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::FailureKind;
use crate::operator::breaker::{Breaker, BreakerState, Permit, Transition};
use crate::operator::mode::Mode;
use crate::operator::rate::{RateLimit, RateLimiter};
use crate::operator::sample::Fraction;
use crate::operator::setting::{Setting, SettingChange};
use crate::point::FailurePolicy;
use crate::registry::entry::Entry;
use crate::registry::list::HandlerList;
use crate::report::SkipReason;
use crate::sync::atomic::{AtomicBool, Ordering};

/// The rules of the handlers of one point, where any has some.
#[derive(Debug)]
pub(crate) struct PointRules {
    /// By the id of the handler.
    handlers: HashMap<u64, Vec<Span>>,
    /// How many handlers the point has.
    all: usize,
    /// The first and the last end of a setting.
    first_end: Option<Instant>,
    last_end: Option<Instant>,
    /// Whether a handler is called for a sample of fires.
    has_sample: bool,
    /// Whether a fire has seen that a setting has ended.
    is_end_seen: AtomicBool,
}

/// What holds for a handler until a setting ends.
#[derive(Debug)]
pub(crate) struct Span {
    until: Option<Instant>,
    /// `None` where nothing is set.
    rules: Option<HandlerRules>,
}

/// What holds for a handler.
#[derive(Debug)]
pub(crate) struct HandlerRules {
    pub(crate) mode: Mode,
    /// In place of its own.
    pub(crate) policy: Option<FailurePolicy>,
    /// In place of its own, and no longer than that.
    pub(crate) limit: Option<Duration>,
    sample: Option<(Fraction, Arc<str>)>,
    rate: Option<(RateLimit, Arc<RateLimiter>)>,
    breaker: Option<Arc<Breaker>>,
    forced: Option<BreakerState>,
    /// The settings that count, in the order in which they do.
    pub(crate) settings: Arc<[Setting]>,
}

/// What a fire with rules knows of itself when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Began {
    /// When; looked at only where a setting ends.
    at: Option<Instant>,
    /// Its number, where there is a sample.
    fire: u64,
}

/// The rules of one fire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FireRules<'w> {
    pub(crate) rules: &'w PointRules,
    pub(crate) began: Began,
}

impl PointRules {
    pub(crate) fn new(handlers: HashMap<u64, Vec<Span>>, all: usize) -> Option<Arc<Self>> {
        if handlers.is_empty() {
            return None;
        }
        let spans = || handlers.values().flatten();
        let first_end = spans().filter_map(|span| span.until).min();
        let last_end = spans().filter_map(|span| span.until).max();
        let rules = || spans().filter_map(|span| span.rules.as_ref());
        let has_sample = rules().any(|rules| rules.sample.is_some());
        let is_end_seen = AtomicBool::new(false);
        Some(Arc::new(Self { handlers, all, first_end, last_end, has_sample, is_end_seen }))
    }

    /// A fire begins. `now` and `fire` are asked where they matter. A clock that cannot be
    /// read is past every end: nothing is loosened for longer than was asked.
    pub(crate) fn begin(
        &self,
        now: impl FnOnce() -> Option<Instant>,
        fire: impl FnOnce() -> u64,
    ) -> Began {
        let at = self.last_end.map(|last| now().unwrap_or(last));
        Began { at, fire: if self.has_sample { fire() } else { 0 } }
    }

    /// Whether a setting has ended when that fire began, and no fire has seen that yet.
    pub(crate) fn sees_end(&self, began: Began) -> bool {
        let is_past = self.first_end.zip(began.at).is_some_and(|(end, at)| at >= end);
        is_past && !self.is_end_seen.swap(true, Ordering::Relaxed)
    }
}

impl Began {
    /// The beginning of a run, of which the stages have these rules.
    pub(crate) fn of_run<'r>(
        rules: impl Iterator<Item = &'r PointRules>,
        now: impl FnOnce() -> Option<Instant>,
        fire: impl FnOnce() -> u64,
    ) -> Self {
        let (mut last_end, mut has_sample) = (None, false);
        for rules in rules {
            last_end = last_end.max(rules.last_end);
            has_sample |= rules.has_sample;
        }
        let at = last_end.map(|last| now().unwrap_or(last));
        Self { at, fire: if has_sample { fire() } else { 0 } }
    }
}

impl<'w> FireRules<'w> {
    /// The rules of a fire over that list, where it has any.
    #[inline]
    pub(crate) fn of_list(list: &'w HandlerList, began: Began) -> Option<Self> {
        list.rules().map(|rules| Self { rules, began })
    }

    /// What holds for a handler, where anything is set for it.
    pub(crate) fn of(&self, entry: &Entry) -> Option<&'w HandlerRules> {
        self.holding(self.rules.handlers.get(&entry.id)?)
    }

    fn holding(&self, spans: &'w [Span]) -> Option<&'w HandlerRules> {
        let holds = |span: &&Span| match (span.until, self.began.at) {
            (Some(until), Some(at)) => at < until,
            _ => true,
        };
        spans.iter().find(holds)?.rules.as_ref()
    }

    /// Whether every handler of the point that has a breaker is kept from being called by
    /// it: the point is then as good as without them. One of many handlers says nothing of
    /// the point.
    pub(crate) fn are_all_breakers_open(&self, now: Instant) -> bool {
        let all = self.rules.handlers.values().filter_map(|spans| self.holding(spans));
        let states = all.filter_map(|rules| rules.enforced_breaker_state(now));
        let states: Vec<_> = states.collect();
        let is_many = states.len() > 1 || states.len() == self.rules.all;
        is_many && states.iter().all(|state| *state != BreakerState::Closed)
    }

    /// Why the settings leave a handler out of this fire.
    pub(crate) fn skip(&self, rules: &HandlerRules) -> Option<SkipReason> {
        if rules.mode == Mode::Disable {
            return Some(SkipReason::Disabled);
        }
        let (part, address) = rules.sample.as_ref()?;
        (!part.has(self.began.fire, address)).then_some(SkipReason::SampledOut)
    }
}

/// The spans of a handler: `in_force` has the settings that hold at a time, the last of
/// which counts.
pub(crate) fn spans(
    now: Instant,
    mut ends: Vec<Instant>,
    mut in_force: impl FnMut(Instant) -> Option<HandlerRules>,
) -> Vec<Span> {
    ends.retain(|end| *end > now);
    ends.sort_unstable();
    ends.dedup();
    let begins = std::iter::once(now).chain(ends.iter().copied());
    let untils = ends.iter().copied().map(Some).chain([None]);
    begins.zip(untils).map(|(begin, until)| Span { until, rules: in_force(begin) }).collect()
}

/// What has a state of its own for each handler.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Rate(Arc<RateLimiter>),
    Breaker(Arc<Breaker>),
}

impl HandlerRules {
    /// What settings come to, of which the last counts for what it changes. `None`
    /// where there are none.
    pub(crate) fn of(
        entry: &Entry,
        address: &Arc<str>,
        in_force: &[Setting],
        mut state: impl FnMut(&Setting) -> Option<State>,
    ) -> Option<Self> {
        let mut counting: Vec<Setting> = Vec::new();
        for setting in in_force {
            // Fail-closed counts beside what it came with, until a later one that says it too.
            let (aspect, is_said) = (setting.change().aspect(), setting.fails_closed());
            counting.retain(|it| it.change().aspect() != aspect || (it.fails_closed() && !is_said));
            counting.push(setting.clone());
        }
        if counting.is_empty() {
            return None;
        }
        let mut rules = Self {
            mode: Mode::Enforce,
            policy: None,
            limit: None,
            sample: None,
            rate: None,
            breaker: None,
            forced: None,
            settings: Arc::from([]),
        };
        for setting in &counting {
            match setting.change() {
                SettingChange::Mode(mode) => rules.mode = *mode,
                SettingChange::TimeLimit(limit) => {
                    rules.limit = Some(entry.timeout.map_or(*limit, |own| own.min(*limit)));
                }
                SettingChange::OnFailure(policy) => rules.policy = Some(*policy),
                SettingChange::Sample(part) => rules.sample = Some((*part, Arc::clone(address))),
                SettingChange::RateLimit(rate) => {
                    if let Some(State::Rate(state)) = state(setting) {
                        rules.rate = Some((rate.clone(), state));
                    }
                }
                SettingChange::Breaker(_) => {
                    if let Some(State::Breaker(state)) = state(setting) {
                        rules.breaker = Some(state);
                    }
                }
                SettingChange::ForceBreaker(state) => rules.forced = Some(*state),
            }
            if setting.fails_closed() {
                rules.policy = Some(FailurePolicy::Closed);
            }
        }
        rules.settings = counting.into();
        Some(rules)
    }

    /// Whether the handler is called without an effect.
    pub(crate) fn is_shadow(&self) -> bool {
        self.mode.is_shadow()
    }

    /// Whether a call may start now: a permit of its breaker, and how that changed by
    /// it; or the failure that takes the place of the call.
    pub(crate) fn admit(
        &self,
        now: impl Fn() -> Instant,
    ) -> (Result<Option<Permit>, FailureKind>, Option<Transition>) {
        let refused = |retry_in| Err(FailureKind::BreakerOpen { retry_in });
        let (mut permit, mut transition) = (None, None);
        match (self.forced, &self.breaker) {
            (Some(BreakerState::Closed), _) | (None, None) => {}
            (Some(_), _) => return (refused(None), None),
            (None, Some(breaker)) => match breaker.acquire(now()) {
                Ok((taken, changed)) => (permit, transition) = (Some(taken), changed),
                Err(retry_in) => return (refused(Some(retry_in)), None),
            },
        }
        // After the breaker: a call that it refuses does not count here. A permit is
        // given back where this refuses.
        if let Some((limit, limiter)) = &self.rate
            && let Err(retry_in) = limiter.take(now())
        {
            let limit = limit.clone();
            return (Err(FailureKind::RateLimited { limit, retry_in }), transition);
        }
        (Ok(permit), transition)
    }

    /// The state of its breaker, where it has one.
    pub(crate) fn breaker_state(&self, now: Instant) -> Option<BreakerState> {
        self.forced.or_else(|| Some(self.breaker.as_ref()?.state(now)))
    }

    /// The same of a breaker that refuses calls.
    fn enforced_breaker_state(&self, now: Instant) -> Option<BreakerState> {
        self.breaker_state(now).filter(|_| self.forced.is_some() || !self.has_shadow_breaker())
    }

    /// Whether its breaker only counts.
    pub(crate) fn has_shadow_breaker(&self) -> bool {
        self.breaker.as_ref().is_some_and(|breaker| breaker.is_shadow())
    }

    pub(crate) fn breaker(&self) -> Option<&Arc<Breaker>> {
        self.breaker.as_ref()
    }
}
