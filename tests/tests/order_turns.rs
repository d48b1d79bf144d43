//! Turns among handlers of equal priority, and changes in which handlers go and others come at
//! one instant: for handlers that are registered for somebody who comes and goes.

use std::sync::{Arc, Mutex, OnceLock};

use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::{HookRegistry, Judgement, Registration, Verdict, hook_points, on};

hook_points! {
    /// Before a page is printed.
    pub gating Printing { text: String }
    /// A page was printed.
    pub void Printed { page: u32 }
}

fn names(hooks: &HookRegistry) -> Vec<String> {
    hooks.handlers_at::<Printing>().iter().map(|it| it.name.to_string()).collect()
}

fn pass(_: &PrintingPayload) -> Verdict<PrintingPayload> {
    Verdict::Pass
}

fn turned(name: &'static str, turn: &'static str) -> Registration {
    on::<Printing>().name(name).turn(turn).handler(pass)
}

fn plain(name: &'static str) -> Registration {
    on::<Printing>().name(name).handler(pass)
}

/// L05: the number first, then those without a turn as they came, then those with one by it.
#[test]
fn l05_turns_decide_behind_the_priority_whatever_was_registered_first() {
    let hooks = HookRegistry::new();
    hooks.register(turned("c", "3")).unwrap();
    hooks.register(plain("old")).unwrap();
    hooks.register([turned("a", "1"), turned("b", "2")]).unwrap();
    hooks.register(on::<Printing>().name("late").priority(1).turn("0").handler(pass)).unwrap();
    hooks.register(on::<Printing>().name("early").priority(-1).turn("9").handler(pass)).unwrap();
    hooks.register(plain("new")).unwrap();
    let guard = |_: &PrintingPayload| Judgement::Pass;
    hooks.register(on::<Printing>().name("guard").turn("0").guard(guard)).unwrap();
    assert_eq!(names(&hooks), ["early", "old", "new", "a", "b", "c", "late", "guard"]);
    let reasons = hooks.explain_order::<Printing>();
    assert_eq!(reasons[2].reason, "priority 0; registered as number 2 of that priority");
    assert_eq!(reasons[3].reason, "priority 0; its turn is `1`");
}

/// L05: a replacement keeps its turn, unless it asks for another; equal turns are as they came.
#[test]
fn l05_a_replacement_keeps_its_turn_unless_it_asks_for_another() {
    let hooks = HookRegistry::new();
    hooks.register([turned("a", "1"), turned("b", "2"), turned("c", "2")]).unwrap();
    assert_eq!(names(&hooks), ["a", "b", "c"]);
    hooks.register(on::<Printing>().name("a").replace().handler(pass)).unwrap();
    hooks.register(on::<Printing>().name("b").replace().turn("2").handler(pass)).unwrap();
    assert_eq!(names(&hooks), ["a", "b", "c"]);
    hooks.register(on::<Printing>().name("a").replace().turn("2").handler(pass)).unwrap();
    assert_eq!(names(&hooks), ["b", "c", "a"]);
    hooks.unregister_handler("b");
    hooks.unregister_handler("c");
    assert_eq!(names(&hooks), ["a"]);
}

/// L05: constraints come first, as they do before when a handler was registered.
#[test]
fn l05_constraints_hold_for_handlers_with_turns() {
    let hooks = HookRegistry::new();
    hooks.register(turned("b", "2")).unwrap();
    hooks.register(on::<Printing>().name("a").turn("1").after("b").handler(pass)).unwrap();
    hooks.register(turned("c", "3")).unwrap();
    let first = on::<Printing>().name("first").plugin("late").turn("9").before("b");
    hooks.register(first.handler(pass)).unwrap();
    assert_eq!(names(&hooks), ["first", "b", "a", "c"]);
}

/// The list of the point, whenever an observer is told of a change.
#[derive(Clone, Debug, Default)]
struct Lists(Arc<OnceLock<HookRegistry>>, Arc<Mutex<Vec<String>>>);

impl Lists {
    fn look(&self) {
        let Some(hooks) = self.0.get() else { return };
        self.1.lock().unwrap().push(names(hooks).join(" "));
    }
}

impl Observer for Lists {
    fn registered(&self, _: &ObservedHandler<'_>) {
        self.look();
    }

    fn removed(&self, _: &ObservedHandler<'_>) {
        self.look();
    }
}

/// L17: what goes and what comes do so at one instant.
#[tokio::test]
async fn l17_an_exchange_is_one_change() {
    let lists = Lists::default();
    let hooks = HookRegistry::builder().observer(lists.clone()).build();
    lists.0.set(hooks.clone()).unwrap();
    let old = hooks.register([turned("a", "1"), turned("b", "2")]).unwrap();
    lists.1.lock().unwrap().clear();
    let replaced = on::<Printing>().name("b").turn("0").replace().handler(pass);
    let (handles, removal) =
        hooks.exchange([old[0].clone()], [turned("c", "1"), replaced]).unwrap();
    assert_eq!((handles.len(), removal.removed()), (2, 1));
    assert_eq!(names(&hooks), ["b", "c"]);
    // Two that came, one that was replaced, one that went.
    assert_eq!(*lists.1.lock().unwrap(), ["b c"; 4]);
    assert!(removal.await.into_result().is_ok());
    // What has gone already is nothing to remove, and neither is what is replaced.
    let (_, removal) = hooks.exchange(old, [turned("d", "4")]).unwrap();
    assert_eq!((removal.removed(), names(&hooks)), (0, vec!["b".into(), "c".into(), "d".into()]));
    let replaced = on::<Printing>().name("c").replace().handler(pass);
    let (_, removal) = hooks.exchange([handles[0].clone()], replaced).unwrap();
    assert_eq!((removal.removed(), names(&hooks)), (0, vec!["b".into(), "c".into(), "d".into()]));
}

/// L18: a group that is refused removes nothing.
#[test]
fn l18_an_exchange_that_is_refused_changes_nothing() {
    let hooks = HookRegistry::new();
    let old = hooks.register([turned("a", "1"), turned("b", "2")]).unwrap();
    let error = hooks.exchange([old[0].clone()], [plain("new"), plain("b")]).unwrap_err();
    assert!(error.to_string().contains("`b`"), "{error}");
    assert_eq!(names(&hooks), ["a", "b"]);
    // A handle of another registry removes nothing either.
    let (_, removal) = HookRegistry::new().exchange(old, plain("own")).unwrap();
    assert_eq!((removal.removed(), names(&hooks).len()), (0, 2));
}

/// L19: a plugin whose last handler goes has left; where another of it comes, it has not.
#[test]
fn l19_a_plugin_leaves_with_its_last_handler() {
    let hooks = HookRegistry::new();
    let of = |name: &'static str| on::<Printing>().name(name).plugin("audit").handler(pass);
    let old = hooks.register(of("a")).unwrap();
    let (new, _) = hooks.exchange(old, of("b")).unwrap();
    assert!(hooks.is_installed("audit"));
    let other = on::<Printed>().name("c").handler(|_: &PrintedPayload| ());
    let (_, removal) = hooks.exchange(new, other).unwrap();
    assert_eq!(removal.removed(), 1);
    assert!(!hooks.is_installed("audit") && !hooks.has_handlers::<Printing>());
}
