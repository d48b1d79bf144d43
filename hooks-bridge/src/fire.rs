//! Firing one event of a dialect by its own name, with the stdin of that dialect.

use hooks_runtime::model::{Claiming, Gating, Modifying, Void};
use hooks_runtime::report::{FireReport, HandlerReport};
use hooks_runtime::{
    BoxError, Claim, FireError, Gate, HookPoint, HookRegistry, Plugins, RegisterError, ScopedHooks,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::{DecidedBy, Opinion};
use crate::bridge::Bridge;
use crate::command::{AGAIN, Command};
use crate::config::Plan;
use crate::dialect::Dialect;
use crate::facts::{EventKind, Facts, ToolFacts};
use crate::mapping::{AmendPoint, Amendment, CommandPoint, GatePoint, StopPoint};
use crate::points::{GoOn, SessionContext};
use crate::rules::{EventRule, Subject};
use crate::runs::{Run, Runs};
use crate::verdict::Mode;

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
    /// It must not pass; of a stop: the agent is to go on.
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
    /// `json` or `exit`.
    pub decided_by: Option<&'static str>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<f64>,
    /// The end of its stderr.
    pub stderr: Option<String>,
}

/// One event, as its stdin says it.
#[derive(Clone, Debug)]
struct Event {
    rule: &'static EventRule,
    document: Map<String, Value>,
}

hooks_runtime::hook_points! {
    /// An event that can be blocked. A failure is no pass.
    gating StrictGate(Event);
    /// The same where a failure is what the product says it is.
    #[hook(on_failure = "open")]
    gating FaithfulGate(Event);
    /// An event that commands add to.
    modifying Amending(Event) -> SessionContext;
    /// An event at which the agent is to stop. A failure is no reason to go on.
    claiming Ending(Event) -> GoOn;
    /// An event that commands are told of.
    void Telling(Event);
}

impl Event {
    fn key(&self, keys: [&'static str; 2]) -> Option<&'static str> {
        keys.into_iter().find(|key| self.document.contains_key(*key))
    }

    fn input_key(&self) -> Option<&'static str> {
        self.key(["tool_input", "toolArgs"])
            .filter(|_| matches!(self.rule.subject, Subject::Tool(_)))
    }

    fn facts(&self) -> Facts {
        let text = |key: &str| self.document.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut facts = Facts { more: self.document.clone(), ..Facts::default() };
        facts.cwd = text("cwd").map(Into::into);
        facts.session_id = text("session_id").or_else(|| text("sessionId"));
        let active = self.document.get("stop_hook_active") == Some(&Value::Bool(true));
        let count = self.document.get("loop_count").and_then(Value::as_u64);
        facts.loop_count =
            count.map_or(u32::from(active), |count| u32::try_from(count).unwrap_or(u32::MAX));
        if let (Some(name), Some(input)) = (self.key(["tool_name", "toolName"]), self.input_key())
            && let Some(tool) = text(name)
        {
            // The name stays there, as it is written.
            let input = facts.more.remove(input).unwrap_or_default();
            let failed = self.rule.name.ends_with("UseFailure");
            facts.tool = Some(ToolFacts { failed, ..ToolFacts::new(tool, input) });
        }
        facts
    }

    fn rewritten(&self, input: Value) -> Self {
        let mut event = self.clone();
        match (self.input_key(), input) {
            (Some(key), input) => {
                event.document.insert(key.to_owned(), input);
            }
            (None, Value::Object(keys)) => event.document.extend(keys),
            (None, _) => {}
        }
        event
    }
}

/// The points of this file take every event: which one, the plan says.
macro_rules! command_points {
    ($($point:ident)*) => { $(
        impl CommandPoint for $point {
            const KIND: EventKind = EventKind::Gate;

            fn facts(event: &Event) -> Facts {
                event.facts()
            }

            fn takes(_: EventKind, _: &str) -> bool {
                true
            }
        }
    )* };
}

command_points!(StrictGate FaithfulGate Amending Ending Telling);

macro_rules! gate_points {
    ($($point:ident)*) => { $(
        impl GatePoint for $point {
            fn rewritten(event: &Event, input: Value) -> Result<Event, BoxError> {
                Ok(event.rewritten(input))
            }

            fn reason(text: String) -> String {
                text
            }
        }
    )* };
}

gate_points!(StrictGate FaithfulGate);

impl AmendPoint for Amending {
    fn amended(_: &Event, said: Amendment) -> Result<Option<SessionContext>, BoxError> {
        Ok(said.context.map(|context| SessionContext { context: Some(context) }))
    }
}

impl StopPoint for Ending {
    fn go_on(reason: String) -> Result<GoOn, BoxError> {
        Ok(GoOn { reason })
    }
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
            let mut reason = format!("{} has no event `{event}`", rules.product);
            let names = rules.events.iter().map(|event| event.name);
            if let Some(nearest) = crate::config::nearest(event, names) {
                reason = format!("{reason}; did you mean `{nearest}`?");
            }
            return Self::failed(reason);
        };
        let Value::Object(document) = stdin else {
            return Self::failed("stdin must be one JSON object, as the event has it".into());
        };
        if let Some(error) = plan.errors.first() {
            return Self::failed(error.to_string());
        }
        plan.entries.retain(|entry| entry.dialect == dialect && entry.event == event);
        let bridge = bridge(plan);
        let left_out: Vec<_> = bridge
            .entries()
            .filter(|entry| entry.skipped.is_some())
            .map(|entry| FiredHandler::unrun(entry.command(), "skipped"))
            .collect();
        let untrusted = bridge.skipped().filter(|(entry, _)| entry.skipped.is_none());
        let untrusted: Vec<_> = untrusted.map(|(entry, _)| entry.command()).collect();
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

    fn failed(reason: String) -> Self {
        let (payload, context, handlers) = (None, None, Vec::new());
        Self { outcome: Outcome::Failed, reason: Some(reason), payload, context, handlers }
    }

    fn untrusted(commands: Vec<String>) -> Self {
        let reason = format!(
            "{} not trusted, so that there is no verdict: see `hooks-bridge preview`, or trust all with `--trust`",
            if commands.len() == 1 {
                "a command is".to_owned()
            } else {
                format!("{} commands are", commands.len())
            }
        );
        let handlers =
            commands.into_iter().map(|command| FiredHandler::unrun(command, "untrusted"));
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

/// How a fire of any model ended.
enum Ended {
    Passed(Map<String, Value>),
    Rejected(String),
    Failed(String),
}

/// Where one event is fired.
struct Stage<'s> {
    bridge: &'s Bridge,
    hooks: &'s HookRegistry,
    scope: &'s ScopedHooks,
}

type Shown = Result<(Ended, FireReport), RegisterError>;

impl Stage<'_> {
    async fn gate<P>(&self, event: Event) -> Shown
    where
        P: GatePoint + HookPoint<Payload = Event, Result = String, Model = Gating>,
    {
        self.hooks.register(self.bridge.gate::<P>())?;
        let (gate, report) = self.scope.fire_gating_reported::<P>(event).await;
        let ended = match gate {
            Ok(Gate::Passed(event)) => Ended::Passed(event.document),
            Ok(Gate::Rejected(rejection)) => Ended::Rejected(rejection.into_reason()),
            Err(error) => Ended::Failed(error.to_string()),
        };
        Ok((ended, report))
    }

    async fn claim<P>(&self, event: &Event) -> Shown
    where
        P: StopPoint + HookPoint<Payload = Event, Result = GoOn, Model = Claiming>,
    {
        self.hooks.register(self.bridge.claim::<P>())?;
        let (claim, report) = self.scope.fire_claiming_reported::<P>(event).await;
        let ended = match claim {
            Ok(Claim::Unclaimed) => Ended::Passed(event.document.clone()),
            Ok(Claim::Claimed(go_on)) => Ended::Rejected(go_on.reason),
            Err(error) => Ended::Failed(error.to_string()),
        };
        Ok((ended, report))
    }

    async fn amend<P>(&self, event: &Event) -> Shown
    where
        P: AmendPoint + HookPoint<Payload = Event, Result = SessionContext, Model = Modifying>,
    {
        self.hooks.register(self.bridge.amend::<P>())?;
        let (amended, report) = self.scope.fire_modifying_reported::<P>(event).await;
        Ok((unless_failed(amended, event), report))
    }

    async fn observe<P>(&self, event: &Event) -> Shown
    where
        P: CommandPoint + HookPoint<Payload = Event, Model = Void>,
    {
        self.hooks.register(self.bridge.observe::<P>())?;
        let (observed, report) = self.scope.fire_void_reported::<P>(event).await;
        Ok((unless_failed(observed, event), report))
    }
}

fn unless_failed<T>(fired: Result<T, FireError>, event: &Event) -> Ended {
    match fired {
        Ok(_) => Ended::Passed(event.document.clone()),
        Err(error) => Ended::Failed(error.to_string()),
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
            None => Some(FiredHandler::unrun(command.entry.command(), "skipped")),
        }
    };
    report.handlers().iter().filter_map(row).collect()
}

impl FiredHandler {
    fn of(run: &Run) -> Self {
        let (status, decided_by) = match &run.answer.opinion {
            Opinion::Decided(decision) => {
                let by = if decision.by == DecidedBy::Json { "json" } else { "exit" };
                ("decided", Some(by))
            }
            Opinion::None => ("no_opinion", None),
            Opinion::Failed(_) => ("failed", None),
        };
        Self {
            command: run.command.clone(),
            status,
            decided_by,
            exit: run.exit,
            took_ms: Some((run.took.as_secs_f64() * 1e6).round() / 1e3),
            stderr: Some(run.stderr.clone()),
        }
    }

    fn unrun(command: String, status: &'static str) -> Self {
        Self { command, status, decided_by: None, exit: None, took_ms: None, stderr: None }
    }
}
