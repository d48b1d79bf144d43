//! Cases at random.

use std::sync::Arc;

use hooks_runtime::{FailurePolicy, Plugins};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::plan::{
    Answer, Ending, FORMS_OF_EAST, Form, NAMES, Op, PLUGINS, Run, ScopeOf, Script, Shot, Spot,
    Steer, TARGETS, Way, Wish,
};

/// A registry with a timer or without, and what is done with it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub timer: bool,
    /// Whether the registry has an observer.
    pub observed: bool,
    pub steps: Vec<Op>,
}

/// Cases around these points: the fewer they are, the more meet at one.
pub fn plans(spots: &'static [Spot]) -> impl Strategy<Value = Plan> {
    let first = vec(wish(spots, 2), 3..=8).prop_map(accepted);
    (proptest::bool::weighted(0.9), any::<bool>(), first, vec(op(spots, 2), 3..=14)).prop_map(
        |(timer, observed, first, mut steps)| {
            steps.insert(0, first);
            Plan { timer, observed, steps }
        },
    )
}

/// Cases in which operations fail, mostly, and handlers recover.
pub fn recoveries() -> impl Strategy<Value = Plan> {
    plans(&[Spot::BeforeExecute, Spot::OnError, Spot::OnError, Spot::Finally]).prop_map(
        |mut plan| {
            plan.steps.iter_mut().for_each(to_recover);
            plan
        },
    )
}

fn to_recover(op: &mut Op) {
    match op {
        Op::Register { wishes, .. } => {
            for (wish, value) in wishes.iter_mut().zip(50..) {
                let script = Arc::make_mut(&mut wish.script);
                script.acts.iter_mut().for_each(to_recover);
                if wish.spot == Spot::OnError && script.steers.len() < 2 {
                    script.steers.push(Steer::Recover(value));
                } else if wish.spot == Spot::BeforeExecute {
                    // Or the operation is not called.
                    script.steers.clear();
                    script.ending = Ending::Return;
                }
            }
        }
        Op::Fire { shot: Shot::Flow(run), payload: 1.., .. } if run.operation == Ending::Return => {
            run.operation = Ending::Error;
        }
        _ => (),
    }
}

/// A group in which no registration is refused: there is something to fire at.
fn accepted(mut wishes: Vec<Wish>) -> Op {
    for (index, wish) in wishes.iter_mut().enumerate() {
        // Those past the end of the names are anonymous.
        wish.name = wish.name.and(NAMES[..5].get(index).copied());
        wish.plugin = wish.plugin.filter(|id| *id != PLUGINS[3]);
        wish.policy = None;
        wish.limit = wish.limit.filter(|limit| *limit > 0);
    }
    Op::Register { registrar: None, wishes }
}

/// Many handlers at one point, more than are polled one by one.
pub fn crowds(spot: Spot) -> impl Strategy<Value = Plan> {
    let one = (script(&[Spot::Vowed], 0), proptest::option::weighted(0.3, 1..=3_u32));
    (vec(one, 30..=80), vec(fire(&[Spot::Vowed]), 1..=2)).prop_map(move |(crowd, fires)| {
        let wishes = crowd.into_iter().map(|(script, limit)| {
            let script = Script { rounds: script.rounds * 2, ..script };
            Wish { limit, ..fitted(Wish::at(spot, Arc::new(script))) }
        });
        let mut steps = vec![Op::Register { registrar: None, wishes: wishes.collect() }];
        steps.extend(fires);
        Plan { timer: true, observed: false, steps }
    })
}

fn op(spots: &'static [Spot], depth: u32) -> BoxedStrategy<Op> {
    let registrar = proptest::option::weighted(0.2, select(&PLUGINS[..3]));
    let east = FORMS_OF_EAST.map(|form| {
        script(spots, depth)
            .prop_map(move |script| Arc::new(Script { form, late: false, ..script }))
    });
    let limit = (select(&PLUGINS[..3]), 0..=4_usize, -2..=0_i32, 0..=2_i32);
    prop_oneof![
        30 => (registrar, vec(wish(spots, depth), 1..=3))
            .prop_map(|(registrar, wishes)| Op::Register { registrar, wishes }),
        50 => fire(spots),
        12 => (0..40_usize).prop_map(Op::Unregister),
        6 => select(&PLUGINS[..3]).prop_map(Op::UnregisterPlugin),
        4 => (any::<bool>(), east).prop_map(|(replace, scripts)| Op::Install { replace, scripts }),
        3 => (0..4_usize).prop_map(Op::Uninstall),
        2 => limit.prop_map(|(plugin, most, lowest, highest)| {
            Op::Limit { plugin, most, priorities: (lowest, highest) }
        }),
        4 => (proptest::option::of(0..4_usize), plugins())
            .prop_map(|(parent, plugins)| Op::Scope { parent, plugins }),
    ]
    .boxed()
}

fn plugins() -> impl Strategy<Value = Plugins> {
    let only = subsequence(PLUGINS.to_vec(), 0..=3);
    prop_oneof![
        2 => Just(Plugins::All),
        1 => Just(Plugins::BuiltIn),
        3 => only.prop_map(Plugins::only),
    ]
}

fn fire(spots: &'static [Spot]) -> BoxedStrategy<Op> {
    let stages = spots.iter().any(|spot| *spot >= Spot::BeforeValidation);
    let points: Vec<_> = spots.iter().copied().filter(|s| *s < Spot::BeforeValidation).collect();
    let shot = match (points.is_empty(), stages) {
        (true, _) => run().prop_map(Shot::Flow).boxed(),
        (false, false) => select(points).prop_map(Shot::At).boxed(),
        (false, true) => {
            prop_oneof![1 => run().prop_map(Shot::Flow), 3 => select(points).prop_map(Shot::At)]
                .boxed()
        }
    };
    let scope = prop_oneof![
        3 => Just(ScopeOf::Everyone),
        1 => (0..4_usize).prop_map(ScopeOf::Made),
        3 => plugins().prop_map(ScopeOf::Given),
    ];
    let stop = proptest::option::weighted(0.2, 1..=5_u32);
    let way = prop_oneof![
        3 => Just(Way::Reported),
        2 => Just(Way::Plain),
        1 => Just(Way::Lazy),
    ];
    (shot, 0..5_u32, scope, way, stop)
        .prop_map(|(shot, payload, scope, way, stop)| Op::Fire { shot, payload, scope, way, stop })
        .boxed()
}

fn run() -> impl Strategy<Value = Run> {
    let ending = prop_oneof![
        6 => Just(Ending::Return),
        1 => Just(Ending::Error),
        1 => Just(Ending::PanicString),
    ];
    let validation = proptest::option::weighted(0.4, ending.clone());
    (subsequence(TARGETS.to_vec(), 0..=2), validation, 0..=2_u32, ending).prop_map(
        |(targets, validation, rounds, operation)| Run { targets, validation, rounds, operation },
    )
}

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    let of_plugins = ["east/*", "west/*", "east/h0", "east/h1", "west/h2", "north/h0", "north/*"];
    let known = NAMES[..5].iter().copied().chain(of_plugins).chain(["nobody", "east"]);
    prop_oneof![
        5 => Just(Vec::new()),
        // Few each, or nearly every group would be circular.
        1 => subsequence(known.collect::<Vec<_>>(), 1..=2),
    ]
}

fn wish(spots: &'static [Spot], depth: u32) -> BoxedStrategy<Wish> {
    let name = prop_oneof![
        20 => Just(None),
        78 => select(&NAMES[..5]).prop_map(Some),
        2 => select(&NAMES[5..]).prop_map(Some),
    ];
    let plugin = prop_oneof![
        45 => Just(None),
        54 => select(&PLUGINS[..3]).prop_map(Some),
        1 => Just(Some(PLUGINS[3])),
    ];
    let policy = prop_oneof![
        30 => Just(None),
        9 => Just(Some(FailurePolicy::Closed)),
        1 => Just(Some(FailurePolicy::Open)),
    ];
    let limit = prop_oneof![75 => Just(None), 24 => (1..=3_u32).prop_map(Some), 1 => Just(Some(0))];
    let target = proptest::option::weighted(0.15, select(&TARGETS[..]));
    let place = (proptest::option::of(-2..=2_i32), names(), names());
    let terms = (policy, limit, target, proptest::bool::weighted(0.3), any::<bool>());
    (select(spots), name, plugin, place, terms, script(spots, depth))
        .prop_map(|(spot, name, plugin, place, terms, script)| {
            let (priority, before, after) = place;
            let (policy, limit, target, replace, guard) = terms;
            let script = Arc::new(script);
            let wish = Wish {
                spot,
                name,
                plugin,
                priority,
                before,
                after,
                policy,
                limit,
                target,
                replace,
                guard,
                script,
            };
            fitted(wish)
        })
        .boxed()
}

/// The wish with what fits its point.
fn fitted(mut wish: Wish) -> Wish {
    let script = Arc::make_mut(&mut wish.script);
    wish.guard &= wish.spot.is_gating();
    // A guard has no state of its own kind, so an async one has no context.
    if wish.guard && script.form == Form::AsyncContext {
        script.form = Form::Boxed;
    }
    // What several do after they waited has no order.
    script.late &= !wish.spot.is_void();
    if let (Answer::Fields([Some(value), ..]), spot) = (script.answer, wish.spot)
        && spot != Spot::Amended
    {
        script.answer = match spot {
            Spot::Routed => Answer::Claim(value.into()),
            _ if value == 0 => Answer::Reject,
            _ => Answer::Replace(value.into()),
        };
    }
    wish
}

fn script(spots: &'static [Spot], depth: u32) -> BoxedStrategy<Script> {
    let form = select(vec![
        Form::Sync,
        Form::SyncContext,
        Form::Async,
        Form::AsyncContext,
        Form::Huge,
        Form::Boxed,
    ]);
    let rounds = prop_oneof![1 => Just(0_u32), 1 => 1..=3_u32];
    let acts = match depth {
        0 => Just(Vec::new()).boxed(),
        _ => prop_oneof![3 => Just(Vec::new()), 1 => vec(op(spots, depth - 1), 1..=2)].boxed(),
    };
    let steer = prop_oneof![
        Just(Steer::Skip),
        Just(Steer::Abort),
        (10..20_u32).prop_map(Steer::Respond),
        (40..50_u32).prop_map(Steer::Recover),
        (20..30_u32).prop_map(Steer::Rewrite),
        (30..40_u32).prop_map(Steer::Touch),
    ];
    let steers = prop_oneof![3 => Just(Vec::new()), 2 => vec(steer, 1..=3)];
    let ending = prop_oneof![
        20 => Just(Ending::Return),
        3 => Just(Ending::Error),
        1 => Just(Ending::PanicText),
        1 => Just(Ending::PanicString),
        1 => Just(Ending::PanicOther),
        1 => Just(Ending::PanicEarly),
        1 => Just(Ending::PanicInDrop),
    ];
    let field = || proptest::option::weighted(0.4, 0..4_u8);
    let answer = prop_oneof![
        1 => Just(Answer::Nothing),
        2 => [field(), field(), field()].prop_map(Answer::Fields),
    ];
    (form, rounds, acts, any::<bool>(), steers, ending, answer)
        .prop_map(|(form, rounds, acts, late, steers, ending, answer)| Script {
            form,
            rounds,
            acts,
            late,
            steers,
            ending,
            answer,
        })
        .boxed()
}
