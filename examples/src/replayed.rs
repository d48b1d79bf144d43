//! A recording of the agent, against its handlers.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use hooks_runtime::record::{LineKind, Reader};
use hooks_runtime::replay::{Recorded, Replay, replay};
use hooks_runtime::{HookRegistry, ScopedHooks};

use crate::recorded::points;

/// The recording in that file, against these handlers.
pub fn replay_of(path: &Path, hooks: &ScopedHooks) -> Replay {
    points().iter().fold(replay(path), Recorded::catalogue).against(hooks)
}

/// How long what is taken over holds: longer than a replay takes.
const TAKEN_OVER: Duration = Duration::from_hours(1);

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
        draft.break_glass("as it was recorded").until(TAKEN_OVER).apply()?;
    }
    Ok(())
}
