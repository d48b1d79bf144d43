//! Firing one event of a dialect by its own name, with the stdin of that dialect.

mod event;
mod stage;

use hooks_runtime::report::{FireReport, HandlerReport};
use hooks_runtime::{HookRegistry, Plugins};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Opinion;
use crate::bridge::Bridge;
use crate::command::{AGAIN, Command};
use crate::config::{Entry, Notice, Plan};
use crate::dialect::Dialect;
use crate::facts::EventKind;
use crate::runs::{Run, Runs, halt};
use crate::verdict::Mode;
use event::{Amending, Ending, Event, FaithfulGate, StrictGate, Telling};
use stage::{Ended, Stage};

/// What a fire came to.
///
/// The example of [`Fired`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was decided: no command ran, or none had an opinion.
    None,
    /// A command let it pass or added to it, or one failed and that is no obstacle here.
    Passed,
    /// It passes, with other input.
    Replaced,
    /// It must not pass, or everything is to stop; of a stop: the agent is to go on.
    Rejected,
    /// A command failed, so that there is no verdict.
    Failed,
}

/// What came of firing one event of a dialect: what the tool prints.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::{Bridge, Dialect, Fired, Outcome};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let text = r#"{ "version": 1, "hooks": { "beforeShellExecution": [
///     { "command": "echo '{\"permission\": \"deny\", \"user_message\": \"not today\"}'" } ] } }"#;
/// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::User);
/// let plan = Plan::read_text(&source, text, "/");
/// let stdin = json!({ "command": "git push" });
/// let fired = Fired::fire(Dialect::Cursor, "beforeShellExecution", stdin, plan, |plan| {
///     Bridge::new("/", plan)
/// }).await;
/// assert_eq!((fired.outcome, fired.reason.as_deref()), (Outcome::Rejected, Some("not today")));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fired {
    /// What it came to.
    pub outcome: Outcome,
    /// Why it was rejected or failed.
    pub reason: Option<String>,
    /// The stdin of the event, with the input as it is to be used.
    pub payload: Option<Value>,
    /// What the model is to read.
    pub context: Option<String>,
    /// The commands, in order.
    pub handlers: Vec<FiredHandler>,
}

/// What a command did in a fire.
///
/// The example of [`Fired`] has some.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiredHandler {
    /// The command, as it is written in its file.
    pub command: String,
    /// `decided`, `no_opinion`, `failed`, `skipped` or `untrusted`.
    pub status: &'static str,
    /// Why it was skipped, or may not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// `json` or `exit`.
    pub decided_by: Option<&'static str>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<f64>,
    /// The end of its stderr.
    pub stderr: Option<String>,
    /// What is odd about its answer, such as a key that means nothing; not in the JSON, the
    /// tool says it on stderr.
    #[serde(skip)]
    pub notices: Vec<String>,
}

impl Fired {
    /// Fires an event by its own name, with the stdin of its dialect. `bridge` makes the
    /// bridge of the part of the plan that is for the event.
    ///
    /// Commands that are not trusted are not run, and their verdict is missing: the fire
    /// has failed.
    ///
    /// The example of [`Fired`] fires one.
    pub async fn fire(
        dialect: Dialect,
        event: &str,
        stdin: Value,
        mut plan: Plan,
        bridge: impl FnOnce(Plan) -> Bridge,
    ) -> Self {
        let rules = dialect.rules();
        let Some(rule) = rules.event(event) else {
            return Self::failed(crate::config::no_event(dialect, event));
        };
        let document = match stdin {
            Value::Object(document) => document,
            other => {
                let what = match other {
                    Value::Null => "null",
                    Value::Bool(_) => "true or false",
                    Value::Number(_) => "a number",
                    Value::String(_) => "text",
                    Value::Array(_) | Value::Object(_) => "a list",
                };
                return Self::failed(format!(
                    "stdin must be one JSON object, as the event has it, and is {what}"
                ));
            }
        };
        let mut unread = std::mem::take(&mut plan.unread).into_iter();
        if let Some(part) = unread.find(|part| part.is_file() || part.event == event) {
            let why = part.skipped.unwrap_or_default();
            return Self::failed(Notice { place: part.place, text: why }.to_string());
        }
        let is_for = |entry: &Entry| {
            entry.event == event || entry.meant.is_some_and(|meant| meant.name == event)
        };
        plan.entries.retain(|entry| entry.dialect == dialect && is_for(entry));
        let bridge = bridge(plan);
        let left_out: Vec<_> = bridge
            .entries()
            .filter(|entry| entry.skipped.is_some() && !bridge.closes(entry))
            .map(|entry| FiredHandler::skipped(entry, entry.skipped.as_deref()))
            .collect();
        let untrusted = bridge.skipped().filter(|(entry, _)| entry.skipped.is_none());
        let untrusted: Vec<_> = untrusted.map(|(entry, why)| (entry.command(), why)).collect();
        if !untrusted.is_empty() {
            return Self::untrusted(untrusted);
        }
        let mut fired = Self::fire_event(&bridge, Event { rule, document }).await;
        fired.handlers.extend(left_out);
        fired
    }

    async fn fire_event(bridge: &Bridge, event: Event) -> Self {
        let (hooks, runs) = (HookRegistry::new(), Runs::default());
        let scope = hooks.scope(Plugins::All).with(runs.clone());
        let (strict, kind) = (bridge.shared.mode == Mode::Strict, event.rule.kind);
        let before = event.document.clone();
        let stage = Stage { bridge, hooks: &hooks, scope: &scope };
        let fired = if kind.is_stop() {
            stage.claim::<Ending>(&event).await
        } else if kind.is_gate() && strict {
            stage.gate::<StrictGate>(event).await
        } else if kind.is_gate() {
            stage.gate::<FaithfulGate>(event).await
        } else if kind == EventKind::SessionStart {
            stage.amend::<Amending>(&event).await
        } else {
            stage.observe::<Telling>(&event).await
        };
        match fired {
            Ok((ended, report)) => {
                let runs = runs.take();
                // What cannot be blocked can still be where everything stops.
                let ended = match (ended, halt(&runs)) {
                    (Ended::Passed(_), Some(reason)) if !kind.is_stop() => Ended::Rejected(reason),
                    (ended, _) => ended,
                };
                let handlers = handlers(&report, &runs, &bridge.commands(|_, _| true));
                Self { handlers, ..Self::of(ended, &runs, &before) }
            }
            Err(error) => Self::failed(error.to_string()),
        }
    }

    fn of(ended: Ended, runs: &[Run], before: &Map<String, Value>) -> Self {
        let spoke = |run: &Run| {
            !matches!(run.answer.opinion, Opinion::None) || run.answer.context.is_some()
        };
        let contexts: Vec<_> =
            runs.iter().filter_map(|run| run.answer.context.as_deref()).collect();
        let (outcome, reason, payload) = match ended {
            Ended::Passed(document) if document != *before => {
                (Outcome::Replaced, None, Some(document))
            }
            Ended::Passed(document) if runs.iter().any(spoke) => {
                (Outcome::Passed, None, Some(document))
            }
            Ended::Passed(document) => (Outcome::None, None, Some(document)),
            Ended::Rejected(reason) => (Outcome::Rejected, Some(reason), None),
            Ended::Failed(reason) => (Outcome::Failed, Some(reason), None),
        };
        Self {
            outcome,
            reason,
            payload: payload.map(Value::Object),
            context: Some(contexts.join("\n")).filter(|context| !context.is_empty()),
            handlers: Vec::new(),
        }
    }

    /// A fire that did not come about, such as one without a payload.
    ///
    /// ```
    /// use hooks_bridge::{Fired, Outcome};
    ///
    /// let fired = Fired::failed("stdin is empty".into());
    /// assert_eq!((fired.outcome, fired.exit_code()), (Outcome::Failed, 1));
    /// ```
    pub fn failed(reason: String) -> Self {
        let (payload, context, handlers) = (None, None, Vec::new());
        Self { outcome: Outcome::Failed, reason: Some(reason), payload, context, handlers }
    }

    fn untrusted(commands: Vec<(String, String)>) -> Self {
        let reason = format!(
            "{} not trusted, so that there is no verdict: see `hooks-bridge preview`, or trust all with `--trust`",
            if commands.len() == 1 {
                "a command is".to_owned()
            } else {
                format!("{} commands are", commands.len())
            }
        );
        let handlers = commands.into_iter().map(|(command, why)| FiredHandler {
            why: Some(why),
            ..FiredHandler::unrun(command, "untrusted")
        });
        Self { handlers: handlers.collect(), ..Self::failed(reason) }
    }

    /// The exit code that says it: 0, 1 where it failed, 2 where it was rejected.
    ///
    /// ```
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::{Bridge, Dialect, Fired};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let stdin = serde_json::json!({});
    /// let bridge = |plan| Bridge::new("/", plan);
    /// let fired = Fired::fire(Dialect::Codex, "Stop", stdin, Plan::default(), bridge).await;
    /// assert_eq!(fired.exit_code(), 0);
    /// # }
    /// ```
    pub const fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::None | Outcome::Passed | Outcome::Replaced => 0,
            Outcome::Failed => 1,
            Outcome::Rejected => 2,
        }
    }
}

/// What each command did: those that ran, and those that were left out.
fn handlers(report: &FireReport, runs: &[Run], commands: &[Command]) -> Vec<FiredHandler> {
    let row = |row: &HandlerReport| {
        let again = row.handler().strip_suffix(AGAIN);
        let name = again.unwrap_or(row.handler());
        let command = commands.iter().find(|command| command.name == name)?;
        let ran = runs.iter().find(|run| run.handler == name && run.again == again.is_some());
        match ran {
            Some(run) => Some(FiredHandler::of(run)),
            // A command that was not asked again has its row already.
            None if again.is_some() => None,
            None => Some(FiredHandler::skipped(&command.entry, Some(&row.status().to_string()))),
        }
    };
    report.handlers().iter().filter_map(row).collect()
}

impl FiredHandler {
    fn of(run: &Run) -> Self {
        let decided_by = run.answer.decision().map(|decision| decision.by.as_str());
        Self {
            command: run.command.clone(),
            status: run.answer.opinion.as_str(),
            why: None,
            decided_by,
            exit: run.exit,
            took_ms: Some((run.took.as_secs_f64() * 1e6).round() / 1e3),
            stderr: Some(run.stderr.clone()),
            notices: run.answer.notices.clone(),
        }
    }

    fn skipped(entry: &Entry, why: Option<&str>) -> Self {
        Self { why: why.map(str::to_owned), ..Self::unrun(entry.command(), "skipped") }
    }

    fn unrun(command: String, status: &'static str) -> Self {
        let (decided_by, exit, took_ms, stderr) = (None, None, None, None);
        let notices = Vec::new();
        Self { command, status, why: None, decided_by, exit, took_ms, stderr, notices }
    }
}
