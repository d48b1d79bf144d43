//! Circuit breakers: a handler that keeps failing is not called for a while.
//!
//! A breaker is *closed* while calls go through. Too many failures *open* it: calls are
//! refused at once, without the handler. When its time has passed one call is let
//! through as a probe, and the breaker is *half-open* until that call has ended: its
//! success closes the breaker, its failure opens it again.
//!
//! What counts as a failure, and what a refusal means for the fire, is for the caller.
//!
//! # The two words
//!
//! All that threads share of a breaker is in two words, and in counters for people.
//!
//! | word | bits | what they say |
//! |---|---|---|
//! | `state` | 2 | the kind: closed, open, half-open with the permit of the probe free, or taken |
//! | | 12 | the period: how often the breaker was closed |
//! | | 50 | the stamp: microseconds since the breaker was made, of the last change |
//! | `counts` | 12 | the period in which was counted |
//! | | 20 | the window in which was counted, where a rate trips |
//! | | 32 | the failures in a row; where a rate trips, the calls and the failures, 16 each |
//!
//! **`state` decides alone.** It is changed by compare-and-swap only, and no value of it
//! comes a second time: stamps never go back, a period whose number comes again takes a
//! later stamp, and a breaker that opens again within a period was open for a time that
//! is not zero. The exception is a permit that is given back and taken again, for which
//! the two values of a half-open breaker alternate; the ticket of a probe that was
//! dropped is used up by then. This makes three things one comparison:
//!
//! - *A transition has one cause.* Of all that would change a given value one succeeds,
//!   and returns the transition; the others find another value.
//! - *A half-open breaker has one probe.* The swap that takes the permit is the
//!   admission. The value that it wrote is the probe's ticket: as long as the probe is
//!   out the word has this value, and no admission changes it.
//! - *Results of earlier generations are ignored.* A ticket is the value of the word at
//!   its admission. While the breaker is closed the word does not change; if it is no
//!   longer the ticket's, then there was a transition or a reset since.
//!
//! **`counts` only says when to try.** The call whose result reaches the limit tries to
//! swap `state` from its own ticket to open. A result that comes late finds another
//! `state` and changes nothing, whatever it counted.
//!
//! Counts of an earlier period must not be taken for those of the present one, nor be
//! put over them. A result first loads `counts`, then looks whether `state` is still its
//! ticket. `counts` is written by release and loaded by acquire: had a later period
//! counted in the loaded value, then the look at `state` would see this later period.
//! So a loaded value with another period in it is an earlier one, which the first
//! result of the period replaces. A result that is put off between its look and its
//! swap finds that `counts` has changed if a later period has counted, and looks again.
//! The period in `counts` has fewer bits than a stamp: it would take a thread that is
//! put off between these two steps while the breaker is closed exactly 4096 times.
//!
//! The orderings: `state` is relaxed everywhere, because a compare-and-swap finds the
//! latest value with any ordering, and no other memory is handed over by it.
//!
//! # Time
//!
//! The caller says what time it is. Times are whole microseconds since the breaker was
//! made. The moment in which a breaker opens and the time for which it stays open are
//! rounded up, and compared with the present to the nanosecond: a breaker is open for at
//! least as long as was asked, and less than two microseconds longer; not longer at all
//! where the times are whole microseconds, as in tests with a clock that is set by hand.
//! A caller whose clock is behind another's finds the breaker open for longer, and counts
//! in the window that the other has begun. Stamps last for 35 years.
//!
//! Where a rate trips, windows follow each other from the moment in which the breaker
//! was closed. Their number ends after 2²⁰ windows without a transition, 12 days of
//! windows of a second: the breaker then begins a new period, and the calls that are
//! under way at that moment are not counted.

mod settings;
mod state;
mod word;

#[cfg(all(test, not(schedules)))]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sync::atomic::{AtomicU64, Ordering};

pub use settings::BreakerSettings;
#[cfg(feature = "config")]
pub(crate) use settings::MOST_CALLS;
use settings::{CALLS, Limit, WINDOW};
pub use state::{BreakerState, Transition, TransitionCounts};
use word::{Counts, Kind, MAX_COUNT, MAX_WINDOW, StateWord};

/// What a breaker answers to a call that is about to be made.
#[derive(Debug)]
#[must_use = "a probe that is not ended keeps the breaker half-open"]
pub(crate) enum Admission {
    /// The call is to be made, and its end to be reported with the ticket.
    Call {
        ticket: Ticket,
        /// The breaker became half-open by this admission.
        transition: Option<Transition>,
    },
    /// The call is not to be made.
    Refused {
        /// When a call can be let through: not before. Zero while a probe is out, as
        /// its end is not known.
        retry_in: Duration,
    },
}

/// By what a call was admitted. Each is given back once: to `succeeded`, `failed` or
/// `cancelled`.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, Copy))]
pub(crate) struct Ticket(Role);

#[derive(Debug)]
#[cfg_attr(test, derive(Clone, Copy))]
enum Role {
    /// Admitted while the breaker was closed, with the word of that moment.
    Counted(StateWord),
    /// Admitted as a probe, with the word that the admission wrote.
    Probe(StateWord),
    /// Admitted only because the breaker is a shadow.
    Unenforced,
}

impl Ticket {
    /// Whether the call decides if the breaker closes.
    #[allow(dead_code, reason = "for tests, and for models of schedules")]
    pub(crate) fn is_probe(&self) -> bool {
        matches!(self.0, Role::Probe(_))
    }

    /// Whether the call would be refused, were the breaker not a shadow.
    #[allow(dead_code, reason = "for tests, and for models of schedules")]
    pub(crate) fn would_be_refused(&self) -> bool {
        matches!(self.0, Role::Unenforced)
    }
}

/// A circuit breaker. The module says how its words work together.
pub(crate) struct Breaker {
    base: Instant,
    rule: Rule,
    /// In microseconds.
    open_for: u64,
    is_shadow: bool,
    state: AtomicU64,
    counts: AtomicU64,
    /// For people. Nothing is decided by them.
    opened: AtomicU64,
    half_opened: AtomicU64,
    closed: AtomicU64,
}

/// What trips, as it is counted.
#[derive(Clone, Copy)]
enum Rule {
    Consecutive { failures: u32 },
    Rate { percent: u64, calls: u64, window: u64 },
}

impl Breaker {
    /// A closed breaker. The settings are valid.
    pub(crate) fn new(settings: &BreakerSettings, now: Instant) -> Self {
        debug_assert_eq!(settings.validate(), Ok(()));
        let rule = match settings.limit {
            Limit::Consecutive(failures) => Rule::Consecutive { failures },
            Limit::Percent(percent) => Rule::Rate {
                percent: percent.into(),
                calls: settings.calls.unwrap_or(CALLS).into(),
                window: micros_up(settings.window.unwrap_or(WINDOW)),
            },
        };
        Self {
            base: now,
            rule,
            open_for: micros_up(settings.open_for),
            is_shadow: settings.is_shadow,
            state: AtomicU64::new(StateWord::new(Kind::Closed, 0, 0).0),
            counts: AtomicU64::new(Counts { window: 0, counted: 0 }.pack(0)),
            opened: AtomicU64::new(0),
            half_opened: AtomicU64::new(0),
            closed: AtomicU64::new(0),
        }
    }

    /// Whether a call is to be made. For a closed breaker this is one load.
    #[inline]
    pub(crate) fn admit(&self, now: Instant) -> Admission {
        let seen = self.load();
        if seen.kind() == Kind::Closed {
            let ticket = Ticket(Role::Counted(seen));
            return Admission::Call { ticket, transition: None };
        }
        self.admit_not_closed(seen, now)
    }

    #[cold]
    fn admit_not_closed(&self, mut seen: StateWord, now: Instant) -> Admission {
        loop {
            let transition = match seen.kind() {
                Kind::Closed => {
                    let ticket = Ticket(Role::Counted(seen));
                    return Admission::Call { ticket, transition: None };
                }
                Kind::Probing => return self.refusal(Duration::ZERO),
                Kind::Open => {
                    let left = self.open_left(seen, now);
                    if !left.is_zero() {
                        return self.refusal(left);
                    }
                    Some((BreakerState::Open, BreakerState::HalfOpen))
                }
                Kind::Free => None,
            };
            // This swap is the admission: all that saw the same word try it, one succeeds.
            let probe = seen.probing(self.micros_up(now));
            match self.swap(seen, probe) {
                Ok(()) => {
                    let transition = transition.map(|(from, to)| self.note(from, to));
                    return Admission::Call { ticket: Ticket(Role::Probe(probe)), transition };
                }
                Err(other) => seen = other,
            }
        }
    }

    fn refusal(&self, retry_in: Duration) -> Admission {
        if self.is_shadow {
            return Admission::Call { ticket: Ticket(Role::Unenforced), transition: None };
        }
        Admission::Refused { retry_in }
    }

    /// Admits with a permit that gives itself back when it is dropped. If the call is
    /// refused: when it can be tried again.
    pub(crate) fn acquire(
        self: &Arc<Self>,
        now: Instant,
    ) -> Result<(Permit, Option<Transition>), Duration> {
        match self.admit(now) {
            Admission::Call { ticket, transition } => {
                let breaker = Arc::clone(self);
                Ok((Permit { breaker, ticket: Some(ticket) }, transition))
            }
            Admission::Refused { retry_in } => Err(retry_in),
        }
    }

    /// A call has ended well; a decision, also a rejection, is a good end. A success can
    /// open the breaker: it may be the last call that a rate needed.
    pub(crate) fn succeeded(&self, Ticket(role): Ticket, now: Instant) -> Option<Transition> {
        match role {
            Role::Counted(admitted) => self.count(admitted, false, now),
            Role::Probe(probe) => {
                let closed = probe.closed(self.micros_up(now));
                self.swap(probe, closed).ok()?;
                self.clear(closed);
                Some(self.note(BreakerState::HalfOpen, BreakerState::Closed))
            }
            Role::Unenforced => None,
        }
    }

    /// A call has failed.
    pub(crate) fn failed(&self, Ticket(role): Ticket, now: Instant) -> Option<Transition> {
        match role {
            Role::Counted(admitted) => self.count(admitted, true, now),
            Role::Probe(probe) => self.open(probe, now),
            Role::Unenforced => None,
        }
    }

    /// A call was dropped before its end: nothing is known of the handler. The permit of
    /// a probe is given back, and the next call takes it.
    pub(crate) fn cancelled(&self, Ticket(role): Ticket) {
        if let Role::Probe(probe) = role {
            // If the word is another one, then a reset has taken the permit back.
            let _is_ours = self.swap(probe, probe.free());
        }
    }

    /// Closes the breaker and forgets what was counted. What calls that are under way
    /// come to is ignored.
    pub(crate) fn reset(&self, now: Instant) -> Option<Transition> {
        let mut seen = self.load();
        loop {
            let closed = seen.closed(self.micros_up(now));
            match self.swap(seen, closed) {
                Ok(()) => {
                    self.clear(closed);
                    let from = seen.kind().state();
                    return (from != BreakerState::Closed)
                        .then(|| self.note(from, BreakerState::Closed));
                }
                Err(other) => seen = other,
            }
        }
    }

    /// The state. A breaker that was open for its time is half-open: the next call is
    /// its probe, and returns the transition.
    pub(crate) fn state(&self, now: Instant) -> BreakerState {
        let seen = self.load();
        match seen.kind().state() {
            BreakerState::Open if self.open_left(seen, now).is_zero() => BreakerState::HalfOpen,
            state => state,
        }
    }

    /// Whether it refuses no call.
    pub(crate) fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    /// How often it came to each state.
    pub(crate) fn transitions(&self) -> TransitionCounts {
        TransitionCounts {
            opened: self.opened.load(Ordering::Relaxed),
            half_opened: self.half_opened.load(Ordering::Relaxed),
            closed: self.closed.load(Ordering::Relaxed),
        }
    }

    /// Counts the result of a call that was admitted while the breaker was closed.
    fn count(&self, mut admitted: StateWord, failed: bool, now: Instant) -> Option<Transition> {
        let mut seen = self.counts.load(Ordering::Acquire);
        if !failed && matches!(self.rule, Rule::Consecutive { .. }) && Counts::is_none(seen) {
            // There is no row of failures to end, of whatever period.
            return None;
        }
        loop {
            // After the load of the counts, see the module.
            if self.load() != admitted {
                return None;
            }
            let window = match self.rule {
                Rule::Consecutive { .. } => 0,
                Rule::Rate { window, .. } => {
                    self.micros_down(now).saturating_sub(admitted.stamp()) / window
                }
            };
            if window > MAX_WINDOW {
                let renewed = admitted.closed(self.micros_up(now));
                self.swap(admitted, renewed).ok()?;
                admitted = renewed;
                continue;
            }
            let counted = Counts::unpack(seen, admitted.period()).in_window(window);
            let (counted, trips) = self.rule.add(counted, failed);
            let next = counted.pack(admitted.period());
            let (release, acquire) = (Ordering::Release, Ordering::Acquire);
            match self.counts.compare_exchange(seen, next, release, acquire) {
                Ok(_) if trips => return self.open(admitted, now),
                Ok(_) => return None,
                Err(other) => seen = other,
            }
        }
    }

    fn open(&self, from: StateWord, now: Instant) -> Option<Transition> {
        self.swap(from, from.open(self.micros_up(now))).ok()?;
        Some(self.note(from.kind().state(), BreakerState::Open))
    }

    /// Puts the counts of earlier periods away. The first result of this period would do
    /// it too; but so many resets without a result that the period comes again must not
    /// bring them back.
    fn clear(&self, closed: StateWord) {
        let seen = self.counts.load(Ordering::Acquire);
        if Counts::period(seen) != closed.period() && self.load() == closed {
            let none = Counts { window: 0, counted: 0 }.pack(closed.period());
            // If another has counted meanwhile, then it has put them away.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            let _is_cleared = self.counts.compare_exchange(seen, none, release, relaxed);
        }
    }

    fn load(&self) -> StateWord {
        StateWord(self.state.load(Ordering::Relaxed))
    }

    /// Changes the state, if it is the one that was seen; else says which it is.
    fn swap(&self, seen: StateWord, next: StateWord) -> Result<(), StateWord> {
        let relaxed = Ordering::Relaxed;
        let swapped = self.state.compare_exchange(seen.0, next.0, relaxed, relaxed);
        swapped.map(drop).map_err(StateWord)
    }

    fn note(&self, from: BreakerState, to: BreakerState) -> Transition {
        let counter = match to {
            BreakerState::Closed => &self.closed,
            BreakerState::Open => &self.opened,
            BreakerState::HalfOpen => &self.half_opened,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Transition { from, to }
    }

    /// How long an open breaker refuses yet. To the nanosecond: a caller that waits so
    /// long is let through.
    fn open_left(&self, open: StateWord, now: Instant) -> Duration {
        let end = Duration::from_micros(open.stamp().saturating_add(self.open_for));
        end.saturating_sub(now.saturating_duration_since(self.base))
    }

    fn micros_down(&self, now: Instant) -> u64 {
        let micros = now.saturating_duration_since(self.base).as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    fn micros_up(&self, now: Instant) -> u64 {
        micros_up(now.saturating_duration_since(self.base))
    }
}

fn micros_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX)
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("state", &self.load().kind().state())
            .finish_non_exhaustive()
    }
}

impl Rule {
    /// Adds the result of a call. Whether this reaches the limit.
    fn add(self, counts: Counts, failed: bool) -> (Counts, bool) {
        match self {
            Self::Consecutive { failures } => {
                let row = if failed { counts.counted.saturating_add(1) } else { 0 };
                (Counts { counted: row, ..counts }, failed && row >= failures)
            }
            Self::Rate { percent, calls: at_least, .. } => {
                let (mut calls, mut failures) = counts.calls_and_failures();
                if calls == MAX_COUNT {
                    (calls, failures) = (calls / 2, failures / 2);
                }
                (calls, failures) = (calls + 1, failures + u64::from(failed));
                let trips = calls >= at_least && failures * 100 >= calls * percent;
                (counts.with_calls_and_failures(calls, failures), trips)
            }
        }
    }
}

/// A call that a breaker has admitted. Dropping it says that the call was dropped.
#[derive(Debug)]
#[must_use = "dropping it says that the call was dropped"]
pub(crate) struct Permit {
    breaker: Arc<Breaker>,
    /// Until the call has ended.
    ticket: Option<Ticket>,
}

impl Permit {
    /// As [`Breaker::succeeded`].
    pub(crate) fn succeeded(mut self, now: Instant) -> Option<Transition> {
        self.ticket.take().and_then(|ticket| self.breaker.succeeded(ticket, now))
    }

    /// As [`Breaker::failed`].
    pub(crate) fn failed(mut self, now: Instant) -> Option<Transition> {
        self.ticket.take().and_then(|ticket| self.breaker.failed(ticket, now))
    }

    /// By what the call was admitted.
    #[cfg(test)]
    pub(crate) fn ticket(&self) -> Option<&Ticket> {
        self.ticket.as_ref()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.breaker.cancelled(ticket);
        }
    }
}
