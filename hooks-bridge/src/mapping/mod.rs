//! Points that commands can be handlers of: those of `hooks-points`, those of this crate,
//! and a host's own.

mod again;
mod agent;
mod claiming;
mod gating;
mod lifecycle;
mod modifying;
mod notes;
mod void;

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::handler::On;
use hooks_runtime::{BoxError, HookPoint, on};
use serde_json::Value;

use crate::bridge::Bridge;
use crate::command::Command;
use crate::facts::{EventKind, Facts};

/// A point that is what dialects call an event.
///
/// A host implements it for its own points, and one trait more for what commands may
/// answer there: [`GatePoint`], [`AmendPoint`] or [`StopPoint`]; a void point needs no
/// more.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts};
/// use hooks_runtime::{HookRegistry, hook_points};
///
/// hook_points! {
///     /// A session is over.
///     pub void Closed { id: u32 }
/// }
///
/// impl CommandPoint for Closed {
///     const KIND: EventKind = EventKind::SessionEnd;
///
///     fn facts(closed: &ClosedPayload) -> Facts {
///         Facts { session_id: Some(closed.id.to_string()), ..Facts::default() }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let text = r#"{ "version": 1, "hooks": { "sessionEnd": [ { "bash": "true" } ] } }"#;
/// # let source = Source::new(Dialect::Copilot, ".github/hooks/log.json", Origin::User);
/// # let plan = Plan::read_text(&source, text, "/");
/// let hooks = HookRegistry::new();
/// hooks.register(Bridge::new("/", plan).observe::<Closed>())?;
/// hooks.fire_void::<Closed>(&ClosedPayload { id: 7 }).await?;
/// # assert_eq!(hooks.handlers_at::<Closed>().len(), 1);
/// # Ok(()) }
/// ```
pub trait CommandPoint: HookPoint {
    /// What the point is for: entries for such events are its handlers.
    const KIND: EventKind;

    /// What happened, as commands find it in their stdin.
    fn facts(payload: &Self::Payload) -> Facts;

    /// Whether entries for this event are its handlers: by its kind, or by its name where
    /// the kind is not enough, as for [`EventKind::Gate`] and [`EventKind::Observe`].
    fn takes(kind: EventKind, event: &str) -> bool {
        let _ = event;
        kind == Self::KIND
    }
}

/// A gating point at which commands decide.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts, GatePoint, ToolFacts};
/// use hooks_runtime::{BoxError, Gate, HookRegistry, hook_points};
/// use serde_json::{Value, json};
///
/// hook_points! {
///     /// Before a line is run in a shell.
///     pub gating Running { line: String }
/// }
///
/// impl CommandPoint for Running {
///     const KIND: EventKind = EventKind::BeforeTool;
///
///     fn facts(running: &RunningPayload) -> Facts {
///         let tool = ToolFacts::new("Bash", json!({ "command": running.line }));
///         Facts { tool: Some(tool), ..Facts::default() }
///     }
/// }
///
/// impl GatePoint for Running {
///     fn rewritten(_: &RunningPayload, input: Value) -> Result<RunningPayload, BoxError> {
///         let line = input["command"].as_str().ok_or("`command` must be text")?;
///         Ok(RunningPayload { line: line.to_owned() })
///     }
///
///     fn reason(text: String) -> String {
///         text
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answer = r#"{"hookSpecificOutput": {"tool_input": {"command": "ls -l"}}}"#;
/// let text = json!({ "hooks": { "BeforeTool": [ { "hooks": [
///     { "type": "command", "command": format!("echo '{answer}'") } ] } ] } });
/// let source = Source::new(Dialect::Gemini, "settings.json", Origin::User);
/// let plan = Plan::read_text(&source, &text.to_string(), "/");
/// let hooks = HookRegistry::new();
/// hooks.register(Bridge::new("/", plan).gate::<Running>())?;
/// let running = RunningPayload { line: "ls".into() };
/// let Gate::Passed(running) = hooks.fire_gating::<Running>(running).await? else { panic!() };
/// assert_eq!(running.line, "ls -l");
/// # Ok(()) }
/// ```
pub trait GatePoint: CommandPoint {
    /// The payload with other input for the tool, or with another prompt.
    ///
    /// All that [`facts`](CommandPoint::facts) shows of a payload as its input should be
    /// taken over. What cannot be is an error, and the command has failed; what is left out
    /// without one is lost, and the command is not asked about that.
    fn rewritten(payload: &Self::Payload, input: Value) -> Result<Self::Payload, BoxError>;

    /// The payload with text for the model to read, where it has a place for that.
    fn with_context(payload: &Self::Payload, context: &str) -> Option<Self::Payload> {
        let _ = (payload, context);
        None
    }

    /// The reason of a rejection.
    fn reason(text: String) -> Self::Result;
}

/// What a command adds at a modifying point.
///
/// The example of [`AmendPoint`] uses one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amendment {
    /// Text for the model to read.
    pub context: Option<String>,
    /// The input to use instead.
    pub input: Option<Value>,
    /// Why it must not go on.
    pub rejected: Option<String>,
}

/// A modifying point that commands add to.
///
/// ```
/// use hooks_bridge::{AmendPoint, Amendment, CommandPoint, EventKind, Facts};
/// use hooks_runtime::{BoxError, hook_points};
///
/// hook_points! {
///     /// A chat begins.
///     pub modifying Greeting { chat: String } -> { advice: String }
/// }
///
/// impl CommandPoint for Greeting {
///     const KIND: EventKind = EventKind::SessionStart;
///
///     fn facts(greeting: &GreetingPayload) -> Facts {
///         Facts { session_id: Some(greeting.chat.clone()), ..Facts::default() }
///     }
/// }
///
/// impl AmendPoint for Greeting {
///     fn amended(_: &GreetingPayload, said: Amendment) -> Result<Option<GreetingResult>, BoxError> {
///         Ok(said.context.map(|advice| GreetingResult { advice: Some(advice) }))
///     }
/// }
/// # let said = Amendment { context: Some("Be brief.".into()), ..Amendment::default() };
/// # let greeting = GreetingPayload { chat: "c-1".into() };
/// # assert_eq!(Greeting::amended(&greeting, said).unwrap().unwrap().advice.unwrap(), "Be brief.");
/// ```
pub trait AmendPoint: CommandPoint {
    /// What a command adds to the result; `None` where it is nothing.
    fn amended(payload: &Self::Payload, said: Amendment) -> Result<Option<Self::Result>, BoxError>;

    /// What happened, where earlier handlers have set this much; `None` where they have
    /// settled it, so that no further command is asked.
    fn facts_after(payload: &Self::Payload, merged: &Self::Result) -> Option<Facts> {
        let _ = merged;
        Some(Self::facts(payload))
    }
}

/// A claiming point at which a command can have the agent go on.
///
/// The example of [`Stopping`](crate::points::Stopping) is such a point.
pub trait StopPoint: CommandPoint {
    /// The claim: go on, for this reason.
    fn go_on(reason: String) -> Result<Self::Result, BoxError>;
}

/// A registration of a command, under its name and its owner.
fn named<P: CommandPoint>(command: &Command) -> On<P> {
    let on = limited(on::<P>(), command).name(command.name.as_str());
    let on = on.plugin(command.entry.dialect.as_str());
    if command.handler.once { on.once() } else { on }
}

/// With the limit that the file sets, where that of the point is not shorter: so an operator
/// sees it. The command ends by itself before.
fn limited<P: CommandPoint>(on: On<P>, command: &Command) -> On<P> {
    let most = P::descriptor().time_limit().unwrap_or(Duration::MAX);
    match command.longest().filter(|longest| *longest < most) {
        Some(longest) => on.timeout(longest),
        None => on,
    }
}

/// A registration of a further handler of a command: what an operator sets for the command
/// holds for it too.
fn part<P: CommandPoint>(command: &Command, suffix: &str) -> On<P> {
    let on = limited(on::<P>(), command).name(format!("{}{suffix}", command.name));
    let on = on.part_of(command.name.as_str());
    on.plugin(command.entry.dialect.as_str())
}

/// Whether the matcher of a command is met, and it has not had its one turn.
fn condition<P: CommandPoint>(
    command: &Arc<Command>,
) -> impl Fn(&P::Payload) -> bool + Send + Sync + 'static {
    let (applies, command) = (applies::<P>(command), Arc::clone(command));
    move |payload| command.has_turn() && applies(payload)
}

/// Whether the matcher of a command is met.
fn applies<P: CommandPoint>(
    command: &Arc<Command>,
) -> impl Fn(&P::Payload) -> bool + Send + Sync + 'static {
    let command = Arc::clone(command);
    move |payload| command.applies(&P::facts(payload))
}

impl Bridge {
    /// The commands for a point.
    fn commands_at<P: CommandPoint>(&self) -> Vec<Arc<Command>> {
        self.commands(P::takes).into_iter().map(Arc::new).collect()
    }
}
