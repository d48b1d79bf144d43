//! What a person sees of the agent's work: the conversation, and beside it
//! what every point and plugin did.
//!
//! [`Look`] for terminals and pipes, [`page`] for a browser and [`json_lines`] for
//! other programs, all with the same content in the same order; [`picture`] for a
//! glance at it. [`replay_table`] and [`replay_page`] show what a replay of it came to.
//! [`Output`] is the way to a terminal or its pager.

mod colour;
mod group;
mod json_lines;
mod legend;
mod look;
mod markup;
mod output;
mod page;
mod phrase;
mod picture;
mod replay;
mod summary;
mod tally;
mod text;
mod wrap;

pub use json_lines::json_lines;
pub use look::Look;
pub use output::Output;
pub use page::page;
pub use picture::picture;
pub use replay::{replay_page, replay_table};
pub use summary::{Summary, summary};
