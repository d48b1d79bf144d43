//! The registry against a reference that is plainly right: whatever is
//! registered, removed and fired, in whatever order and from wherever, both
//! come to the same outcomes, calls, reports and counts.
//!
//! `PROPTEST_CASES` says how many cases a property tries, in the mean.

mod body;
mod cases;
mod event;
mod log;
#[path = "../support/naive_order.rs"]
mod naive_order;
mod observer;
mod plan;
mod plugin;
mod points;
mod proof;
mod real;
mod recorded;
mod reference;
mod reference_fire;
mod reference_flow;
mod reference_order;
mod reference_stage;
mod replayed;
mod strategies;
mod world;

use plan::Spot;
use proof::prove;
use proptest::prop_oneof;
use strategies::{crowds, plans, recoveries};

/// L06, L07, L12, L13, L20, L21.
#[test]
fn l07_void_fires_are_those_of_the_reference() {
    prove("void", 100, plans(&[Spot::Told, Spot::Vowed]));
}

/// L06, L07: also where more wait than are polled one by one.
#[test]
fn l07_a_crowd_at_a_void_point_is_that_of_the_reference() {
    prove("a void crowd", 20, crowds(Spot::Vowed));
}

/// L08, L12, L13, L20, L21.
#[test]
fn l08_modifying_fires_are_those_of_the_reference() {
    prove("modifying", 100, plans(&[Spot::Amended]));
}

/// L09, L12, L13, L20, L21.
#[test]
fn l09_claiming_fires_are_those_of_the_reference() {
    prove("claiming", 100, plans(&[Spot::Routed]));
}

/// L10, L12, L13, L20, L21.
#[test]
fn l10_gating_fires_are_those_of_the_reference() {
    prove("gating", 100, plans(&[Spot::Posted, Spot::Mailed]));
}

/// L11, L12, L13, L20, L21.
#[test]
fn l11_runs_of_a_flow_are_those_of_the_reference() {
    prove("flow", 150, plans(&Spot::ALL[6..]));
}

/// L11, L13, L19, L20: how recoveries meet failures, aborts, skips and removals.
#[test]
fn l11_recoveries_are_those_of_the_reference() {
    prove("recovery", 100, recoveries());
}

/// L04, L05, L16, L17, L18, L19, L22, L23, L24, L25, L26: all models at once,
/// with handlers that change the registry and fire while they run.
#[test]
fn l24_all_models_together_are_those_of_the_reference() {
    let together = prop_oneof![
        plans(&[Spot::Told, Spot::Amended, Spot::Posted]),
        plans(&[Spot::Vowed, Spot::Routed, Spot::Mailed]),
        plans(&[Spot::Told, Spot::BeforeExecute, Spot::OnError, Spot::Finally]),
        plans(&[Spot::Amended, Spot::BeforeValidation, Spot::AfterExecute]),
        plans(&Spot::ALL),
    ];
    prove("all models", 250, together);
}
