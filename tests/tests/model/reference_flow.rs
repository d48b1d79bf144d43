//! How the plainly right registry runs a flow.

use std::rc::Rc;

use hooks_runtime::flow::StageKind;

use crate::event::{Event, Row};
use crate::plan::{Ending, Run, Spot};
use crate::reference::{Admitted, Begun, Handler, Reference, name_of};
use crate::reference_fire::{Came, Clock, Part, Walked};
use crate::reference_stage::Shared;
use crate::{log, observer};

/// The stages, in their order.
const STAGES: [(Spot, StageKind); 6] = [
    (Spot::BeforeValidation, StageKind::BeforeValidation),
    (Spot::AfterValidation, StageKind::AfterValidation),
    (Spot::BeforeExecute, StageKind::BeforeExecute),
    (Spot::AfterExecute, StageKind::AfterExecute),
    (Spot::OnError, StageKind::OnError),
    (Spot::Finally, StageKind::Finally),
];

/// Why a run goes no further.
enum Stop {
    Error(String),
    /// The operation failed: this can be recovered.
    Operation(String),
    Dropped,
}

/// What the handlers of one run share.
struct Flowing<'f> {
    part: Part<'f>,
    clock: &'f mut Clock,
    /// The handlers as they were when the run began.
    handlers: Vec<Vec<Rc<Handler>>>,
    report: Came,
    shared: Shared,
    /// What became of the validation, if there is one, and of the operation.
    steps: [Option<&'static str>; 2],
    /// What the report says of a recovery.
    recovery: Option<(String, Vec<Row>)>,
}

const STEPS: [&str; 2] = ["validation", "operation"];
const ANSWERED: &str = "not run: a handler answered";
const NOT_REACHED: &str = "not run: the flow ended before it";

impl Reference {
    pub fn flow(
        &mut self,
        run: &Run,
        payload: u32,
        admitted: &Admitted,
        clock: &mut Clock,
    ) -> Came {
        let steps = [run.validation.map(|_| NOT_REACHED), Some(NOT_REACHED)];
        if let Some(error) = self.too_deep("made") {
            return (error, reported(steps));
        }
        self.observe(observer::fire("made", self.chain.len()));
        self.chain.push("made");
        let begun = Begun::default();
        self.runs.push(Rc::clone(&begun));
        let mut flowing = Flowing {
            part: Part { admitted, targets: &run.targets, run: Some(begun) },
            clock,
            handlers: STAGES.iter().map(|(spot, _)| self.at(*spot)).collect(),
            report: (String::new(), Vec::new()),
            shared: Shared {
                stage: StageKind::BeforeValidation,
                input: Some(payload),
                output: None,
                error: None,
                operation_failed: false,
                recovered: None,
                before: 0,
                signal: None,
                answer: None,
                refused: None,
                answered: false,
                skipped: false,
                aborted: None,
            },
            steps,
            recovery: None,
        };
        let outcome = self.run(run, &mut flowing);
        flowing.report.1.extend(reported(flowing.steps));
        let recovered = flowing.shared.recovered.is_some();
        flowing.report.1.extend(flowing.recovery);
        self.runs.pop();
        self.chain.pop();
        let (word, told) = match outcome {
            Ok(output) => (if recovered { "recovered" } else { "ran" }, format!("made {output}")),
            Err(Stop::Error(error) | Stop::Operation(error)) => ("failed", error),
            Err(Stop::Dropped) => ("dropped", "dropped".into()),
        };
        self.observe(observer::fired("made", word));
        flowing.report.0 = told;
        flowing.report
    }

    fn run(&mut self, run: &Run, flowing: &mut Flowing<'_>) -> Result<u32, Stop> {
        match self.run_to_output(run, flowing) {
            Ok(()) => (),
            Err(Stop::Dropped) => return Err(Stop::Dropped),
            Err(stop @ (Stop::Error(_) | Stop::Operation(_))) => {
                for (step, came_to) in STEPS.into_iter().zip(flowing.steps) {
                    if came_to == Some(NOT_REACHED) {
                        self.observe(observer::step_came_to("made", step, NOT_REACHED));
                    }
                }
                flowing.shared.operation_failed = matches!(stop, Stop::Operation(_));
                if let Stop::Error(error) | Stop::Operation(error) = stop {
                    flowing.shared.error = Some(error);
                }
                self.stage(4, flowing)?;
                self.note_recovery(flowing);
            }
        }
        self.stage(5, flowing)?;
        match flowing.shared.error.take() {
            Some(error) if flowing.shared.recovered.is_none() => Err(Stop::Error(error)),
            _ => Ok(flowing.shared.output.expect("a run without error has an output")),
        }
    }

    fn run_to_output(&mut self, run: &Run, flowing: &mut Flowing<'_>) -> Result<(), Stop> {
        self.stage(0, flowing)?;
        if let Some(ending) = run.validation {
            if flowing.shared.output.is_some() {
                self.stepped(flowing, 0, ANSWERED);
            } else {
                self.observe(observer::step_begins("made", "validation"));
                self.stepped(flowing, 0, ended(ending));
                if let Some(text) = said(ending, "the validation panicked: ") {
                    return Err(Stop::Error(format!("the input of `made` is not valid: {text}")));
                }
            }
        }
        self.stage(1, flowing)?;
        self.stage(2, flowing)?;
        if flowing.shared.output.is_some() {
            self.stepped(flowing, 1, ANSWERED);
        } else {
            self.observe(observer::step_begins("made", "operation"));
            let input = flowing.shared.input.take().expect("only the operation takes it");
            self.events.push(Event::Operated { input });
            if !flowing.clock.wait(run.rounds) {
                self.events.push(Event::OperationDropped);
                self.stepped(flowing, 1, "cancelled: the run was dropped");
                return Err(Stop::Dropped);
            }
            self.stepped(flowing, 1, ended(run.operation));
            if let Some(text) = said(run.operation, "the operation of `made` panicked: ") {
                return Err(Stop::Operation(text));
            }
            flowing.shared.output = Some(input + 1);
        }
        self.stage(3, flowing)
    }

    /// The host gets no error, so a recovery is in the report and in the log.
    fn note_recovery(&mut self, flowing: &mut Flowing<'_>) {
        let shared = &flowing.shared;
        if let (Some((handler, owner)), Some(error)) = (&shared.recovered, &shared.error) {
            let panicked = error.strip_prefix("the operation of `made` ");
            let error = panicked.unwrap_or(error);
            let line = format!("recovered by `{handler}` ({owner}) from: {error}");
            flowing.recovery = Some((line, Vec::new()));
            self.logged.push(log::failure("made", handler, owner, "recovered", "-"));
        }
    }

    /// What became of a step.
    fn stepped(&mut self, flowing: &mut Flowing<'_>, number: usize, came_to: &'static str) {
        self.observe(observer::step_came_to("made", STEPS[number], came_to));
        flowing.steps[number] = Some(came_to);
    }

    /// Runs one stage. In the last two the outcome stands already.
    fn stage(&mut self, number: usize, flowing: &mut Flowing<'_>) -> Result<(), Stop> {
        let (spot, kind) = STAGES[number];
        flowing.shared.stage = kind;
        flowing.shared.answered = false;
        self.fired.insert(spot);
        self.observe(observer::fire(name_of(spot), self.chain.len()));
        let list = std::mem::take(&mut flowing.handlers[number]);
        if list.is_empty() {
            self.observe(observer::fired(name_of(spot), "ran"));
            return Ok(());
        }
        flowing.shared.skipped = false;
        self.chain.push(name_of(spot));
        let mut rows = Vec::new();
        let walked = self.walk(&list, &flowing.part, flowing.clock, &mut rows, &mut flowing.shared);
        self.chain.pop();
        flowing.report.1.push((name_of(spot).into(), rows));
        let word = match &walked {
            Walked::Dropped => "dropped",
            Walked::Failed(_) => "failed",
            Walked::Through if flowing.shared.aborted.is_some() => "aborted",
            Walked::Through if flowing.shared.skipped => "skipped",
            Walked::Through => "ran",
        };
        self.observe(observer::fired(name_of(spot), word));
        match (walked, flowing.shared.aborted.take()) {
            (Walked::Dropped, _) => Err(Stop::Dropped),
            (Walked::Failed(error), _) | (Walked::Through, Some(error)) => Err(Stop::Error(error)),
            (Walked::Through, None) => Ok(()),
        }
    }
}

/// What a report says of the steps of a run: each is a line without rows.
fn reported(steps: [Option<&str>; 2]) -> Vec<(String, Vec<Row>)> {
    let steps = STEPS.iter().zip(steps);
    steps.filter_map(|(step, came)| Some((format!("{step}: {}", came?), Vec::new()))).collect()
}

/// How the validation or the operation ended.
fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Return | Ending::PanicEarly | Ending::PanicInDrop => "ran",
        Ending::Error => "error: boom",
        Ending::PanicText | Ending::PanicString => "panic: boom",
        Ending::PanicOther => "panic: the panic carried no text",
    }
}

/// What the end of the validation or the operation says, unless it is well.
fn said(ending: Ending, panicked: &str) -> Option<String> {
    match ending {
        Ending::Return | Ending::PanicEarly | Ending::PanicInDrop => None,
        Ending::Error => Some("boom".into()),
        Ending::PanicText | Ending::PanicString => Some(format!("{panicked}boom")),
        Ending::PanicOther => Some(format!("{panicked}the panic carried no text")),
    }
}
