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
//! | run a command by itself | [`runner::Runner`] |
//! | go through all of it, step by step | [`guide`] |

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
