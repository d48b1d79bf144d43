//! A recording of the agent, against its handlers.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use hooks_runtime::operator::OperatorError;
use hooks_runtime::record::{LineKind, Reader};
use hooks_runtime::replay::{Recorded, Replay, replay};
use hooks_runtime::{HookRegistry, ScopedHooks};

use crate::recorded::points;

/// The recording in that file, against these handlers.
pub fn replay_of(path: &Path, hooks: &ScopedHooks) -> Replay {
    points().iter().fold(replay(path), Recorded::catalogue).against(hooks)
}

/// How long these settings hold: longer than a day of the agent and its replay take.
const LONG: Duration = Duration::from_hours(1);

/// Puts a handler into shadow, `plugin/handler` or a target as an operator writes it.
pub fn shadow(hooks: &HookRegistry, handler: &str) -> Result<(), OperatorError> {
    let target = if handler.contains(':') { handler.to_owned() } else { format!("*:{handler}") };
    hooks.operator().shadow(target).break_glass("a trial").until(LONG).apply()?;
    Ok(())
}

/// Disables and shadows the handlers that an operator had disabled or in shadow when the
/// recording in that file began: then what is asked is what another setting would have done.
pub fn take_over_modes(
    hooks: &HookRegistry,
    path: &Path,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let first = Reader::open(path)?.next().transpose()?;
    let Some(LineKind::Header(header)) = first.map(|line| line.kind) else { return Ok(()) };
    let operator = hooks.operator();
    for setting in header.settings {
        let draft = match &*setting.setting {
            "disable" => operator.disable(setting.target),
            "shadow" => operator.shadow(setting.target),
            "warn" => operator.warn(setting.target),
            _ => continue,
        };
        draft.break_glass("as it was recorded").until(LONG).apply()?;
    }
    Ok(())
}
