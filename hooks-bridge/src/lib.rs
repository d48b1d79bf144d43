//! The hook scripts that operators of coding agents already have, as handlers of typed
//! hook points.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("hooks-bridge runs commands in process groups, which it has on unix only");

mod answer;
mod claude_code;
mod codex;
pub mod config;
mod copilot;
mod cursor;
mod dialect;
mod facts;
mod gemini;
mod keys;
mod matcher;
mod printed;
mod rules;
pub mod runner;
mod verdict;

pub use answer::{Answer, DecidedBy, Decision, Opinion, Rewrite, Ruling};
pub use dialect::{Dialect, UnknownDialect};
pub use facts::{EventKind, Facts, ToolFacts};
pub use verdict::Mode;
