//! The hook scripts that operators of coding agents already have, as handlers of typed
//! hook points.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("hooks-bridge runs commands in process groups, which it has on unix only");

pub mod runner;
