//! An agent that runs on hooks, in parts that can be read one by one.
//!
//! | module | what it is |
//! |---|---|
//! | [`agent`] | the host: sessions, turns, tools, a gateway, tickets, goals, subagents |
//! | [`plugins`] | what extends it: one file each, to copy |
//! | [`hook_files`] | hook scripts of coding agents, taking part by `--hooks DIR` |
//! | [`house`] | host and plugins put together |
//! | [`day`] | a scripted day of that agent, for the demonstration and its tests |
//! | [`files`] | the files that it writes |
//! | [`inspected`] | the same day again and again, with a live page beside it |
//! | [`recorded`] | the run in a file, with every payload and every answer |
//! | [`replayed`] | a recording of it against its handlers |
//! | [`view`] | what a person sees of it: text, a terminal, a page, JSON lines |
//!
//! `cargo run --example agent` shows all of it at work.

#![forbid(unsafe_code)]

pub mod agent;
pub mod day;
pub mod files;
pub mod hook_files;
pub mod house;
pub mod inspected;
pub mod plugins;
pub mod recorded;
pub mod replayed;
pub mod view;
