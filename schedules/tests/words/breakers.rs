//! A circuit breaker that several calls meet: one of them is the probe, each transition
//! is returned once, and what was admitted before a transition is not counted after it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::BreakerState::{self, Closed, HalfOpen, Open};
use crate::breaker::{Admission, Breaker, BreakerSettings, Ticket, Transition};
use crate::checker::atomic::AtomicUsize;
use crate::checker::atomic::Ordering::Relaxed;
use crate::checker::thread;
use crate::{every_schedule, most_schedules};

const OPEN_FOR: Duration = Duration::from_millis(1);

/// What threads do with a breaker. All at one time, which is past `OPEN_FOR`.
struct Model {
    breaker: Breaker,
    now: Instant,
    /// Probes that are out. A step of the schedule, as what a handler does: others get
    /// ahead while a probe runs.
    out: AtomicUsize,
    seen: Mutex<Seen>,
}

/// What is noted is no step of a schedule.
#[derive(Default)]
struct Seen {
    transitions: Vec<Transition>,
    probes: usize,
    /// The tickets of the calls that failed, as text.
    failed: Vec<String>,
    /// A call from before all the steps.
    early: Option<Ticket>,
}

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Succeeds,
    Fails,
    IsDropped,
}

fn consecutive(failures: u32) -> BreakerSettings {
    BreakerSettings::consecutive(failures).open_for(OPEN_FOR)
}

/// Trips when as many calls have ended in the window, and all of them failed.
fn rate(calls: u32) -> BreakerSettings {
    BreakerSettings::rate(100).at_least(calls).open_for(OPEN_FOR)
}

impl Model {
    fn closed(settings: &BreakerSettings) -> Arc<Self> {
        let start = Instant::now();
        let breaker = Breaker::new(settings, start);
        let (now, out) = (start + OPEN_FOR, AtomicUsize::new(0));
        Arc::new(Self { breaker, now, out, seen: Mutex::default() })
    }

    /// Open, and it is time for a probe.
    fn due(settings: &BreakerSettings) -> Arc<Self> {
        let model = Self::closed(settings);
        let past = model.now.checked_sub(OPEN_FOR).unwrap();
        while model.breaker.state(past) == Closed {
            let Admission::Call { ticket, .. } = model.breaker.admit(past) else { panic!() };
            model.breaker.failed(ticket, past);
        }
        model
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, transition: Option<Transition>) -> Option<Transition> {
        self.seen(|seen| seen.transitions.extend(transition));
        transition
    }

    fn admit(&self) -> Option<Ticket> {
        match self.breaker.admit(self.now) {
            Admission::Call { ticket, transition } => {
                self.note(transition);
                if ticket.is_probe() {
                    self.seen(|seen| seen.probes += 1);
                    assert_eq!(self.out.fetch_add(1, Relaxed), 0, "two probes are out");
                }
                Some(ticket)
            }
            Admission::Refused { .. } => None,
        }
    }

    fn end(&self, ticket: Ticket, end: End) -> Option<Transition> {
        if ticket.is_probe() {
            self.out.fetch_sub(1, Relaxed);
        }
        match end {
            End::Succeeds => self.note(self.breaker.succeeded(ticket, self.now)),
            End::Fails => {
                self.seen(|seen| seen.failed.push(format!("{ticket:?}")));
                self.note(self.breaker.failed(ticket, self.now))
            }
            End::IsDropped => {
                self.breaker.cancelled(ticket);
                None
            }
        }
    }

    /// A call, if it is admitted. Whether it was the probe.
    fn call(&self, end: End) -> Option<bool> {
        let ticket = self.admit()?;
        let is_probe = ticket.is_probe();
        self.end(ticket, end);
        Some(is_probe)
    }

    fn reset(&self) {
        self.note(self.breaker.reset(self.now));
    }

    fn state(&self) -> BreakerState {
        self.breaker.state(self.now)
    }

    /// How often a transition was returned.
    fn returned(&self, from: BreakerState, to: BreakerState) -> usize {
        let is_it = |transition: &&Transition| (transition.from, transition.to) == (from, to);
        self.seen(|seen| seen.transitions.iter().filter(is_it).count())
    }
}

/// Runs each on a thread of its own, the last one on this thread.
fn together<const N: usize>(model: &Arc<Model>, steps: [fn(&Model); N]) {
    let (last, others) = steps.split_last().unwrap();
    let threads: Vec<_> = others
        .iter()
        .map(|&step| {
            let model = Arc::clone(model);
            thread::spawn(move || step(&model))
        })
        .collect();
    last(model);
    for thread in threads {
        thread.join().unwrap();
    }
}

fn succeed(model: &Model) {
    model.call(End::Succeeds);
}

fn fail(model: &Model) {
    model.call(End::Fails);
}

fn drop_call(model: &Model) {
    model.call(End::IsDropped);
}

/// One call is the probe. It closes the breaker, and those after it are no probes.
fn closes(steps: [fn(&Model); 2]) {
    let model = Model::due(&consecutive(1));
    together(&model, steps);
    assert_eq!(model.seen(|seen| seen.probes), 1);
    assert_eq!(model.returned(Open, HalfOpen), 1);
    assert_eq!(model.returned(HalfOpen, Closed), 1);
    assert_eq!(model.seen(|seen| seen.transitions.len()), 2);
    assert_eq!(model.state(), Closed);
}

/// One call is the probe. It opens the breaker again, and the others are refused.
fn opens_again<const N: usize>(steps: [fn(&Model); N]) {
    let model = Model::due(&consecutive(1));
    together(&model, steps);
    assert_eq!(model.seen(|seen| seen.probes), 1);
    assert_eq!(model.returned(Open, HalfOpen), 1);
    assert_eq!(model.returned(HalfOpen, Open), 1);
    assert_eq!(model.seen(|seen| seen.transitions.len()), 2);
    assert_eq!(model.state(), Open);
    let counts = model.breaker.transitions();
    assert_eq!([counts.opened, counts.half_opened, counts.closed], [2, 1, 0]);
}

/// A probe that is dropped gives its permit back: it is not lost, and there are not two.
fn gives_back<const N: usize>(steps: [fn(&Model); N]) {
    let model = Model::due(&consecutive(1));
    together(&model, steps);
    assert_eq!(model.returned(Open, HalfOpen), 1, "and it is no transition to take it again");
    if model.returned(HalfOpen, Closed) == 0 {
        assert_eq!(model.state(), HalfOpen);
        assert_eq!(model.call(End::Succeeds), Some(true), "the permit was lost");
    }
    assert_eq!(model.returned(HalfOpen, Closed), 1);
    assert_eq!(model.state(), Closed);
}

#[test]
fn l35_one_call_is_the_probe_and_closes() {
    every_schedule("two calls at a breaker that is due", || closes([succeed, succeed]));
}

#[test]
fn l35_one_call_is_the_probe_and_opens_again() {
    every_schedule("two calls that fail at a breaker that is due", || opens_again([fail, fail]));
    most_schedules(3, "three calls that fail at a breaker that is due", || {
        opens_again([fail, fail, fail]);
    });
}

#[test]
fn l35_a_dropped_probe_gives_its_permit_back() {
    every_schedule("a call and one that is dropped at a breaker that is due", || {
        gives_back([drop_call, succeed]);
    });
    most_schedules(3, "a call and two that are dropped at a breaker that is due", || {
        gives_back([drop_call, drop_call, succeed]);
    });
}

/// What a probe comes to after a reset is ignored, so the breaker is closed in the end;
/// and if the call was a probe, it is not counted.
fn reset_meanwhile(end: fn(&Model)) {
    let model = Model::due(&consecutive(2));
    together(&model, [end, Model::reset]);
    assert_eq!(model.state(), Closed);
    let closed = model.returned(Open, Closed) + model.returned(HalfOpen, Closed);
    assert_eq!(closed, 1);
    let was_probe = model.seen(|seen| seen.probes) == 1;
    fail(&model);
    if was_probe {
        assert_eq!(model.state(), Closed, "the result of a probe was counted");
    }
    fail(&model);
    assert_eq!(model.state(), Open);
}

#[test]
fn l35_a_reset_meets_a_probe() {
    every_schedule("a reset against a probe that fails", || reset_meanwhile(fail));
    every_schedule("a reset against a probe that succeeds", || reset_meanwhile(succeed));
    every_schedule("a reset against a probe that is dropped", || reset_meanwhile(drop_call));
}

/// Exactly the failures of calls that were admitted in the present generation are counted.
fn counts_the_present<const N: usize>(settings: &BreakerSettings, steps: [fn(&Model); N]) {
    let model = Model::closed(settings);
    let [first, second] = [(); 2].map(|()| model.admit().unwrap());
    model.end(first, End::Fails);
    model.seen(|seen| seen.early = Some(second));
    together(&model, steps);
    assert_eq!(model.seen(|seen| seen.transitions.len()), 0, "it is closed all the time");
    let present = format!("{:?}", model.admit().unwrap());
    let counted = model.seen(|seen| seen.failed.iter().filter(|by| **by == present).count());
    let missing = (1..=FAILURES).find(|_| {
        fail(&model);
        model.state() == Open
    });
    assert_eq!(missing, Some(FAILURES - counted), "{counted} are of the present generation");
}

/// More than a model has before it looks.
const FAILURES: usize = 5;

/// A call from before all the steps fails.
fn fail_early(model: &Model) {
    let early = model.seen(|seen| seen.early.take().unwrap());
    model.end(early, End::Fails);
}

fn reset_and_fail(model: &Model) {
    model.reset();
    fail(model);
}

#[test]
fn l35_a_result_of_an_earlier_generation_is_not_counted() {
    every_schedule("a failure from before a reset, in a row", || {
        counts_the_present(&consecutive(5), [fail_early, reset_and_fail]);
    });
    every_schedule("a failure from before a reset, at a rate", || {
        counts_the_present(&rate(5), [fail_early, reset_and_fail]);
    });
}

#[test]
fn l35_a_reset_that_is_late_puts_no_counts_of_another_away() {
    every_schedule("two resets and a failure after one of them", || {
        counts_the_present(&consecutive(5), [Model::reset, reset_and_fail]);
    });
    most_schedules(3, "failures from before, after and beside a reset", || {
        counts_the_present(&consecutive(5), [fail_early, Model::reset, fail]);
    });
    most_schedules(3, "failures from before, after and beside a reset, at a rate", || {
        counts_the_present(&rate(5), [fail_early, Model::reset, fail]);
    });
}

/// No result is lost: so many failures trip, and one of them returns it.
fn trips<const N: usize>(settings: &BreakerSettings, steps: [fn(&Model); N]) {
    let model = Model::closed(settings);
    together(&model, steps);
    assert_eq!(model.returned(Closed, Open), 1);
    assert_eq!(model.seen(|seen| seen.transitions.len()), 1);
    assert_eq!(model.state(), Open);
}

#[test]
fn l35_no_failure_is_lost_and_one_trips() {
    every_schedule("two failures in a row trip", || trips(&consecutive(2), [fail, fail]));
    every_schedule("two failures at a rate trip", || trips(&rate(2), [fail, fail]));
    every_schedule("two failures of which each trips", || trips(&consecutive(1), [fail, fail]));
    most_schedules(3, "three failures in a row trip", || {
        trips(&consecutive(3), [fail, fail, fail]);
    });
}
