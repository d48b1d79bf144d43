//! One thread at a breaker: exact transitions, and a plain reference beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::BreakerState::{Closed, HalfOpen, Open};
use super::settings::MOST_CALLS;
use super::word::MAX_PERIOD;
use super::*;

const MS: Duration = Duration::from_millis(1);
const OPEN_FOR: Duration = Duration::from_millis(20);

const OPENED: Option<Transition> = Some(Transition { from: Closed, to: Open });
const HALF_OPENED: Option<Transition> = Some(Transition { from: Open, to: HalfOpen });
const REOPENED: Option<Transition> = Some(Transition { from: HalfOpen, to: Open });
const RECOVERED: Option<Transition> = Some(Transition { from: HalfOpen, to: Closed });
const CLOSED: Option<Transition> = Some(Transition { from: Open, to: Closed });

fn streak(failures: u32) -> BreakerSettings {
    BreakerSettings::consecutive(failures).open_for(OPEN_FOR)
}

fn rate(percent: u8, calls: u32) -> BreakerSettings {
    BreakerSettings::rate(percent).at_least(calls).over(10 * MS).open_for(OPEN_FOR)
}

impl Breaker {
    /// A ticket, and the transition that its admission was.
    fn ticket(&self, now: Instant) -> (Ticket, Option<Transition>) {
        match self.admit(now) {
            Admission::Call { ticket, transition } => (ticket, transition),
            Admission::Refused { retry_in } => panic!("refused for {retry_in:?}"),
        }
    }

    fn call(&self, is_ok: bool, now: Instant) -> Option<Transition> {
        let (ticket, _) = self.ticket(now);
        if is_ok { self.succeeded(ticket, now) } else { self.failed(ticket, now) }
    }

    fn refused_for(&self, now: Instant) -> Duration {
        match self.admit(now) {
            Admission::Refused { retry_in } => retry_in,
            Admission::Call { ticket, .. } => panic!("admitted by {ticket:?}"),
        }
    }

    /// Another breaker in the same state.
    fn fork(&self) -> Self {
        let copy = |word: &AtomicU64| AtomicU64::new(word.load(Ordering::Relaxed));
        Self {
            state: copy(&self.state),
            counts: copy(&self.counts),
            opened: copy(&self.opened),
            half_opened: copy(&self.half_opened),
            closed: copy(&self.closed),
            ..*self
        }
    }
}

#[test]
fn failures_in_a_row_open_and_a_success_begins_the_row_anew() {
    let now = Instant::now();
    let breaker = Breaker::new(&streak(2), now);
    assert_eq!(breaker.state(now), Closed);
    assert_eq!(breaker.call(false, now), None);
    assert_eq!(breaker.call(true, now), None);
    assert_eq!(breaker.call(false, now), None);
    assert_eq!(breaker.call(false, now), OPENED);
    assert_eq!(breaker.state(now), Open);
    assert_eq!(breaker.refused_for(now), OPEN_FOR);
    assert_eq!(breaker.refused_for(now + 15 * MS), 5 * MS);
}

#[test]
fn a_success_where_none_failed_stores_nothing() {
    let now = Instant::now();
    let breaker = Breaker::new(&streak(2), now);
    let words = || [&breaker.state, &breaker.counts].map(|word| word.load(Ordering::Relaxed));
    let before = words();
    assert_eq!(breaker.call(true, now + MS), None);
    assert_eq!(words(), before);
}

#[test]
fn one_call_is_the_probe_and_its_success_closes() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(2), start);
    assert_eq!([breaker.call(false, start), breaker.call(false, start)], [None, OPENED]);
    let now = start + OPEN_FOR;
    assert_eq!(breaker.state(now), HalfOpen);
    let (probe, transition) = breaker.ticket(now);
    assert_eq!((probe.is_probe(), transition), (true, HALF_OPENED));
    assert_eq!(breaker.state(start), HalfOpen, "it is half-open whatever the time");
    assert_eq!(breaker.refused_for(now + OPEN_FOR), Duration::ZERO);
    assert_eq!(breaker.succeeded(probe, now), RECOVERED);
    assert_eq!(breaker.state(now), Closed);
    assert_eq!(breaker.call(false, now), None, "the row has begun anew");
    let counts = TransitionCounts { opened: 1, half_opened: 1, closed: 1 };
    assert_eq!(breaker.transitions(), counts);
}

#[test]
fn a_probe_that_fails_opens_for_the_whole_time_again() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(1), start);
    assert_eq!(breaker.call(false, start), OPENED);
    let (probe, _) = breaker.ticket(start + 30 * MS);
    assert_eq!(breaker.failed(probe, start + 40 * MS), REOPENED);
    assert_eq!(breaker.refused_for(start + 41 * MS), 19 * MS);
    assert_eq!(breaker.ticket(start + 60 * MS).1, HALF_OPENED);
    let counts = TransitionCounts { opened: 2, half_opened: 2, closed: 0 };
    assert_eq!(breaker.transitions(), counts);
}

#[test]
fn a_probe_that_is_dropped_gives_its_permit_back() {
    let start = Instant::now();
    let breaker = Arc::new(Breaker::new(&streak(1), start));
    assert_eq!(breaker.call(false, start), OPENED);
    let now = start + OPEN_FOR;
    let (permit, transition) = breaker.acquire(now).unwrap();
    assert_eq!(transition, HALF_OPENED);
    assert!(permit.ticket().is_some_and(Ticket::is_probe));
    assert_eq!(breaker.acquire(now).unwrap_err(), Duration::ZERO);
    drop(permit);
    assert_eq!(breaker.state(now), HalfOpen);
    let (permit, transition) = breaker.acquire(now).unwrap();
    assert_eq!(transition, None, "it was half-open");
    assert!(permit.ticket().is_some_and(Ticket::is_probe));
    assert_eq!(permit.failed(now), REOPENED);
    let (permit, _) = breaker.acquire(now + 21 * MS).unwrap();
    assert_eq!(permit.succeeded(now + 21 * MS), RECOVERED);
    drop(breaker.acquire(now + 21 * MS).unwrap());
    assert_eq!(breaker.state(now), Closed, "a call that is no probe has no permit to give");
}

#[test]
fn results_of_earlier_generations_are_ignored() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(2), start);
    let [first, second, third] = [(); 3].map(|()| breaker.ticket(start).0);
    assert_eq!([breaker.call(false, start), breaker.call(false, start)], [None, OPENED]);
    assert_eq!(breaker.failed(first, start), None);
    let now = start + OPEN_FOR;
    let (probe, _) = breaker.ticket(now);
    assert_eq!(breaker.succeeded(second, now), None, "only the probe closes");
    assert_eq!(breaker.state(now), HalfOpen);
    assert_eq!(breaker.succeeded(probe, now), RECOVERED);
    assert_eq!(breaker.call(false, now), None);
    assert_eq!(breaker.failed(third, now), None);
    assert_eq!(breaker.call(false, now), OPENED, "the second of this generation");
}

#[test]
fn a_reset_closes_and_takes_the_permit_back() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(2), start);
    assert_eq!(breaker.call(false, start), None);
    let late = breaker.ticket(start).0;
    assert_eq!(breaker.reset(start), None, "it was closed");
    assert_eq!(breaker.failed(late, start), None);
    assert_eq!([breaker.call(false, start), breaker.call(false, start)], [None, OPENED]);
    assert_eq!(breaker.reset(start), CLOSED);
    assert_eq!([breaker.call(false, start), breaker.call(false, start)], [None, OPENED]);
    let now = start + OPEN_FOR;
    let (first, _) = breaker.ticket(now);
    assert_eq!(breaker.reset(now), RECOVERED);
    assert_eq!([breaker.call(false, now), breaker.call(false, now)], [None, OPENED]);
    let now = now + OPEN_FOR;
    let (second, _) = breaker.ticket(now);
    assert_eq!(breaker.failed(first, now), None, "not the probe that is out");
    assert_eq!(breaker.state(now), HalfOpen);
    assert_eq!(breaker.succeeded(second, now), RECOVERED);
}

#[test]
fn a_dropped_probe_of_before_a_reset_frees_no_permit() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(1), start);
    breaker.call(false, start);
    let (old, _) = breaker.ticket(start + OPEN_FOR);
    assert_eq!(breaker.reset(start + OPEN_FOR), RECOVERED);
    breaker.call(false, start + OPEN_FOR);
    let now = start + 50 * MS;
    let (probe, _) = breaker.ticket(now);
    breaker.cancelled(old);
    assert_eq!(breaker.refused_for(now), Duration::ZERO);
    assert_eq!(breaker.succeeded(probe, now), RECOVERED);
}

#[test]
fn a_rate_trips_when_enough_calls_have_ended() {
    let now = Instant::now();
    let breaker = Breaker::new(&rate(50, 4), now);
    let ended = [false, false, false, true].map(|is_ok| breaker.call(is_ok, now));
    assert_eq!(ended, [None, None, None, OPENED], "the fourth call was missing");

    let breaker = Breaker::new(&rate(50, 4), now);
    let ended = [true, true, true, true, false, false, false, false];
    let ended = ended.map(|is_ok| breaker.call(is_ok, now));
    assert_eq!(ended, [None, None, None, None, None, None, None, OPENED]);
}

#[test]
fn each_window_counts_anew() {
    let start = Instant::now();
    let breaker = Breaker::new(&rate(100, 2), start);
    assert_eq!(breaker.call(false, start + 9 * MS), None);
    assert_eq!(breaker.call(false, start + 10 * MS), None, "in the next window");
    assert_eq!(breaker.call(false, start + 30 * MS), None, "after windows without calls");
    let late = breaker.ticket(start).0;
    assert_eq!(breaker.failed(late, start + 9 * MS), OPENED, "a clock that is behind");
}

#[test]
fn windows_begin_when_the_breaker_closes() {
    let start = Instant::now();
    let breaker = Breaker::new(&rate(100, 2), start);
    let now = start + 5 * MS;
    assert_eq!([breaker.call(false, now), breaker.call(false, now)], [None, OPENED]);
    let now = start + 37 * MS;
    assert_eq!(breaker.call(true, now), RECOVERED);
    assert_eq!(breaker.call(false, now + MS), None);
    assert_eq!(breaker.call(false, now + 9 * MS), OPENED, "37 to 47 is one window");
}

#[test]
fn counts_that_no_longer_fit_are_halved() {
    let now = Instant::now();
    let breaker = Breaker::new(&rate(50, MOST_CALLS), now);
    for n in 0..200_000 {
        assert_eq!(breaker.call(n % 5 < 3, now), None, "{n}: two of five fail");
    }
    let more = (0..200_000).find(|_| breaker.call(false, now).is_some()).unwrap();
    // Of the up to 65,535 calls that it remembers two of five failed: it takes a fifth
    // more.
    assert!((5_000..=14_000).contains(&more), "{more}");

    let breaker = Breaker::new(&rate(100, MOST_CALLS), now);
    assert_eq!(breaker.call(true, now), None);
    let next = (0..200_000).find(|_| breaker.call(false, now).is_some());
    assert_eq!(next, Some(65_534), "the one success is forgotten when they are halved");
}

#[test]
fn after_the_last_window_there_is_a_new_period() {
    let start = Instant::now();
    let breaker = Breaker::new(&rate(100, 2), start);
    let last = start + 10 * MS * u32::try_from(MAX_WINDOW).unwrap();
    assert_eq!(breaker.call(false, last), None);
    let late = breaker.ticket(last).0;
    let next = last + 10 * MS;
    assert_eq!(breaker.call(false, next), None, "the last window is over");
    assert_eq!(breaker.failed(late, next), None, "it was under way");
    assert_eq!(breaker.call(false, next), OPENED);
    assert_eq!(breaker.transitions().closed, 0, "it was closed all the time");
}

#[test]
fn a_period_that_comes_again_brings_no_counts_back() {
    let now = Instant::now();
    for settings in [streak(2), rate(100, 2)] {
        let breaker = Breaker::new(&settings, now);
        assert_eq!(breaker.call(false, now), None);
        let late = breaker.ticket(now).0;
        for _ in 0..=MAX_PERIOD {
            assert_eq!(breaker.reset(now), None);
        }
        assert_eq!(breaker.failed(late, now), None, "it is of another period");
        assert_eq!(breaker.call(false, now), None);
        assert_eq!(breaker.call(false, now), OPENED);
    }
}

#[test]
fn a_row_that_no_longer_fits_stays_the_longest() {
    let now = Instant::now();
    let breaker = Breaker::new(&streak(u32::MAX), now);
    let counts = |counted| Counts { window: 0, counted }.pack(0);
    breaker.counts.store(counts(u32::MAX - 2), Ordering::Relaxed);
    let late = [(); 3].map(|()| breaker.ticket(now).0);
    assert_eq!(late.map(|ticket| breaker.failed(ticket, now)), [None, OPENED, None]);

    let rule = Rule::Consecutive { failures: 1 };
    let longest = Counts { window: 0, counted: u32::MAX };
    assert_eq!(rule.add(longest, true), (longest, true));
}

#[test]
fn a_breaker_is_never_open_for_less_than_was_asked() {
    let start = Instant::now();
    let nanos = Duration::from_nanos;
    for asked in [1, 999, 1_000, 1_001, 1_500, 20_000_001].map(nanos) {
        let breaker = Breaker::new(&BreakerSettings::consecutive(1).open_for(asked), start);
        for opened in [0, 1, 999, 1_000, 1_001, 123_456].map(|n| start + nanos(n)) {
            let breaker = breaker.fork();
            assert_eq!(breaker.call(false, opened), OPENED);
            let left = breaker.refused_for(opened);
            assert!(left >= asked, "{left:?} for {asked:?}");
            assert!(left < asked + nanos(2_000), "{left:?} for {asked:?}");
            let before = opened + left.saturating_sub(nanos(1));
            assert_eq!(breaker.refused_for(before), nanos(1));
            assert_eq!(breaker.state(before), Open);
            assert_eq!(breaker.state(opened + left), HalfOpen);
            assert_eq!(breaker.ticket(opened + left).1, HALF_OPENED);
        }
    }
}

#[test]
fn time_before_the_breaker_was_made_is_no_error() {
    let now = Instant::now() + 50 * MS;
    let before = now.checked_sub(10 * MS).unwrap();
    for settings in [streak(1), rate(100, 1)] {
        let breaker = Breaker::new(&settings, now);
        assert_eq!(breaker.call(false, before), OPENED);
        assert_eq!(breaker.refused_for(before), OPEN_FOR);
        assert_eq!(breaker.ticket(now + OPEN_FOR).1, HALF_OPENED);
    }
}

#[test]
fn a_shadow_refuses_no_call_and_changes_its_state() {
    let start = Instant::now();
    let breaker = Breaker::new(&streak(1).shadow(), start);
    assert!(breaker.is_shadow());
    assert_eq!(breaker.call(false, start), OPENED);
    let (extra, _) = breaker.ticket(start);
    assert!(extra.would_be_refused() && !extra.is_probe());
    assert_eq!(breaker.succeeded(extra, start), None);
    assert_eq!(breaker.call(false, start), None);
    assert_eq!(breaker.state(start), Open);
    let now = start + OPEN_FOR;
    let (probe, transition) = breaker.ticket(now);
    assert_eq!((probe.is_probe(), transition), (true, HALF_OPENED));
    let (extra, transition) = breaker.ticket(now);
    assert_eq!((extra.would_be_refused(), transition), (true, None));
    assert_eq!(breaker.failed(extra, now), None);
    breaker.cancelled(breaker.ticket(now).0);
    assert_eq!(breaker.state(now), HalfOpen);
    assert!(breaker.ticket(now).0.would_be_refused(), "the probe is out");
    assert_eq!(breaker.succeeded(probe, now), RECOVERED);
    assert!(!breaker.ticket(now).0.would_be_refused());
}

#[test]
fn settings_that_cannot_be_kept_say_what_to_write() {
    let consecutive = BreakerSettings::consecutive;
    let rate = BreakerSettings::rate;
    let day = Duration::from_hours(24);
    let good = [
        consecutive(1),
        consecutive(u32::MAX).open_for(Duration::from_nanos(1)),
        consecutive(1).open_for(365 * day),
        rate(1).at_least(1).over(MS),
        rate(100).at_least(MOST_CALLS).over(365 * day),
    ];
    for settings in good {
        assert_eq!(settings.validate(), Ok(()), "{settings:?}");
    }
    let bad = [
        (consecutive(0), "`consecutive(1)` or more"),
        (consecutive(1).over(MS), "`BreakerSettings::rate`"),
        (consecutive(1).at_least(1), "`BreakerSettings::rate`"),
        (consecutive(1).open_for(Duration::ZERO), "above zero"),
        (consecutive(1).open_for(365 * day + MS), "up to 365 days"),
        (rate(0), "`rate(0)` is not a share of the calls that can fail: use a percentage"),
        (rate(101), "from 1 to 100"),
        (rate(50).over(Duration::ZERO), "`over(0ns)`"),
        (rate(50).over(Duration::from_micros(999)), "from 1 millisecond"),
        (rate(50).over(365 * day + MS), "to 365 days"),
        (rate(50).at_least(0), "`at_least(0)`"),
        (rate(50).at_least(MOST_CALLS + 1), "use 1 to 32768"),
    ];
    for (settings, expected) in bad {
        let text = settings.validate().unwrap_err();
        assert!(text.contains(expected), "{settings:?}: {text}");
    }
}

#[test]
fn states_have_names() {
    let names = [Closed, Open, HalfOpen].map(|state| (state.as_str(), state.to_string()));
    let names = names.each_ref().map(|(word, text)| (*word, &**text));
    assert_eq!(names, [("closed", "closed"), ("open", "open"), ("half_open", "half-open")]);
    assert_eq!(OPENED.unwrap().to_string(), "closed to open");
    let breaker = Breaker::new(&streak(1), Instant::now());
    assert_eq!(format!("{breaker:?}"), "Breaker { state: Closed, .. }");
}

/// The breaker as it would be written for one thread: it keeps all results and packs
/// nothing.
#[derive(Clone)]
struct Reference {
    settings: BreakerSettings,
    /// Changes with every transition, probe and reset.
    generation: u32,
    state: ReferenceState,
}

#[derive(Clone)]
enum ReferenceState {
    Closed { since: Instant, ended: Vec<(Instant, bool)> },
    Open { until: Instant },
    HalfOpen { is_probing: bool },
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum ReferenceTicket {
    Counted(u32),
    Probe(u32),
    Unenforced,
}

impl Reference {
    fn new(settings: &BreakerSettings, now: Instant) -> Self {
        let state = ReferenceState::Closed { since: now, ended: Vec::new() };
        Self { settings: settings.clone(), generation: 0, state }
    }

    fn state(&self, now: Instant) -> BreakerState {
        match self.state {
            ReferenceState::Closed { .. } => Closed,
            ReferenceState::Open { until } if now < until => Open,
            ReferenceState::Open { .. } | ReferenceState::HalfOpen { .. } => HalfOpen,
        }
    }

    fn change(&mut self, to: ReferenceState) {
        self.generation += 1;
        self.state = to;
    }

    fn admit(&mut self, now: Instant) -> Result<(ReferenceTicket, Option<Transition>), Duration> {
        let refused = match self.state {
            ReferenceState::Closed { .. } => {
                return Ok((ReferenceTicket::Counted(self.generation), None));
            }
            ReferenceState::Open { until } if now < until => Some(until - now),
            ReferenceState::HalfOpen { is_probing: true } => Some(Duration::ZERO),
            ReferenceState::Open { .. } | ReferenceState::HalfOpen { .. } => None,
        };
        match refused {
            Some(_) if self.settings.is_shadow => Ok((ReferenceTicket::Unenforced, None)),
            Some(left) => Err(left),
            None => {
                let was_open = matches!(self.state, ReferenceState::Open { .. });
                self.change(ReferenceState::HalfOpen { is_probing: true });
                let ticket = ReferenceTicket::Probe(self.generation);
                Ok((ticket, if was_open { HALF_OPENED } else { None }))
            }
        }
    }

    fn end(&mut self, ticket: ReferenceTicket, is_ok: bool, now: Instant) -> Option<Transition> {
        let until = now + self.settings.open_for;
        match ticket {
            ReferenceTicket::Counted(generation) if generation == self.generation => {
                let ReferenceState::Closed { since, ended } = &mut self.state else {
                    panic!("only a closed breaker admits such calls");
                };
                ended.push((now, is_ok));
                if !reaches_limit(&self.settings, *since, ended, now) {
                    return None;
                }
                self.change(ReferenceState::Open { until });
                OPENED
            }
            ReferenceTicket::Probe(generation) if generation == self.generation => {
                if is_ok {
                    self.change(ReferenceState::Closed { since: now, ended: Vec::new() });
                    RECOVERED
                } else {
                    self.change(ReferenceState::Open { until });
                    REOPENED
                }
            }
            _ => None,
        }
    }

    fn cancel(&mut self, ticket: ReferenceTicket) {
        if ticket == ReferenceTicket::Probe(self.generation) {
            self.state = ReferenceState::HalfOpen { is_probing: false };
        }
    }

    fn reset(&mut self, now: Instant) -> Option<Transition> {
        let from = match self.state {
            ReferenceState::Closed { .. } => None,
            ReferenceState::Open { .. } => Some(Open),
            ReferenceState::HalfOpen { .. } => Some(HalfOpen),
        };
        self.change(ReferenceState::Closed { since: now, ended: Vec::new() });
        from.map(|from| Transition { from, to: Closed })
    }
}

fn reaches_limit(
    settings: &BreakerSettings,
    since: Instant,
    ended: &[(Instant, bool)],
    now: Instant,
) -> bool {
    match settings.limit {
        Limit::Consecutive(failures) => {
            let row = ended.iter().rev().take_while(|(_, is_ok)| !is_ok).count();
            row >= usize::try_from(failures).unwrap()
        }
        Limit::Percent(percent) => {
            let length = settings.window.unwrap().as_nanos();
            let window = |time: Instant| (time - since).as_nanos() / length;
            let present = ended.iter().filter(|(time, _)| window(*time) == window(now));
            let calls = present.clone().count();
            let failures = present.filter(|(_, is_ok)| !is_ok).count();
            calls >= usize::try_from(settings.calls.unwrap()).unwrap()
                && failures * 100 >= calls * usize::from(percent)
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Admit,
    EndFirst(bool),
    EndLast(bool),
    CancelFirst,
    Reset,
    /// So many milliseconds pass.
    Wait(u32),
}

const ACTIONS: [Action; 8] = [
    Action::Admit,
    Action::EndFirst(true),
    Action::EndFirst(false),
    Action::EndLast(false),
    Action::CancelFirst,
    Action::Reset,
    Action::Wait(6),
    Action::Wait(20),
];

#[derive(Clone)]
struct Both {
    reference: Reference,
    under_way: Vec<(Ticket, ReferenceTicket)>,
    now: Instant,
    history: Vec<Action>,
}

impl Both {
    /// Whether there is something that the action can be done with.
    fn act(&mut self, breaker: &Breaker, action: Action) -> bool {
        let now = self.now;
        match action {
            Action::Admit => match (breaker.admit(now), self.reference.admit(now)) {
                (Admission::Call { ticket, transition }, Ok((other, expected))) => {
                    assert_eq!(transition, expected, "{:?}", self.history);
                    let is_probe = matches!(other, ReferenceTicket::Probe(_));
                    assert_eq!(ticket.is_probe(), is_probe, "{:?}", self.history);
                    let is_unenforced = matches!(other, ReferenceTicket::Unenforced);
                    assert_eq!(ticket.would_be_refused(), is_unenforced);
                    self.under_way.push((ticket, other));
                }
                (Admission::Refused { retry_in }, Err(expected)) => {
                    assert_eq!(retry_in, expected, "{:?}", self.history);
                }
                (admission, expected) => {
                    panic!("{admission:?}, {expected:?}: {:?}", self.history)
                }
            },
            Action::EndFirst(is_ok) | Action::EndLast(is_ok) => {
                let is_first = matches!(action, Action::EndFirst(_));
                let place = if is_first { 0 } else { self.under_way.len().wrapping_sub(1) };
                if self.under_way.len() <= usize::from(!is_first) {
                    return false;
                }
                let (ticket, other) = self.under_way.remove(place);
                let transition = if is_ok {
                    breaker.succeeded(ticket, now)
                } else {
                    breaker.failed(ticket, now)
                };
                let expected = self.reference.end(other, is_ok, now);
                assert_eq!(transition, expected, "{:?}", self.history);
            }
            Action::CancelFirst => {
                if self.under_way.is_empty() {
                    return false;
                }
                let (ticket, other) = self.under_way.remove(0);
                breaker.cancelled(ticket);
                self.reference.cancel(other);
            }
            Action::Reset => {
                let transition = breaker.reset(now);
                assert_eq!(transition, self.reference.reset(now), "{:?}", self.history);
            }
            Action::Wait(time) => self.now += time * MS,
        }
        let state = breaker.state(self.now);
        assert_eq!(state, self.reference.state(self.now), "{:?}", self.history);
        true
    }

    /// All histories of so many actions from here on.
    fn explore(&self, breaker: &Breaker, depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let explored = ACTIONS.iter().map(|&action| {
            let (mut next, breaker) = (self.clone(), breaker.fork());
            next.history.push(action);
            if next.act(&breaker, action) { next.explore(&breaker, depth - 1) } else { 0 }
        });
        explored.sum()
    }
}

#[test]
fn all_short_histories_are_as_in_the_reference() {
    let tightest = rate(50, 2).over(10 * MS);
    for settings in [streak(1), streak(2), streak(2).shadow(), tightest.clone(), rate(100, 1)] {
        let now = Instant::now();
        let breaker = Breaker::new(&settings, now);
        let reference = Reference::new(&settings, now);
        let both = Both { reference, under_way: Vec::new(), now, history: Vec::new() };
        let explored = both.explore(&breaker, 7);
        assert!(explored > 100_000, "{explored}");
    }
}
