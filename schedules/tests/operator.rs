//! The models of circuit breakers and rate limits of `words.rs`, with the other checker.
//!
//! loom keeps of each word the last access only, to find the steps that another order
//! would change. A thread that loads a word and then swaps it hides its load by that: no
//! schedule is made in which the load comes late. A breaker counts by such pairs, so its
//! models run here too, under schedules that are drawn. These have no weak orderings,
//! which loom looks at.
#![cfg(schedules)]
#![allow(dead_code, missing_docs, unreachable_pub)]
// The included files have features that this package has not.
#![allow(unexpected_cfgs)]

/// The checker's types under the names of the runtime's `sync`.
mod sync {
    pub(crate) use shuttle::sync::atomic;
}

mod checker {
    pub(crate) use shuttle::sync::atomic;
    pub(crate) use shuttle::thread;
}

#[path = "../../hooks-runtime/src/operator/breaker/mod.rs"]
mod breaker;
#[path = "../../hooks-runtime/src/operator/rate.rs"]
mod rate;

// The models.
#[path = "words/breakers.rs"]
mod breakers;
#[path = "words/rates.rs"]
mod rates;

fn every_schedule(what: &str, model: impl Fn() + Send + Sync + 'static) {
    hooks_schedules::explore(what, model);
}

fn most_schedules(_preemptions: usize, what: &str, model: impl Fn() + Send + Sync + 'static) {
    hooks_schedules::explore(what, model);
}
