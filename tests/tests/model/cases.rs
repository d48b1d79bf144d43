//! Cases that once told the two apart.

use std::sync::Arc;

use crate::plan::{Answer, Ending, Form, Op, Run, ScopeOf, Script, Shot, Spot, Wish};
use crate::proof::check;
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
    Op::Fire { shot, payload: 1, scope: ScopeOf::Everyone, reported: true, stop: None }
}

fn run() -> Run {
    Run { targets: Vec::new(), validation: None, rounds: 0, operation: Ending::Return }
}

#[test]
fn l21_a_stage_that_everybody_has_left_is_not_in_the_report() {
    let idle = Wish::at(Spot::BeforeValidation, Arc::new(idle()));
    check(&Plan {
        timer: true,
        steps: vec![register([idle]), Op::Unregister(0), fire(Shot::Flow(run()))],
    });
}
