//! Whether a command is for what happens.

use std::sync::atomic::Ordering;
use std::time::SystemTime;

use hooks_runtime::HookContext;
use serde_json::{Map, Value};

use super::Command;
use crate::facts::{EventKind, Facts};
use crate::matcher::rule_applies;
use crate::rules::Subject;

impl Command {
    /// Whether it may still run at its turn: one that runs once may have run before it.
    pub(crate) fn has_turn(&self) -> bool {
        !self.spent.load(Ordering::Acquire)
    }

    /// Takes the turn, and says whether it was there to be taken: of a command that runs once
    /// there is one, whichever fire and whichever of its handlers comes first. A call in
    /// shadow leaves it.
    pub(crate) fn takes_turn(&self, cx: &HookContext) -> bool {
        if !self.handler.once || cx.is_in_shadow() {
            return self.has_turn();
        }
        !self.spent.swap(true, Ordering::AcqRel)
    }

    /// Whether the command is for this: its event, its matcher and its rule.
    pub(crate) fn applies(&self, facts: &Facts) -> bool {
        if self.entry.is_file() {
            return true;
        }
        let (rules, facts) = (self.rules(), self.translated(facts));
        if let Some(tool) = &facts.tool {
            let names = rules.tool_names(&tool.name);
            let of_server = tool.name.starts_with(rules.mcp.prefix);
            let takes = |name: &&str| {
                self.event.tools.contains(name) || (of_server && self.event.tools.contains(&"MCP"))
            };
            if !self.event.tools.is_empty() && !names.iter().any(takes) {
                return false;
            }
            if self.event.kind == EventKind::AfterTool && !self.is_for_outcome(tool.failed) {
                return false;
            }
        }
        let document = (rules.stdin)(self.event, &facts, SystemTime::now());
        self.matches(&document) && self.rule_applies(&document)
    }

    /// Some dialects have an event of their own for tools that failed.
    fn is_for_outcome(&self, failed: bool) -> bool {
        if self.event.of_failures {
            return failed;
        }
        !failed || !self.rules().events.iter().any(|event| event.of_failures)
    }

    fn matches(&self, document: &Map<String, Value>) -> bool {
        let Some(key) = self.event.subject.key() else { return true };
        // What is not known is not a reason to leave a check out.
        let Some(subject) = document.get(key).and_then(Value::as_str) else { return true };
        match self.event.subject {
            Subject::Tool(_) => {
                let names = self.rules().tool_names(subject);
                names.into_iter().any(|name| self.entry.compiled.matches(name))
            }
            _ => self.entry.compiled.matches(subject),
        }
    }

    fn rule_applies(&self, document: &Map<String, Value>) -> bool {
        let Some(rule) = &self.handler.rule else { return true };
        let tool = document.get("tool_name").and_then(Value::as_str).unwrap_or_default();
        rule_applies(rule, tool, document.get("tool_input").unwrap_or(&Value::Null))
    }

    /// The facts with the tool by the name that the dialect has for it.
    pub(super) fn translated(&self, facts: &Facts) -> Facts {
        let mut facts = facts.clone();
        facts.cwd.get_or_insert_with(|| self.shared.project.clone());
        if let Some(tool) = &mut facts.tool {
            let common = self.shared.tools.get(&tool.name).unwrap_or(&tool.name);
            tool.name = if self.event.common_names {
                common.to_owned()
            } else {
                self.rules().own_name(common).into_owned()
            };
        }
        facts
    }
}
