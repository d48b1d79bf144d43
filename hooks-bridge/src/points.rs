//! Points of the shape that hook scripts are written for, for hosts that have none yet.
//!
//! | point | model | events, in the words of Claude Code |
//! |---|---|---|
//! | [`UsingTool`] | gating | `PreToolUse` |
//! | [`PromptSubmitted`] | gating, with context | `UserPromptSubmit` |
//! | [`SessionStarting`] | modifying | `SessionStart` |
//! | [`Stopping`] | claiming | `Stop` |

use std::path::PathBuf;

use hooks_runtime::model::FieldSet;
use hooks_runtime::{BoxError, Merge};
use serde_json::Value;

use crate::facts::{EventKind, Facts, ToolFacts};
use crate::mapping::{AmendPoint, Amendment, CommandPoint, GatePoint, StopPoint};

hooks_runtime::hook_points! {
    /// Fires before a tool is used.
    #[payload(derive(PartialEq))]
    pub gating UsingTool {
        /// The session.
        session_id: String,
        /// Where the agent works.
        cwd: Option<PathBuf>,
        /// The tool.
        tool_name: String,
        /// What it is to be called with.
        input: Value,
    }

    /// Fires when a prompt was submitted, before the agent takes it up.
    #[payload(derive(PartialEq))]
    pub gating PromptSubmitted {
        /// The session.
        session_id: String,
        /// Where the agent works.
        cwd: Option<PathBuf>,
        /// What was written.
        prompt: String,
        /// What the model is to read beside it: commands add to it.
        context: Vec<String>,
    }

    /// Fires when a session starts.
    #[payload(derive(Default, PartialEq))]
    pub modifying SessionStarting {
        /// The session.
        session_id: String,
        /// Where the agent works.
        cwd: Option<PathBuf>,
        /// How it began, such as `startup` or `resume`.
        source: Option<String>,
    } -> SessionContext;

    /// Fires when the agent is to stop. A claim has it go on.
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::points::{Stopping, StoppingPayload};
    /// use hooks_bridge::{Bridge, Dialect};
    /// use hooks_runtime::{Claim, HookRegistry};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = r#"{ "hooks": { "Stop": [ { "hooks": [
    ///     { "type": "command", "command": "echo run the tests >&2; exit 2" } ] } ] } }"#;
    /// let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// let hooks = HookRegistry::new();
    /// hooks.register(Bridge::new("/", Plan::read_text(&source, text, "/")).claim::<Stopping>())?;
    /// let stop = StoppingPayload { session_id: "s-1".into(), ..StoppingPayload::default() };
    /// let Claim::Claimed(go_on) = hooks.fire_claiming::<Stopping>(&stop).await? else { panic!() };
    /// assert_eq!(go_on.reason, "run the tests");
    /// # Ok(()) }
    /// ```
    #[payload(derive(Default, PartialEq))]
    pub claiming Stopping {
        /// The session.
        session_id: String,
        /// Where the agent works.
        cwd: Option<PathBuf>,
        /// Its last words.
        last_message: Option<String>,
        /// How often in a row it was made to go on.
        loop_count: u32,
    } -> GoOn;
}

/// What the model is to read when a session starts: what all commands say, one after
/// another.
///
/// The example of [`Runs`](crate::Runs) has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionContext {
    /// The text.
    pub context: Option<String>,
    /// Why the session must not go on, where a command has everything stop. No command
    /// after that one is asked.
    ///
    /// ```
    /// # use hooks_bridge::{Bridge, Dialect, config::{Origin, Plan, Source}};
    /// # use hooks_bridge::points::{SessionStarting, SessionStartingPayload};
    /// # use hooks_runtime::HookRegistry;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let answer = r#"{"continue": false, "stopReason": "no budget is left"}"#;
    /// # let text = serde_json::json!({ "hooks": { "SessionStart": [ { "hooks": [
    /// #     { "type": "command", "command": format!("echo '{answer}'") } ] } ] } });
    /// # let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// # let plan = Plan::read_text(&source, &text.to_string(), "/");
    /// # let hooks = HookRegistry::new();
    /// # hooks.register(Bridge::new("/", plan).amend::<SessionStarting>())?;
    /// # let payload = SessionStartingPayload::default();
    /// let started = hooks.fire_modifying::<SessionStarting>(&payload).await?;
    /// assert_eq!(started.stopped.as_deref(), Some("no budget is left"));
    /// # Ok(()) }
    /// ```
    pub stopped: Option<String>,
}

impl SessionContext {
    pub(crate) fn of(said: Amendment) -> Option<Self> {
        let Amendment { context, rejected: stopped, input: _ } = said;
        (context.is_some() || stopped.is_some()).then_some(Self { context, stopped })
    }
}

impl Merge for SessionContext {
    const FIELDS: &'static [&'static str] = &["context", "stopped"];

    /// Adds to what is there: each command says its own, and none is lost.
    fn merge(&mut self, later: Self) -> FieldSet {
        let mut set = FieldSet::new();
        if later.context.is_some() {
            set.insert(0);
        }
        if later.stopped.is_some() && self.stopped.is_none() {
            set.insert(1);
        }
        self.context = match (self.context.take(), later.context) {
            (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
            (first, second) => first.or(second),
        };
        self.stopped = self.stopped.take().or(later.stopped);
        set
    }

    fn filled(&self) -> FieldSet {
        let mut set = FieldSet::new();
        if self.context.is_some() {
            set.insert(0);
        }
        if self.stopped.is_some() {
            set.insert(1);
        }
        set
    }
}

/// The agent is to go on.
///
/// The example of [`Stopping`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoOn {
    /// With this.
    pub reason: String,
}

impl CommandPoint for UsingTool {
    const KIND: EventKind = EventKind::BeforeTool;

    fn facts(call: &UsingToolPayload) -> Facts {
        Facts {
            session_id: Some(call.session_id.clone()),
            cwd: call.cwd.clone(),
            tool: Some(ToolFacts::new(&*call.tool_name, call.input.clone())),
            ..Facts::default()
        }
    }
}

impl GatePoint for UsingTool {
    fn rewritten(call: &UsingToolPayload, input: Value) -> Result<UsingToolPayload, BoxError> {
        Ok(UsingToolPayload { input, ..call.clone() })
    }

    fn reason(text: String) -> String {
        text
    }
}

impl CommandPoint for PromptSubmitted {
    const KIND: EventKind = EventKind::Prompt;

    fn facts(submitted: &PromptSubmittedPayload) -> Facts {
        Facts {
            session_id: Some(submitted.session_id.clone()),
            cwd: submitted.cwd.clone(),
            prompt: Some(submitted.prompt.clone()),
            ..Facts::default()
        }
    }
}

impl GatePoint for PromptSubmitted {
    fn rewritten(
        submitted: &PromptSubmittedPayload,
        input: Value,
    ) -> Result<PromptSubmittedPayload, BoxError> {
        let prompt = input.as_str().ok_or("a prompt is rewritten with text")?.to_owned();
        Ok(PromptSubmittedPayload { prompt, ..submitted.clone() })
    }

    fn with_context(
        submitted: &PromptSubmittedPayload,
        context: &str,
    ) -> Option<PromptSubmittedPayload> {
        let mut submitted = submitted.clone();
        submitted.context.push(context.to_owned());
        Some(submitted)
    }

    fn reason(text: String) -> String {
        text
    }
}

impl CommandPoint for SessionStarting {
    const KIND: EventKind = EventKind::SessionStart;

    fn facts(session: &SessionStartingPayload) -> Facts {
        Facts {
            session_id: Some(session.session_id.clone()),
            cwd: session.cwd.clone(),
            source: session.source.clone(),
            ..Facts::default()
        }
    }
}

impl AmendPoint for SessionStarting {
    fn amended(
        _: &SessionStartingPayload,
        said: Amendment,
    ) -> Result<Option<SessionContext>, BoxError> {
        Ok(SessionContext::of(said))
    }

    fn facts_after(session: &SessionStartingPayload, merged: &SessionContext) -> Option<Facts> {
        merged.stopped.is_none().then(|| Self::facts(session))
    }
}

impl CommandPoint for Stopping {
    const KIND: EventKind = EventKind::Stop;

    fn facts(stopping: &StoppingPayload) -> Facts {
        Facts {
            session_id: Some(stopping.session_id.clone()),
            cwd: stopping.cwd.clone(),
            last_message: stopping.last_message.clone(),
            loop_count: stopping.loop_count,
            ..Facts::default()
        }
    }
}

impl StopPoint for Stopping {
    fn go_on(reason: String) -> Result<GoOn, BoxError> {
        Ok(GoOn { reason })
    }
}
