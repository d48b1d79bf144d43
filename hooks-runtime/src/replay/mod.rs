//! Replays of what was recorded, against today's handlers or today's rules (L38).

mod cassette;

pub use cassette::{Cassette, CassetteError, CassetteMode};
