//! An order service whose decisions are hooks.
//!
//! | module | what it is |
//! |---|---|
//! | [`points`] | the five points, one of each model |
//! | [`request`] | the way of every request: its id, who asks, the values of its scope |
//! | [`service`] | the operation, and the life of the service |
//! | [`routes`] | what it answers |
//! | [`plugins`] | what decides: one file each |
//! | [`configuration`] | plugins from a file |
//! | [`recorder`] | metrics as text |
//!
//! `cargo run -p hooks-service` starts it.

#![forbid(unsafe_code)]

pub mod access;
pub mod configuration;
pub mod error;
pub mod orders;
pub mod plugins;
pub mod points;
pub mod recorder;
pub mod request;
pub mod routes;
pub mod service;
