//! The order of handlers is the documented one whatever is registered (L04),
//! and a fire walks what introspection lists (L05).

mod support;

use std::collections::HashMap;

use futures::executor::block_on;
use hooks_runtime::{HookRegistry, RegisterError, Registration, Verdict, hook_points, on};
use proptest::prelude::*;
use proptest::sample::subsequence;
use support::Log;

hook_points! {
    /// A letter on its way.
    pub gating Post(u32);
}

/// Handlers are called `h0` to `h5`; each belongs to one of the plugins, or to
/// nobody.
const HANDLERS: usize = 6;
const PLUGINS: [&str; 2] = ["east", "west"];

/// What a test registers.
#[derive(Clone, Debug)]
struct Wish {
    name: String,
    plugin: Option<&'static str>,
    priority: i32,
    guard: bool,
    before: Vec<String>,
    after: Vec<String>,
}

impl Wish {
    fn goes_by(&self, name: &str) -> bool {
        self.name == name || self.plugin == Some(name)
    }

    /// Whether this one says, or is told, to run before `other`. Guards follow
    /// every rewriter, unasked.
    fn leads(&self, other: &Self) -> bool {
        self.name != other.name
            && (self.before.iter().any(|name| other.goes_by(name))
                || other.after.iter().any(|name| self.goes_by(name))
                || (!self.guard && other.guard))
    }

    fn registration(&self, log: &Log) -> Registration {
        let mut place = on::<Post>().name(&*self.name).priority(self.priority);
        if let Some(plugin) = self.plugin {
            place = place.plugin(plugin);
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

/// The documented rule, word for word: a handler waits for those it must
/// follow; of those free the smallest of phase, priority and registration
/// comes next. `None` when nobody is free: the wishes are circular.
fn documented(wishes: &[Wish]) -> Option<Vec<String>> {
    let mut left: Vec<(usize, &Wish)> = wishes.iter().enumerate().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let free = |wish: &Wish| !left.iter().any(|(_, other)| other.leads(wish));
        let (next, wish) = left
            .iter()
            .filter(|(_, wish)| free(wish))
            .min_by_key(|(registered, wish)| (wish.guard, wish.priority, *registered))
            .copied()?;
        order.push(wish.name.clone());
        left.retain(|(registered, _)| *registered != next);
    }
    Some(order)
}

/// The names that a constraint may use: of handlers, of plugins, of nobody.
fn names() -> impl Strategy<Value = Vec<String>> {
    let handlers = (0..HANDLERS).map(|index| format!("h{index}"));
    let others = PLUGINS.iter().copied().chain(["nobody"]).map(str::to_owned);
    // Few each, or nearly every set would be circular.
    prop_oneof![
        3 => Just(Vec::new()),
        1 => subsequence(handlers.chain(others).collect::<Vec<_>>(), 1..=2),
    ]
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let plugin = prop_oneof![2 => Just(None), 1 => Just(Some("east")), 1 => Just(Some("west"))];
    let wish = (plugin, -2..=2_i32, proptest::bool::weighted(0.2), names(), names());
    proptest::collection::vec(wish, 1..=HANDLERS).prop_map(|wishes| {
        let named = |(index, (plugin, priority, guard, before, after))| Wish {
            name: format!("h{index}"),
            plugin,
            priority,
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
fn assert_circle(wishes: &[Wish], path: &[String]) {
    let by_name: HashMap<_, _> = wishes.iter().map(|wish| (&*wish.name, wish)).collect();
    assert!(path.len() > 2, "nobody follows himself: {path:?}");
    assert_eq!(path.first(), path.last());
    for pair in path.windows(2) {
        assert!(by_name[&*pair[0]].leads(by_name[&*pair[1]]), "{} leads {}", pair[0], pair[1]);
    }
    let mut seen = path[1..].to_vec();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), path.len() - 1, "nobody is passed twice: {path:?}");
}

/// Registers all at once, or one by one.
fn register(
    hooks: &HookRegistry,
    log: &Log,
    wishes: &[Wish],
    at_once: bool,
) -> Result<(), RegisterError> {
    let mut all = wishes.iter().map(|wish| wish.registration(log));
    if at_once {
        hooks.register(all).map(drop)
    } else {
        all.try_for_each(|one| hooks.register(one).map(drop))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn l04_any_set_has_the_documented_order_or_a_circle(wishes in wishes(), at_once: bool) {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        match (register(&hooks, &log, &wishes, at_once), documented(&wishes)) {
            (Ok(()), Some(order)) => prop_assert_eq!(walked(&hooks, &log), order),
            (Err(RegisterError::Cycle { point, path }), None) => {
                prop_assert_eq!(point, "post");
                assert_circle(&wishes, &path);
                if at_once {
                    prop_assert_eq!(walked(&hooks, &log), Vec::<String>::new());
                }
            }
            (came, documented) => {
                prop_assert!(false, "came {came:?}, documented {documented:?}");
            }
        }
    }

    #[test]
    fn l04_where_priorities_differ_the_order_of_registration_does_not_matter(
        (wishes, shuffled) in shuffled(),
    ) {
        let (hooks, other, log) = (HookRegistry::new(), HookRegistry::new(), Log::new());
        let came = register(&hooks, &log, &wishes, true);
        let came_shuffled = register(&other, &log, &shuffled, true);
        prop_assert_eq!(came.is_ok(), came_shuffled.is_ok());
        prop_assert_eq!(walked(&hooks, &log), walked(&other, &log));
    }

    #[test]
    fn l04_whoever_leaves_the_rest_has_the_documented_order(
        wishes in wishes(),
        leaver in 0..HANDLERS,
        newcomer in -2..=2_i32,
    ) {
        prop_assume!(documented(&wishes).is_some());
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let handles = hooks.register(wishes.iter().map(|w| w.registration(&log))).unwrap();
        let leaver = leaver % wishes.len();
        prop_assert!(handles[leaver].unregister());
        let mut rest = wishes;
        rest.remove(leaver);
        prop_assert_eq!(walked(&hooks, &log), documented(&rest).unwrap());
        // And whoever comes then finds the place that the rule gives.
        let late = Wish {
            name: "late".into(),
            plugin: None,
            priority: newcomer,
            guard: false,
            before: Vec::new(),
            after: Vec::new(),
        };
        hooks.register(late.registration(&log)).unwrap();
        rest.push(late);
        prop_assert_eq!(walked(&hooks, &log), documented(&rest).unwrap());
    }
}
