//! Walks every path of the unsafe code, for Miri: futures that are ready,
//! suspended, cancelled, panicking, empty, over-aligned and oversized, in every
//! model, with and without a report; storage that is reused; lists that change
//! under a fire or a run; fires that change their thread; limits and states that
//! panic.
//!
//! Here and not with the other tests, whose dependencies Miri would have to
//! read first.
#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

mod conditions;
mod driving;
mod hostile;
mod limits;
mod merges;
mod models;
mod panics;
mod points;
#[cfg(feature = "record")]
mod recorded;
mod removal;
mod rules;
mod runs;
mod shapes;
mod threads;
mod traces;
mod wakers;
