//! Cases in which the two once differed.

use std::sync::Arc;

use crate::plan::{Answer, Ending, Form, Op, Run, ScopeOf, Script, Shot, Spot, Way, Wish};
use crate::proof;
use crate::strategies::Plan;

/// A handler that does nothing.
fn idle() -> Script {
    Script {
        form: Form::Sync,
        rounds: 0,
        acts: Vec::new(),
        late: false,
        steers: Vec::new(),
        ending: Ending::Return,
        answer: Answer::Nothing,
    }
}

fn register(wishes: impl IntoIterator<Item = Wish>) -> Op {
    Op::Register { registrar: None, wishes: wishes.into_iter().collect() }
}

fn fire(shot: Shot) -> Op {
    fire_as(shot, Way::Reported)
}

fn fire_as(shot: Shot, way: Way) -> Op {
    Op::Fire { shot, payload: 1, scope: ScopeOf::Everyone, way, stop: None }
}

fn run() -> Run {
    Run { targets: Vec::new(), validation: None, rounds: 0, operation: Ending::Return }
}

/// Takes a case through both, observed and not.
fn check(steps: Vec<Op>) {
    for observed in [false, true] {
        proof::check(&Plan { timer: true, observed, steps: steps.clone() });
    }
}

#[test]
fn l21_a_stage_that_all_handlers_have_left_is_not_in_the_report() {
    let idle = Wish::at(Spot::BeforeValidation, Arc::new(idle()));
    check(vec![register([idle]), Op::Unregister(0), fire(Shot::Flow(run()))]);
}

#[test]
fn l18_a_handler_that_keeps_a_place_is_held_to_the_limits_of_that_place() {
    let at = |priority, replace| Wish {
        name: Some("h0"),
        plugin: Some("east"),
        priority,
        replace,
        ..Wish::at(Spot::Told, Arc::new(idle()))
    };
    for priorities in [(0, 0), (1, 2)] {
        let steps = vec![
            register([at(Some(1), false)]),
            Op::Limit { plugin: "east", most: 1, priorities },
            register([at(None, true)]),
        ];
        check(steps);
    }
}

#[test]
fn l19_a_version_that_was_replaced_leaves_with_its_plugin() {
    let east = |replace| Wish {
        name: Some("h1"),
        plugin: Some("east"),
        replace,
        ..Wish::at(Spot::Routed, Arc::new(idle()))
    };
    let acts = vec![register([east(true)]), Op::UnregisterPlugin("east")];
    let leads = Wish::at(Spot::Routed, Arc::new(Script { acts, ..idle() }));
    check(vec![register([leads, east(false)]), fire(Shot::At(Spot::Routed))]);
}

#[test]
fn l26_a_fire_without_handlers_is_not_too_deep_in_any_form() {
    let deep = |way| {
        let unheard = fire_as(Shot::At(Spot::Told), way);
        let again = fire(Shot::At(Spot::Vowed));
        Wish::at(Spot::Vowed, Arc::new(Script { acts: vec![unheard, again], ..idle() }))
    };
    for way in [Way::Plain, Way::Reported, Way::Lazy] {
        let left = Wish::at(Spot::Told, Arc::new(idle()));
        let steps =
            vec![register([left, deep(way)]), Op::Unregister(0), fire(Shot::At(Spot::Vowed))];
        check(steps);
    }
}
