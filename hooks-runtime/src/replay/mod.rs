//! Replays of what was recorded, against today's handlers or today's rules (L38).
mod against;
mod cassette;
mod changes;
mod collect;
mod compare;
mod copies;
mod display;
mod error;
mod history;
mod points;
mod report;
mod script;
mod timeline;

use std::path::Path;

pub use against::{Recorded, Replay};
pub use cassette::{Cassette, CassetteError, CassetteMode};
pub use compare::{Difference, DifferenceKind};
pub use error::ReplayError;
pub use report::{FireReplay, FireVerdict, ReplayReport};
pub use timeline::{Timeline, TimelineRow};

/// The recording in that file, to be replayed.
pub fn replay(path: impl AsRef<Path>) -> Recorded {
    Recorded::new(path.as_ref())
}
