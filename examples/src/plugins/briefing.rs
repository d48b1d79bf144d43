//! Puts the date before the system prompt and a rule of safety after it.

use std::fmt;
use std::time::SystemTime;

use hooks_points::{
    BeforePromptBuild, BeforePromptBuildPayload, BeforePromptBuildResult, SubagentSpawning,
    SubagentSpawningPayload, SubagentSpawningResult,
};
use hooks_runtime::hook_handlers;

/// What every prompt is to say.
pub struct Briefing {
    now: Box<dyn Fn() -> SystemTime + Send + Sync>,
    rule: String,
    brevity: String,
}

impl Briefing {
    /// The date by this clock goes before every prompt, `rule` after it, and
    /// `brevity` before the instruction for a subagent.
    pub fn new(
        now: impl Fn() -> SystemTime + Send + Sync + 'static,
        rule: &str,
        brevity: &str,
    ) -> Self {
        Self { now: Box::new(now), rule: rule.to_owned(), brevity: brevity.to_owned() }
    }
}

#[hook_handlers(plugin = "briefing")]
impl Briefing {
    /// Early, so that another plugin's text does not take the first place.
    #[hook_handler(BeforePromptBuild, priority = -10)]
    fn today(&self, _: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
        let now = humantime::format_rfc3339_seconds((self.now)()).to_string();
        let (date, _) = now.split_once('T').unwrap_or((&now, ""));
        let prepend_system = Some(format!("Today is {date}."));
        BeforePromptBuildResult { prepend_system, ..Default::default() }
    }

    #[hook_handler(BeforePromptBuild, pure)]
    fn safety(&self, _: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
        let append_system = Some(self.rule.clone());
        BeforePromptBuildResult { append_system, ..Default::default() }
    }

    #[hook_handler(SubagentSpawning, pure)]
    fn be_brief(&self, spawning: &SubagentSpawningPayload) -> SubagentSpawningResult {
        let prompt = Some(format!("{} {}", self.brevity, spawning.prompt));
        SubagentSpawningResult { prompt, ..Default::default() }
    }
}

impl fmt::Debug for Briefing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Briefing").finish_non_exhaustive()
    }
}
