//! One event of a dialect as the payload of points: its stdin is all there is to it.

use hooks_runtime::BoxError;
use serde_json::{Map, Value};

use crate::facts::{EventKind, Facts, ToolFacts};
use crate::mapping::{AmendPoint, Amendment, CommandPoint, GatePoint, StopPoint};
use crate::points::{GoOn, SessionContext};
use crate::rules::{EventRule, Subject};

/// One event, as its stdin says it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) rule: &'static EventRule,
    pub(super) document: Map<String, Value>,
}

hooks_runtime::hook_points! {
    /// An event that can be blocked. A failure is no pass.
    pub(super) gating StrictGate(Event);
    /// The same where a failure is what the product says it is.
    #[hook(on_failure = "open")]
    pub(super) gating FaithfulGate(Event);
    /// An event that commands add to.
    pub(super) modifying Amending(Event) -> SessionContext;
    /// An event at which the agent is to stop. A failure is no reason to go on.
    pub(super) claiming Ending(Event) -> GoOn;
    /// An event that commands observe.
    pub(super) void Telling(Event);
}

/// What events call a tool, and what they call its input: most, and those of Copilot.
const NAMES: [&str; 2] = ["tool_name", "toolName"];
const INPUTS: [&str; 2] = ["tool_input", "toolArgs"];

impl Event {
    /// The one of these that it has; that of the event where it has both.
    fn key(&self, mut keys: [&'static str; 2]) -> Option<&'static str> {
        if self.rule.subject == Subject::Tool(NAMES[1]) {
            keys.reverse();
        }
        keys.into_iter().find(|key| self.document.contains_key(*key))
    }

    fn input_key(&self) -> Option<&'static str> {
        self.key(INPUTS).filter(|_| matches!(self.rule.subject, Subject::Tool(_)))
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
        if let (Some(name), Some(input)) = (self.key(NAMES), self.input_key())
            && let Some(tool) = text(name)
        {
            // The name stays there, as it is written.
            let input = facts.more.remove(input).unwrap_or_default();
            let failed = self.rule.of_failures;
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
        Ok(SessionContext::of(said))
    }

    fn facts_after(event: &Event, merged: &SessionContext) -> Option<Facts> {
        merged.stopped.is_none().then(|| event.facts())
    }
}

impl StopPoint for Ending {
    fn go_on(reason: String) -> Result<GoOn, BoxError> {
        Ok(GoOn { reason })
    }
}
