//! The hook scripts that operators of coding agents already have, as handlers of typed
//! hook points.

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
pub use facts::{EventKind, Facts, ToolFacts};
pub use fire::{Fired, FiredHandler, Outcome};
pub use mapping::{AmendPoint, Amendment, CommandPoint, GatePoint, StopPoint};
pub use preview::{Preview, PreviewEntry};
pub use runs::{Run, Runs};
pub use verdict::Mode;
