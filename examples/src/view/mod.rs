//! What a person sees of the agent's work: the conversation, and beside it
//! what every point and plugin did.
//!
//! [`Look`] for terminals and pipes, [`page`] for a browser and [`json_lines`]
//! for other programs. All have the same content in the same order.

mod colour;
mod group;
mod json_lines;
mod look;
mod page;
mod phrase;
mod plain;
mod summary;
mod tally;
mod terminal;

pub use json_lines::json_lines;
pub use look::Look;
pub use page::page;
pub use summary::{Summary, summary};
