#![doc = include_str!("../README.md")]
//!
//! # The map
//!
//! | I want to … | use |
//! |---|---|
//! | read configuration files | [`config::Plan`], [`config::Source`] |
//! | know what is odd about them | [`config::Entry::suspicions`], [`check::Check`] |
//! | have their commands take part | [`Bridge::gate`], [`Bridge::amend`], [`Bridge::claim`], [`Bridge::observe`] |
//! | use points of my own | [`CommandPoint`], and [`GatePoint`], [`AmendPoint`] or [`StopPoint`] |
//! | use points that fit already | [`points`], and those of `hooks-points` |
//! | choose how answers are read | [`Mode`] |
//! | decide what may run | [`trust::Trust`], [`trust::Grants`], [`Bridge::preview`] |
//! | see what commands did | [`Runs`], and the report of the fire |
//! | fire one event of a dialect | [`Fired`] |
//! | have a test that runs no command | `Bridge::cassette`, with the feature `cassette` |
//! | run a command by itself | [`runner::Runner`] |
//! | go through all of it, step by step | [`guide`] |
//!
//! # Adding a dialect
//!
//! All that is particular to a product is in its folder of `src`, the same files in each. To
//! add one:
//!
//! 1. Copy the folder of the dialect that is most like it.
//! 2. `events.rs`: its events, each with what it is for ([`EventKind`]), what its matcher is
//!    compared with, whether exit code 2 blocks, whether text is context, whether
//!    `"continue": false` stops everything.
//! 3. `tools.rs`: its tools by their common names, and how it names those of MCP servers.
//! 4. `config.rs`: where its files are, the keys of a handler and how they are read, what turns
//!    hooks off.
//! 5. `stdin.rs`: what a command finds in its stdin and in its environment.
//! 6. `answer.rs`: what the keys of an answer mean, for both modes, and how the product itself
//!    reads one, for [`Mode::Faithful`]. `Strict` needs no more.
//! 7. `mod.rs`: its id, its name, its time limit, how its matchers are read.
//! 8. Outside of the folder: its `mod` here, its variant of [`Dialect`], and in `dialect.rs` its
//!    lines in the list and in the match. Nothing else names a dialect; a test sees to that.
//! 9. Its column in `tests/table.rs`, `tests/table_rows.rs` and `tests/published_matrix.rs`, and
//!    its names in `tests/support/dialects.rs`.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("hooks-bridge runs commands in process groups, which it has on unix only");

mod answer;
mod bridge;
pub mod check;
mod claude_code;
mod codex;
mod command;
pub mod config;
mod copilot;
mod cursor;
mod dialect;
mod docs;
mod facts;
mod files;
mod fire;
mod gemini;
#[cfg(feature = "http")]
pub mod http;
mod keys;
mod mapping;
mod matcher;
pub mod points;
mod preview;
mod printed;
mod rules;
pub mod runner;
mod runs;
mod tape;
pub mod trust;
mod verdict;

pub use answer::{Answer, DecidedBy, Decision, Opinion, Rewrite, Ruling};
pub use bridge::Bridge;
pub use dialect::{Dialect, UnknownDialect};
pub use docs::guide;
pub use facts::{EventKind, Facts, ToolFacts};
pub use fire::{Fired, FiredHandler, Outcome};
pub use mapping::{AmendPoint, Amendment, CommandPoint, GatePoint, StopPoint};
pub use preview::{Preview, PreviewEntry};
pub use runs::{Run, Runs};
pub use verdict::Mode;

/// A folder as commands are told of it, wherever they run.
fn absolute(folder: &std::path::Path) -> std::path::PathBuf {
    // Only an empty path, and a current folder that is gone, have no such form.
    let folder = if folder.as_os_str().is_empty() { std::path::Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}
