//! Lets the model run only commands that are on a list.

use hooks_points::RejectionReason;
use hooks_points::{BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult, EmptyReason};
use hooks_runtime::hook_handlers;
use serde_json::Value;

/// Refuses commands that are not on its list.
#[derive(Debug)]
pub struct Allowlist {
    programs: Vec<String>,
}

impl Allowlist {
    /// These programs may be run.
    pub fn new<const N: usize>(programs: [&str; N]) -> Self {
        Self { programs: programs.map(str::to_owned).into() }
    }
}

#[hook_handlers(plugin = "allowlist")]
impl Allowlist {
    /// Called only where there is a command. Fails closed: a guard that cannot judge
    /// must not let anything through.
    #[hook_handler(BeforeToolCall, priority = -10, on_failure = "closed", when = has_command, pure)]
    fn known_commands(
        &self,
        call: &BeforeToolCallPayload,
    ) -> Result<Option<BeforeToolCallResult>, EmptyReason> {
        let command = call.args.get("command").and_then(Value::as_str);
        let program = command.and_then(|line| line.split_whitespace().next());
        let program = program.unwrap_or_default();
        if self.programs.iter().any(|allowed| allowed == program) {
            return Ok(None);
        }
        let reason = format!("`{program}` may not be run, only {}", self.programs.join(", "));
        let error = Some(RejectionReason::new(reason)?);
        Ok(Some(BeforeToolCallResult { error, ..Default::default() }))
    }
}

fn has_command(call: &BeforeToolCallPayload) -> bool {
    call.args.get("command").is_some()
}
