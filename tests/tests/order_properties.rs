//! The order of handlers is the documented one whatever is registered (L04),
//! and a fire walks what introspection lists (L05).

mod support;

use futures::executor::block_on;
use hooks_runtime::error::CycleStep;
use hooks_runtime::plugin::Quota;
use hooks_runtime::{HookRegistry, RegisterError, Registration, Verdict, hook_points, on};
use proptest::prelude::*;
use proptest::sample::subsequence;
use support::Log;
use support::naive_order::{self, Placed, Refused, Why};

hook_points! {
    /// A letter on its way.
    pub gating Post(u32);
}

/// Handlers are called `h0` to `h7`; each belongs to one of the plugins, or to
/// the host. Those of the last plugin may have priorities up to 1 only.
const HANDLERS: usize = 8;
const PLUGINS: [&str; 3] = ["east", "west", "meek"];
const MEEK: (i32, i32) = (0, 1);

/// What a test registers.
#[derive(Clone, Debug)]
struct Wish {
    name: String,
    plugin: Option<&'static str>,
    priority: i32,
    turn: Option<&'static str>,
    guard: bool,
    before: Vec<String>,
    after: Vec<String>,
}

impl Wish {
    fn placed(&self, seq: usize, new: bool) -> Placed {
        Placed {
            name: self.name.clone(),
            plugin: self.plugin.map(str::to_owned),
            guard: self.guard,
            priority: self.priority,
            turn: self.turn,
            seq: seq as u64,
            before: self.before.clone(),
            after: self.after.clone(),
            allowed: (self.plugin == Some(PLUGINS[2])).then_some(MEEK),
            new,
        }
    }

    fn registration(&self, log: &Log) -> Registration {
        let mut place = on::<Post>().name(&*self.name).priority(self.priority);
        if let Some(plugin) = self.plugin {
            place = place.plugin(plugin);
        }
        if let Some(turn) = self.turn {
            place = place.turn(turn);
        }
        place = self.before.iter().fold(place, |place, name| place.before(&**name));
        place = self.after.iter().fold(place, |place, name| place.after(&**name));
        let (log, name) = (log.clone(), self.name.clone());
        if self.guard {
            place.guard(move |_: &u32| {
                log.push(&*name);
                Verdict::Pass
            })
        } else {
            place.handler(move |_: &u32| {
                log.push(&*name);
                Verdict::<u32>::Pass
            })
        }
    }
}

/// All of them, of which those from `new` on are being registered.
fn placed(wishes: &[Wish], new: usize) -> Vec<Placed> {
    wishes.iter().enumerate().map(|(at, wish)| wish.placed(at, at >= new)).collect()
}

/// The documented order, and the handlers whose constraints are dropped.
fn documented(wishes: &[Wish], new: usize) -> Result<(Vec<String>, Vec<String>), Refused> {
    let came = naive_order::order(&placed(wishes, new))?;
    let names = |those: Vec<usize>| those.into_iter().map(|at| wishes[at].name.clone()).collect();
    let mut dropped: Vec<String> = names(came.dropped.iter().map(|(at, _)| *at).collect());
    dropped.sort();
    Ok((names(came.order), dropped))
}

/// What a constraint may name: a handler of the same owner or of the host, one
/// of a plugin, all of a plugin, none.
fn names() -> impl Strategy<Value = Vec<String>> {
    let handlers = (0..HANDLERS).map(|index| format!("h{index}"));
    let of = |plugin: &'static str| (0..HANDLERS).map(move |index| format!("{plugin}/h{index}"));
    let others = ["east/*", "west/*", "meek/*", "nobody", "east"].map(str::to_owned);
    let all = handlers.chain(PLUGINS.into_iter().flat_map(of)).chain(others);
    // Few each, or nearly every set would be circular.
    prop_oneof![
        2 => Just(Vec::new()),
        1 => subsequence(all.collect::<Vec<_>>(), 1..=3),
    ]
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let plugin = prop_oneof![
        3 => Just(None),
        2 => Just(Some("east")),
        1 => Just(Some("west")),
        2 => Just(Some("meek")),
    ];
    let turn = prop_oneof![2 => Just(None), 1 => Just(Some("a")), 1 => Just(Some("b"))];
    let wish = (plugin, -2..=2_i32, turn, proptest::bool::weighted(0.2), names(), names());
    proptest::collection::vec(wish, 1..=HANDLERS).prop_map(|wishes| {
        let named = |(index, (plugin, priority, turn, guard, before, after))| Wish {
            name: format!("h{index}"),
            plugin,
            // What a plugin may not use is not asked for.
            priority: if plugin == Some(PLUGINS[2]) {
                i32::clamp(priority, MEEK.0, MEEK.1)
            } else {
                priority
            },
            turn,
            guard,
            before,
            after,
        };
        wishes.into_iter().enumerate().map(named).collect()
    })
}

/// The same with a priority of its own for each handler, and another order of
/// registration.
fn shuffled() -> impl Strategy<Value = (Vec<Wish>, Vec<Wish>)> {
    wishes().prop_flat_map(|mut wishes| {
        for (index, wish) in wishes.iter_mut().enumerate() {
            wish.priority = wish.priority * 10 + i32::try_from(index).unwrap();
            // Without limits: the numbers do not fit any.
            wish.plugin = wish.plugin.filter(|plugin| *plugin != PLUGINS[2]);
            if wish.plugin.is_some() {
                // Of those that name each other the older one is placed first.
                wish.before.clear();
                wish.after.clear();
            }
        }
        (Just(wishes.clone()), Just(wishes).prop_shuffle())
    })
}

/// What one fire starts, and what introspection and the report list.
fn walked(hooks: &HookRegistry, log: &Log) -> Vec<String> {
    log.take();
    let _ = block_on(hooks.fire_gating::<Post>(1)).unwrap();
    let walk = log.take();
    let known: Vec<_> = hooks.handlers_at::<Post>().iter().map(|h| h.name.to_string()).collect();
    assert_eq!(walk, known, "L05: what is listed is what is walked");
    let told: Vec<_> =
        hooks.explain_order::<Post>().iter().map(|r| r.handler.to_string()).collect();
    assert_eq!(walk, told, "L05: what is explained is what is walked");
    let (_, report) = block_on(hooks.fire_gating_reported::<Post>(1));
    let rows: Vec<_> = report.handlers().iter().map(|row| row.handler().to_owned()).collect();
    assert_eq!(walk, rows, "L05: what is reported is what is walked");
    walk
}

/// A real circle: each leads the next, and the last is the first again.
fn assert_circle(wishes: &[Wish], path: &[CycleStep]) {
    let all = placed(wishes, 0);
    let at = |step: &CycleStep| wishes.iter().position(|wish| wish.name == step.handler).unwrap();
    let leads = |first: usize, then: usize| {
        let asks = |asker: usize, names: &[String], target: usize| {
            names.iter().any(|name| naive_order::meant(&all, asker, name).contains(&target))
        };
        asks(first, &wishes[first].before, then)
            || asks(then, &wishes[then].after, first)
            || (!wishes[first].guard && wishes[then].guard)
    };
    assert!(path.len() > 2, "none follows itself: {path:?}");
    assert_eq!(path.first(), path.last());
    for pair in path.windows(2) {
        assert_eq!(pair[0].owner.plugin().map(|id| id.as_str()), wishes[at(&pair[0])].plugin);
        assert!(leads(at(&pair[0]), at(&pair[1])), "{} leads {}", pair[0], pair[1]);
    }
    let mut seen: Vec<_> = path[1..].iter().map(|step| &*step.handler).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), path.len() - 1, "none is passed twice: {path:?}");
}

fn registry() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.set_quota(PLUGINS[2], Quota::new().priorities(MEEK.0..=MEEK.1)).unwrap();
    hooks
}

/// The handlers whose constraints are dropped.
fn dropped(hooks: &HookRegistry) -> Vec<String> {
    let mut dropped: Vec<_> =
        hooks.audit().dropped.iter().map(|row| row.handler.to_string()).collect();
    dropped.sort();
    dropped.dedup();
    dropped
}

/// What came of it is what the law says.
fn assert_documented(
    hooks: &HookRegistry,
    log: &Log,
    wishes: &[Wish],
    new: usize,
    came: Result<(), RegisterError>,
) {
    match (came, documented(wishes, new)) {
        (Ok(()), Ok((order, dropped_by_law))) => {
            assert_eq!(walked(hooks, log), order);
            assert_eq!(dropped(hooks), dropped_by_law);
        }
        (Err(RegisterError::Cycle { point, path }), Err(Refused::Circle)) => {
            assert_eq!(point, "post");
            assert_circle(wishes, &path);
        }
        (Err(RegisterError::NoPlace { handler, .. }), Err(Refused::Handler(at, Why::NoPlace))) => {
            assert_eq!(handler, wishes[at].name)
        }
        (
            Err(RegisterError::Refused { handler, .. }),
            Err(Refused::Handler(at, Why::Range(..))),
        ) => assert_eq!(handler, wishes[at].name),
        (came, documented) => panic!("came {came:?}, documented {documented:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, max_global_rejects: 100_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn l04_any_set_has_the_documented_order_or_is_refused(wishes in wishes()) {
        let (hooks, log) = (registry(), Log::new());
        let came = hooks.register(wishes.iter().map(|wish| wish.registration(&log))).map(drop);
        let refused = came.is_err();
        assert_documented(&hooks, &log, &wishes, 0, came);
        if refused {
            prop_assert_eq!(walked(&hooks, &log), Vec::<String>::new());
        }
    }

    #[test]
    fn l04_the_same_one_by_one_and_what_is_refused_changes_nothing(wishes in wishes()) {
        let (hooks, log) = (registry(), Log::new());
        let mut accepted: Vec<Wish> = Vec::new();
        for wish in wishes {
            let came = hooks.register(wish.registration(&log)).map(drop);
            accepted.push(wish);
            let refused = came.is_err();
            assert_documented(&hooks, &log, &accepted, accepted.len() - 1, came);
            if refused {
                accepted.pop();
                // Seen from later on, what is left is as if nothing had been.
                let (order, _) = documented(&accepted, accepted.len()).unwrap();
                prop_assert_eq!(walked(&hooks, &log), order);
            }
        }
    }

    #[test]
    fn l04_a_plugin_never_changes_the_order_of_others(wishes in wishes(), plugin in 0..3_usize) {
        let plugin = PLUGINS[plugin];
        let log = Log::new();
        // Constraints of others that name the plugin are their own affair.
        let mut wishes = wishes;
        for wish in wishes.iter_mut().filter(|wish| wish.plugin != Some(plugin)) {
            for names in [&mut wish.before, &mut wish.after] {
                names.retain(|name| !name.starts_with(&format!("{plugin}/")));
            }
        }
        let (with, without) = (registry(), registry());
        let (theirs, others): (Vec<_>, Vec<_>) =
            wishes.into_iter().partition(|wish| wish.plugin == Some(plugin));
        for hooks in [&with, &without] {
            prop_assume!(hooks.register(others.iter().map(|it| it.registration(&log))).is_ok());
        }
        for wish in &theirs {
            let _ = with.register(wish.registration(&log));
        }
        let is_other = |name: &String| others.iter().any(|wish| wish.name == *name);
        let order: Vec<_> = walked(&with, &log).into_iter().filter(is_other).collect();
        prop_assert_eq!(order, walked(&without, &log));
        // Nor can it make a registration of the host fail.
        let late = || Wish {
            name: "late".into(),
            plugin: None,
            priority: 0,
            turn: None,
            guard: false,
            before: vec!["h0".into(), "east/h1".into()],
            after: vec!["h2".into(), "h3".into()],
        };
        let came = [&with, &without].map(|hooks| hooks.register(late().registration(&log)).is_ok());
        if came[1] && plugin != "east" {
            prop_assert!(came[0]);
        }
    }

    #[test]
    fn l04_where_priorities_differ_the_order_of_registration_does_not_matter(
        (wishes, shuffled) in shuffled(),
    ) {
        let (hooks, other, log) = (HookRegistry::new(), HookRegistry::new(), Log::new());
        let came = hooks.register(wishes.iter().map(|wish| wish.registration(&log)));
        let came_shuffled = other.register(shuffled.iter().map(|wish| wish.registration(&log)));
        prop_assert_eq!(came.is_ok(), came_shuffled.is_ok());
        prop_assert_eq!(walked(&hooks, &log), walked(&other, &log));
    }

    #[test]
    fn l04_whichever_leaves_the_rest_has_the_documented_order(
        wishes in wishes(),
        leaver in 0..HANDLERS,
        newcomer in -2..=2_i32,
        turn in prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))],
    ) {
        prop_assume!(documented(&wishes, 0).is_ok());
        let (hooks, log) = (registry(), Log::new());
        let handles = hooks.register(wishes.iter().map(|w| w.registration(&log))).unwrap();
        let leaver = leaver % wishes.len();
        prop_assert_eq!(handles[leaver].unregister().removed(), 1);
        let mut rest = wishes;
        rest.remove(leaver);
        assert_documented(&hooks, &log, &rest, rest.len(), Ok(()));
        // And one that comes then finds the place that the rule gives.
        let late = Wish {
            name: "late".into(),
            plugin: None,
            priority: newcomer,
            turn,
            guard: false,
            before: Vec::new(),
            after: Vec::new(),
        };
        hooks.register(late.registration(&log)).unwrap();
        rest.push(late);
        assert_documented(&hooks, &log, &rest, rest.len(), Ok(()));
    }

    #[test]
    fn l04_those_who_leave_one_by_one_leave_the_documented_order(
        wishes in wishes(),
        leavers in subsequence((0..HANDLERS).collect::<Vec<_>>(), 1..=4).prop_shuffle(),
    ) {
        prop_assume!(documented(&wishes, 0).is_ok());
        let (hooks, log) = (registry(), Log::new());
        let handles = hooks.register(wishes.iter().map(|w| w.registration(&log))).unwrap();
        let mut left: Vec<_> = (0..wishes.len()).collect();
        for leaver in leavers {
            if leaver < wishes.len() {
                prop_assert_eq!(handles[leaver].unregister().removed(), 1);
                left.retain(|at| *at != leaver);
                let rest: Vec<_> = left.iter().map(|&at| wishes[at].clone()).collect();
                assert_documented(&hooks, &log, &rest, rest.len(), Ok(()));
            }
        }
    }
}
