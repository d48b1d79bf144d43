//! Collects turns that may be worth turning into a skill.

use std::sync::{Mutex, PoisonError};

use hooks_points::{AgentDone, AgentDonePayload};
use hooks_runtime::hook_handlers;

/// A turn that used its tools well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCandidate {
    /// What was asked for.
    pub prompt: String,
    /// The tools that it took, in order.
    pub tools: Vec<String>,
}

/// Collects candidates.
#[derive(Debug)]
pub struct SkillCollector {
    at_least: u64,
    candidates: Mutex<Vec<SkillCandidate>>,
}

impl SkillCollector {
    /// Takes turns in which at least so many tool calls succeeded.
    pub fn new(at_least: u64) -> Self {
        Self { at_least, candidates: Mutex::default() }
    }

    /// The candidates so far.
    pub fn candidates(&self) -> Vec<SkillCandidate> {
        self.candidates.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[hook_handlers(plugin = "skill-collector")]
impl SkillCollector {
    #[hook_handler(AgentDone)]
    fn collect(&self, done: &AgentDonePayload) {
        let (Some(prompt), Some(tools)) = (&done.initial_prompt, &done.tool_names) else { return };
        if done.successful_tool_calls.unwrap_or(0) >= self.at_least {
            let candidate = SkillCandidate { prompt: prompt.clone(), tools: tools.clone() };
            self.candidates.lock().unwrap_or_else(PoisonError::into_inner).push(candidate);
        }
    }
}
