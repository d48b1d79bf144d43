//! The agent's fires in a file, and that file against its handlers.

use std::path::Path;

use hooks_points::catalogue;
use hooks_runtime::ScopedHooks;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::record::{CapturePolicy, Recorder};
use hooks_runtime::replay::{Replay, replay};

/// The points of the agent. Two of these have a point of one name, so they are not one.
pub fn catalogues() -> [Catalogue; 4] {
    [catalogue::agent(), catalogue::gateway(), catalogue::lifecycle(), catalogue::mcp()]
}

/// Records the agent's fires to that file, with all that they carry.
pub fn recorder(path: &Path) -> Recorder {
    let recorder = Recorder::to(path).capture("*", CapturePolicy::Full);
    catalogues().iter().fold(recorder, Recorder::catalogue)
}

/// The recording in that file, against these handlers.
pub fn replay_of(path: &Path, hooks: &ScopedHooks) -> Replay {
    let recorded = catalogues().iter().fold(replay(path), |it, points| it.catalogue(points));
    recorded.against(hooks)
}
