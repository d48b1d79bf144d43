//! The order of the reference's handlers, and what is said of it.

use std::rc::Rc;
use std::sync::Arc;

use crate::naive_order::{self, Placed, Refused, Why};
use crate::plan::{Answer, Ending, FORMS_OF_EAST, Form, Op, Script, Spot, Wish};
use crate::proof;
use crate::reference::{Handler, name_of};
use crate::strategies::Plan;

/// What a refusal for the sake of the order begins with; a line for each point.
pub const NO_ORDER: &str = "no order: ";

/// Such a line for a circle, before the point.
pub const CIRCLE: &str = "circular at ";

impl Handler {
    pub fn placed(&self, new: bool) -> Placed {
        Placed {
            name: self.name.clone(),
            plugin: self.plugin.map(str::to_owned),
            guard: self.guard,
            priority: self.priority,
            turn: None,
            seq: self.seq,
            before: self.before.iter().map(ToString::to_string).collect(),
            after: self.after.iter().map(ToString::to_string).collect(),
            allowed: self.allowed,
            new,
        }
    }
}

/// The handlers in order, and those whose constraints are dropped.
type Ordered = (Vec<Rc<Handler>>, Vec<(Rc<Handler>, Why)>);

/// The handlers of a point by the law of the order; or why those with the new
/// tags cannot join.
pub fn sorted(handlers: &[Rc<Handler>], spot: Spot, new: &[u32]) -> Result<Ordered, String> {
    let here: Vec<_> = handlers.iter().filter(|h| h.spot == spot).collect();
    let placed: Vec<_> = here.iter().map(|h| h.placed(new.contains(&h.tag))).collect();
    let handler = |at: usize| Rc::clone(here[at]);
    match naive_order::order(&placed) {
        Ok(came) => Ok((
            came.order.into_iter().map(handler).collect(),
            came.dropped.into_iter().map(|(at, why)| (handler(at), why)).collect(),
        )),
        Err(Refused::Circle) => Err(format!("{CIRCLE}{}", name_of(spot))),
        Err(Refused::Handler(at, why)) => Err(refusal(here[at], why)),
    }
}

/// Why the constraints of a handler keep it from joining.
fn refusal(handler: &Handler, why: Why) -> String {
    // What is refused got no name from the real registry.
    let name = if handler.name.starts_with("<place>") { "<place>" } else { &*handler.name };
    let (plugin, point) = (handler.plugin.unwrap_or_default(), name_of(handler.spot));
    let before = handler.before.iter().map(|name| format!("before `{name}`"));
    let after = handler.after.iter().map(|name| format!("after `{name}`"));
    let constraints = before.chain(after).collect::<Vec<_>>().join(", ");
    match why {
        Why::Range(lowest, highest) => format!(
            "`{name}` of plugin `{plugin}` is refused at `{point}`: {constraints} would put it \
             past handlers of others whose priority is not between {lowest} and {highest}; the \
             host allows more with `set_quota`"
        ),
        Why::NoPlace | Why::Circle => format!(
            "`{name}` of plugin `{plugin}` has no place at `{point}`: {constraints} contradicts \
             the order of the other handlers, which a plugin cannot change; leave a constraint \
             out"
        ),
    }
}

/// Why the audit says that constraints are dropped.
pub fn because(why: Why) -> String {
    match why {
        Why::Circle => "its constraints are part of a circle".into(),
        Why::NoPlace => "its constraints contradict the order of the other handlers".into(),
        Why::Range(lowest, highest) => format!(
            "its constraints would put it past handlers of others whose priority is not between \
             {lowest} and {highest}"
        ),
    }
}

/// A case in which the two once differed: the reference took each handler whose
/// name does not begin with an `h` for an anonymous one.
#[test]
fn l04_a_refusal_names_the_handler_that_has_no_place() {
    let script = |form| {
        let (acts, steers) = (Vec::new(), Vec::new());
        let (ending, answer) = (Ending::Return, Answer::Nothing);
        Arc::new(Script { form, rounds: 0, acts, late: false, steers, ending, answer })
    };
    let at = || Wish::at(Spot::BeforeExecute, script(Form::Sync));
    let west = Wish { plugin: Some("west"), priority: Some(1), ..at() };
    let host = Wish { after: vec!["east/*"], ..at() };
    let steps = vec![
        Op::Register { registrar: None, wishes: vec![west, host] },
        Op::Install { replace: false, scripts: FORMS_OF_EAST.map(script) },
    ];
    proof::check(&Plan { timer: false, observed: false, steps });
}
