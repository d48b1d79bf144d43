//! How the plainly right registry fires: one handler after another.

use std::rc::Rc;

use hooks_runtime::FailurePolicy;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};

use crate::event::{Event, Row, placeless};
use crate::log;
use crate::observer;
use crate::plan::{Answer, DEPTH, Ending, ScopeOf, Shot, Spot};
use crate::reference::{Admitted, Begun, Handler, Reference, name_of, narrowed, owner};

/// The outcome in words, and the report, point by point.
pub type Came = (String, Vec<(String, Vec<Row>)>);

/// The rounds of one fire; it is dropped after `stop` of them.
pub struct Clock {
    round: u32,
    stop: Option<u32>,
}

impl Clock {
    /// Waits, unless the fire is dropped before.
    pub fn wait(&mut self, rounds: u32) -> bool {
        self.round += rounds;
        self.stop.is_none_or(|stop| self.round <= stop)
    }
}

/// How a handler failed: in one word, and in all.
pub struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    pub fn error(message: &str) -> Self {
        Self { kind: "error", message: message.into() }
    }

    fn panic(text: &str) -> Self {
        Self { kind: "panic", message: format!("panicked: {text}") }
    }
}

/// What a handler's answer means for the fire.
pub enum Next {
    On(Contribution),
    End(Contribution, SkipReason),
    Failed(Failure),
}

/// What a sequential model does with its handlers.
pub trait Composer {
    /// What the next handler is given, in words.
    fn saw(&mut self, handler: &Handler) -> String;
    /// What a handler does before it ends.
    fn steer(&mut self, _: &Handler, _: &mut Vec<Event>) {}
    /// Takes the answer of a handler that did not fail.
    fn accept(&mut self, handler: &Handler) -> Next;
}

/// How far a walk over the handlers of one point came.
pub enum Walked {
    Through,
    Failed(String),
    Dropped,
}

/// Who takes part in a fire.
pub struct Part<'f> {
    pub admitted: &'f Admitted,
    pub targets: &'f [&'static str],
    /// The run of a flow that it is a stage of.
    pub run: Option<Begun>,
}

/// When a handler that was begun ends.
enum Ends {
    After(u32),
    TimedOut(u32),
    NoTimer,
}

impl Reference {
    pub fn scope_of(&self, scope: &ScopeOf, given: Option<&Admitted>) -> Admitted {
        match scope {
            ScopeOf::Everyone => None,
            ScopeOf::Made(number) => self.scope_made(*number),
            ScopeOf::Given(plugins) => narrowed(given.cloned().unwrap_or(None), plugins),
        }
    }

    pub fn fire(
        &mut self,
        shot: &Shot,
        payload: u32,
        admitted: Admitted,
        stop: Option<u32>,
    ) -> Came {
        let mut clock = Clock { round: 1, stop };
        match shot {
            Shot::Flow(run) => self.flow(run, payload, &admitted, &mut clock),
            Shot::At(spot) => {
                self.fired.insert(*spot);
                self.observe(observer::fire(name_of(*spot), self.chain.len()));
                let list = self.at(*spot);
                let mut rows = Vec::new();
                let outcome = match self.too_deep(name_of(*spot)) {
                    Some(error) if !list.is_empty() => error,
                    _ => {
                        self.chain.push(name_of(*spot));
                        let part = Part { admitted: &admitted, targets: &[], run: None };
                        let outcome =
                            self.fire_at(*spot, payload, &list, &part, &mut clock, &mut rows);
                        self.chain.pop();
                        outcome
                    }
                };
                self.observe(observer::fired(name_of(*spot), word(&outcome)));
                (outcome, vec![(name_of(*spot).into(), rows)])
            }
        }
    }

    /// The error of a fire that would be nested too deep.
    pub fn too_deep(&self, point: &'static str) -> Option<String> {
        let chain: Vec<_> = self.chain.iter().copied().chain([point]).collect();
        (self.chain.len() >= DEPTH).then(|| {
            format!(
                "fires are nested deeper than {DEPTH}: {}; end the recursion, or \
                              raise `max_depth` of the builder",
                chain.join(" > ")
            )
        })
    }

    fn fire_at(
        &mut self,
        spot: Spot,
        payload: u32,
        list: &[Rc<Handler>],
        part: &Part<'_>,
        clock: &mut Clock,
        rows: &mut Vec<Row>,
    ) -> String {
        match spot {
            Spot::Told | Spot::Vowed => self.tell(payload, list, part, clock, rows),
            Spot::Amended => {
                let mut amending = Amending { payload, merged: [None; 3] };
                let walked = self.walk(list, part, clock, rows, &mut amending);
                came(walked, || format!("amended {:?}", amending.merged))
            }
            Spot::Routed => {
                let mut routing = Routing { payload, claim: None };
                let walked = self.walk(list, part, clock, rows, &mut routing);
                came(walked, || {
                    routing.claim.map_or("unclaimed".into(), |c| format!("claimed {c}"))
                })
            }
            Spot::Posted | Spot::Mailed => {
                let mut passing = Passing { payload, rejection: None };
                let walked = self.walk(list, part, clock, rows, &mut passing);
                came(walked, || passing.rejection.unwrap_or(format!("passed {}", passing.payload)))
            }
            stage => unreachable!("{stage:?} is run by its flow"),
        }
    }

    /// All handlers at once, all awaited to the end.
    fn tell(
        &mut self,
        payload: u32,
        list: &[Rc<Handler>],
        part: &Part<'_>,
        clock: &mut Clock,
        rows: &mut Vec<Row>,
    ) -> String {
        let mut settled = Vec::new();
        let mut ended: Vec<Option<Result<(), Failure>>> = Vec::new();
        let mut waiting = Vec::new();
        for (place, handler) in list.iter().enumerate() {
            ended.push(None);
            if let Some(filter) = part.leaves_out(handler) {
                rows.push(row(handler, HandlerStatus::Filtered(filter)));
                continue;
            }
            rows.push(row(handler, HandlerStatus::Cancelled));
            let saw = format!("{payload}{}", known(handler));
            if let Some(failure) = self.begin(handler, saw, part.admitted) {
                handler.running.set(handler.running.get() - 1);
                ended[place] = Some(Err(failure));
                continue;
            }
            match self.ends(handler) {
                Ends::After(0) => {
                    self.events.push(Event::End(handler.tag));
                    handler.running.set(handler.running.get() - 1);
                    ended[place] = Some(ending(handler));
                }
                Ends::NoTimer => {
                    settled.push(format!("dropped {}", handler.tag));
                    self.dropped(handler);
                    handler.running.set(handler.running.get() - 1);
                    ended[place] = Some(Err(no_timer(handler)));
                }
                Ends::After(rounds) => waiting.push((place, rounds, ending(handler))),
                Ends::TimedOut(rounds) => {
                    waiting.push((place, rounds, Err(timed_out(handler))));
                }
            }
        }
        let mut dropped = false;
        for (place, rounds, outcome) in waiting {
            let handler = &list[place];
            handler.running.set(handler.running.get() - 1);
            let in_time = Clock { ..*clock }.wait(rounds);
            dropped |= !in_time;
            let timed_out = matches!(&outcome, Err(Failure { kind: "timeout", .. }));
            let word = if in_time && !timed_out { "end" } else { "dropped" };
            if word == "dropped" {
                self.dropped(handler);
            }
            settled.push(format!("{word} {}", handler.tag));
            ended[place] = in_time.then_some(outcome);
        }
        if !settled.is_empty() {
            settled.sort();
            self.events.push(Event::Settled(settled));
        }
        let mut error = None;
        for ((handler, row), ended) in list.iter().zip(&mut *rows).zip(ended) {
            match ended {
                None => (),
                Some(Ok(())) => row.status = HandlerStatus::Ran(Contribution::Nothing),
                Some(Err(failure)) => {
                    let closed = self.fail(handler, failure, row);
                    error = error.or(closed);
                }
            }
        }
        for (handler, row) in list.iter().zip(rows) {
            self.came_to(handler, &row.status);
        }
        if dropped { "dropped".into() } else { error.unwrap_or("notified".into()) }
    }

    /// One handler after another.
    pub fn walk(
        &mut self,
        list: &[Rc<Handler>],
        part: &Part<'_>,
        clock: &mut Clock,
        rows: &mut Vec<Row>,
        composer: &mut impl Composer,
    ) -> Walked {
        let mut over: Option<(SkipReason, Walked)> = None;
        for handler in list {
            let filter = match &over {
                Some((filter, _)) => Some(*filter),
                None => part.leaves_out(handler),
            };
            if let Some(filter) = filter {
                let row = row(handler, HandlerStatus::Filtered(filter));
                self.came_to(handler, &row.status);
                rows.push(row);
                continue;
            }
            let saw = composer.saw(handler);
            let Some(outcome) = self.call(handler, saw, part.admitted, clock, composer) else {
                self.came_to(handler, &HandlerStatus::Cancelled);
                return Walked::Dropped;
            };
            let mut told = row(handler, HandlerStatus::Cancelled);
            let next = outcome.map_or_else(Next::Failed, |()| composer.accept(handler));
            match next {
                Next::On(contribution) => told.status = HandlerStatus::Ran(contribution),
                Next::End(contribution, filter) => {
                    told.status = HandlerStatus::Ran(contribution);
                    over = Some((filter, Walked::Through));
                }
                Next::Failed(failure) => {
                    if let Some(error) = self.fail(handler, failure, &mut told) {
                        over = Some((SkipReason::AfterFailure, Walked::Failed(error)));
                    }
                }
            }
            self.came_to(handler, &told.status);
            rows.push(told);
        }
        over.map_or(Walked::Through, |(_, walked)| walked)
    }

    /// Calls a handler to its end; `None` when the fire is dropped before.
    fn call(
        &mut self,
        handler: &Handler,
        saw: String,
        admitted: &Admitted,
        clock: &mut Clock,
        composer: &mut impl Composer,
    ) -> Option<Result<(), Failure>> {
        let outcome = match self.begin(handler, saw, admitted) {
            Some(failure) => Some(Err(failure)),
            None => match self.ends(handler) {
                Ends::NoTimer => {
                    self.events.push(Event::Dropped(handler.tag));
                    self.dropped(handler);
                    Some(Err(no_timer(handler)))
                }
                Ends::TimedOut(rounds) => {
                    self.events.push(Event::Dropped(handler.tag));
                    self.dropped(handler);
                    clock.wait(rounds).then(|| Err(timed_out(handler)))
                }
                Ends::After(rounds) if !clock.wait(rounds) => {
                    self.events.push(Event::Dropped(handler.tag));
                    self.dropped(handler);
                    None
                }
                Ends::After(_) => {
                    if handler.script.late {
                        self.acts_of(handler, admitted);
                    }
                    self.events.push(Event::End(handler.tag));
                    composer.steer(handler, &mut self.events);
                    Some(ending(handler))
                }
            },
        };
        handler.running.set(handler.running.get() - 1);
        outcome
    }

    /// The beginning of a call; the failure of one that ends with it.
    fn begin(&mut self, handler: &Handler, saw: String, admitted: &Admitted) -> Option<Failure> {
        handler.calls.set(handler.calls.get() + 1);
        handler.running.set(handler.running.get() + 1);
        self.events.push(Event::Start { tag: handler.tag, saw });
        let (point, owner) = (name_of(handler.spot), owner(handler.plugin));
        self.observe(observer::begins(point, &handler.name, &owner));
        if handler.script.ending == Ending::PanicEarly {
            self.events.push(Event::Dropped(handler.tag));
            return Some(Failure::panic("boom"));
        }
        if !handler.script.late {
            self.acts_of(handler, admitted);
        }
        None
    }

    /// Tells observers what became of a handler.
    fn came_to(&mut self, handler: &Handler, status: &HandlerStatus) {
        let (point, owner) = (name_of(handler.spot), owner(handler.plugin));
        self.observe(observer::came_to(point, &handler.name, &owner, status));
    }

    /// Notes a failure; the error of the fire, if the handler fails closed.
    fn fail(&mut self, handler: &Handler, failure: Failure, row: &mut Row) -> Option<String> {
        let Failure { kind, message } = failure;
        handler.failures.set(handler.failures.get() + 1);
        let (name, owner) = (placeless(&handler.name), owner(handler.plugin));
        let point = name_of(handler.spot);
        let policy = handler.policy.to_string();
        self.logged.push(log::failure(point, &name, &owner, kind, &policy));
        let error = format!("handler `{name}` ({owner}) at `{point}`: {message}");
        row.status = HandlerStatus::Failed { kind, message, policy: handler.policy };
        (handler.policy == FailurePolicy::Closed).then_some(error)
    }

    /// A future that is dropped before its end; what panics in that goes to
    /// the log.
    fn dropped(&mut self, handler: &Handler) {
        if handler.script.ending == Ending::PanicInDrop {
            self.logged.push(log::lost("boom"));
        }
    }

    fn acts_of(&mut self, handler: &Handler, admitted: &Admitted) {
        self.inside.push((handler.tag, handler.plugin));
        let stage = handler.spot >= Spot::BeforeValidation;
        let given = (stage || handler.script.form.has_context()).then_some(admitted);
        for op in &handler.script.acts {
            self.act(op, given);
        }
        self.inside.pop();
    }

    fn ends(&self, handler: &Handler) -> Ends {
        let rounds = if handler.script.form.waits() { handler.script.rounds } else { 0 };
        match handler.limit {
            Some(_) if rounds > 0 && !self.timer => Ends::NoTimer,
            Some(limit) if limit < rounds => Ends::TimedOut(limit),
            _ => Ends::After(rounds),
        }
    }
}

impl Part<'_> {
    /// Why a handler takes no part; that is counted.
    fn leaves_out(&self, handler: &Handler) -> Option<SkipReason> {
        let in_scope = match (self.admitted, handler.plugin) {
            (Some(admitted), Some(plugin)) => admitted.contains(plugin),
            _ => true,
        };
        let filter = if !in_scope {
            SkipReason::Scope
        } else if handler.target.is_some_and(|target| !self.targets.contains(&target)) {
            SkipReason::Target
        } else if handler.closed.get() && !self.still_comes_to(handler) {
            SkipReason::Unregistered
        } else {
            if let (Some(run), Some(plugin)) = (&self.run, handler.plugin) {
                run.borrow_mut().insert((plugin, handler.stay.get()));
            }
            return None;
        };
        handler.filtered.set(handler.filtered.get() + 1);
        Some(filter)
    }

    /// Whether the run gives a handler that left its end all the same.
    fn still_comes_to(&self, handler: &Handler) -> bool {
        let begun = self.run.as_ref().map(|run| run.borrow());
        let begun = begun.zip(handler.plugin);
        handler.leaves.get()
            && begun.is_some_and(|(begun, plugin)| begun.contains(&(plugin, handler.stay.get())))
    }
}

/// What a handler with a context says of it.
pub fn known(handler: &Handler) -> String {
    if handler.script.form.has_context() {
        format!(" at {} as {}", name_of(handler.spot), owner(handler.plugin))
    } else {
        String::new()
    }
}

/// The outcome of a fire in one word.
fn word(outcome: &str) -> &'static str {
    match outcome {
        "amended [None, None, None]" => "unchanged",
        _ if outcome.starts_with("handler `") || outcome.starts_with("fires are") => "failed",
        _ => ["dropped", "notified", "amended", "claimed", "unclaimed", "passed", "rejected"]
            .into_iter()
            .find(|word| outcome.starts_with(word))
            .expect("every outcome has a word"),
    }
}

fn came(walked: Walked, outcome: impl FnOnce() -> String) -> String {
    match walked {
        Walked::Through => outcome(),
        Walked::Failed(error) => error,
        Walked::Dropped => "dropped".into(),
    }
}

fn ending(handler: &Handler) -> Result<(), Failure> {
    match handler.script.ending {
        Ending::Return => Ok(()),
        Ending::Error => Err(Failure::error("boom")),
        Ending::PanicOther => Err(Failure::panic("the panic carried no text")),
        _ => Err(Failure::panic("boom")),
    }
}

fn timed_out(handler: &Handler) -> Failure {
    let seconds = handler.limit.unwrap_or(0) * 3600;
    Failure { kind: "timeout", message: format!("did not finish within {seconds}s") }
}

fn no_timer(handler: &Handler) -> Failure {
    let seconds = handler.limit.unwrap_or(0) * 3600;
    let message = format!(
        "waits with a limit of {seconds}s, but there is no timer: fire inside a tokio runtime with \
         time enabled, or give the registry a `Timer`"
    );
    Failure { kind: "no_timer", message }
}

fn row(handler: &Handler, status: HandlerStatus) -> Row {
    let timed = !matches!(status, HandlerStatus::Filtered(_));
    Row { handler: placeless(&handler.name), owner: owner(handler.plugin), status, timed }
}

struct Amending {
    payload: u32,
    merged: [Option<u8>; 3],
}

impl Composer for Amending {
    fn saw(&mut self, handler: &Handler) -> String {
        let merged = handler.script.form.has_context().then(|| format!(" after {:?}", self.merged));
        format!("{}{}{}", self.payload, known(handler), merged.unwrap_or_default())
    }

    fn accept(&mut self, handler: &Handler) -> Next {
        let Answer::Fields(fields) = handler.script.answer else {
            return Next::On(Contribution::Nothing);
        };
        let mut set = Vec::new();
        for ((merged, field), name) in self.merged.iter_mut().zip(fields).zip(["a", "b", "c"]) {
            if merged.is_none() && field.is_some() {
                *merged = field;
                set.push(name);
            }
        }
        Next::On(Contribution::Fields(set))
    }
}

struct Routing {
    payload: u32,
    claim: Option<u32>,
}

impl Composer for Routing {
    fn saw(&mut self, handler: &Handler) -> String {
        format!("{}{}", self.payload, known(handler))
    }

    fn accept(&mut self, handler: &Handler) -> Next {
        let Answer::Claim(value) = handler.script.answer else {
            return Next::On(Contribution::Nothing);
        };
        self.claim = Some(value);
        Next::End(Contribution::Claimed, SkipReason::AfterClaim)
    }
}

struct Passing {
    payload: u32,
    rejection: Option<String>,
}

impl Composer for Passing {
    fn saw(&mut self, handler: &Handler) -> String {
        format!("{}{}", self.payload, known(handler))
    }

    fn accept(&mut self, handler: &Handler) -> Next {
        match handler.script.answer {
            Answer::Replace(payload) if !handler.is_guard() => {
                self.payload = payload;
                Next::On(Contribution::Replaced)
            }
            Answer::Reject => {
                let (name, owner) = (placeless(&handler.name), owner(handler.plugin));
                let point = name_of(handler.spot);
                self.rejection = Some(format!("rejected at `{point}` by `{name}` ({owner}): no"));
                Next::End(Contribution::Rejected("no".into()), SkipReason::AfterRejection)
            }
            _ => Next::On(Contribution::Passed),
        }
    }
}
