//! The one order of handlers (L04), that a fire walks it (L05), and that
//! results do not depend on who finishes first (L06).

mod support;

use std::sync::{Arc, Mutex};

use hooks_runtime::handler::On;
use hooks_runtime::{
    FailurePolicy, Gate, HookPoint, HookRegistry, RegisterError, Verdict, hook_points, on,
};
use support::{Log, poll_once};
use tokio::sync::oneshot;

hook_points! {
    /// Something passes by.
    pub void Tick { n: u32 }
    /// Which pigment.
    pub modifying Mix { n: u32 } -> { pigment: &'static str }
    /// Who takes it.
    pub claiming Take { n: u32 } -> &'static str;
    /// A crate on its way.
    pub gating Ship(String);
}

fn tick() -> TickPayload {
    TickPayload { n: 1 }
}

/// Registers a named handler with the options that `with` adds.
fn add(
    hooks: &HookRegistry,
    log: &Log,
    name: &'static str,
    with: impl FnOnce(On<Tick>) -> On<Tick>,
) {
    hooks.register(with(on::<Tick>().name(name)).handler(log.note(name))).unwrap();
}

/// The order in which a fire starts the handlers, in which its report lists
/// them and in which introspection does: one and the same.
async fn walked(hooks: &HookRegistry, log: &Log) -> Vec<String> {
    log.take();
    let (outcome, report) = hooks.fire_void_reported::<Tick>(&tick()).await;
    outcome.unwrap();
    let started = log.take();
    let listed: Vec<_> = report.handlers().iter().map(|row| row.handler().to_owned()).collect();
    assert_eq!(started, listed, "L05: the report lists the walk");
    let known: Vec<_> = hooks.handlers_at::<Tick>().iter().map(|h| h.name.to_string()).collect();
    assert_eq!(started, known, "L05: what is known is what is walked");
    started
}

#[tokio::test]
async fn l04_the_lower_number_comes_first_then_registration_order() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "brass", |on| on.priority(200));
    add(&hooks, &log, "chalk", |on| on);
    add(&hooks, &log, "amber", |on| on.priority(10));
    add(&hooks, &log, "cedar", |on| on.priority(0));
    add(&hooks, &log, "agate", |on| on.priority(-10));
    add(&hooks, &log, "flint", |on| on.priority(i32::MAX));
    add(&hooks, &log, "birch", |on| on.priority(10));
    add(&hooks, &log, "ivory", |on| on.priority(i32::MIN));
    let order = ["ivory", "agate", "chalk", "cedar", "amber", "birch", "brass", "flint"];
    assert_eq!(walked(&hooks, &log).await, order);
}

#[tokio::test]
async fn l04_a_group_is_ordered_as_if_it_came_one_by_one() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "old", |on| on);
    hooks
        .register([
            on::<Tick>().name("late").priority(5).handler(log.note("late")),
            on::<Tick>().name("new").handler(log.note("new")),
            on::<Tick>().name("early").priority(-5).handler(log.note("early")),
        ])
        .unwrap();
    assert_eq!(walked(&hooks, &log).await, ["early", "old", "new", "late"]);
}

#[tokio::test]
async fn l04_the_order_holds_across_the_pieces_of_a_long_list() {
    // Long enough for a list in pieces, inserted in an order that splits them.
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let mut expected = Vec::new();
    for step in 0..300_i32 {
        let priority = (step * 37) % 300;
        let name = format!("h{priority:03}");
        let (log, noted) = (log.clone(), name.clone());
        hooks
            .register(
                on::<Tick>()
                    .name(name.clone())
                    .priority(priority)
                    .handler(move |_: &TickPayload| log.push(&*noted)),
            )
            .unwrap();
        expected.push(name);
    }
    expected.sort();
    assert_eq!(walked(&hooks, &log).await, expected);
}

#[tokio::test]
async fn l04_before_and_after_refine_the_order() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "glaze", |on| on.priority(-10).after("paint"));
    add(&hooks, &log, "wash", |on| on);
    add(&hooks, &log, "paint", |on| on.priority(10));
    add(&hooks, &log, "sand", |on| on.priority(100).before("wash"));
    // Only the handlers that must wait move: glaze for paint, wash for sand.
    assert_eq!(walked(&hooks, &log).await, ["paint", "glaze", "sand", "wash"]);
}

#[tokio::test]
async fn l04_a_plugin_and_a_star_stand_for_all_its_handlers() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "last", |on| on.priority(-50).after("kiln/*"));
    add(&hooks, &log, "fire", |on| on.plugin("kiln"));
    add(&hooks, &log, "cool", |on| on.plugin("kiln").priority(7));
    add(&hooks, &log, "first", |on| on.priority(50).before("kiln/*"));
    assert_eq!(walked(&hooks, &log).await, ["first", "fire", "cool", "last"]);
}

#[tokio::test]
async fn l04_a_constraint_holds_for_those_who_come_later_and_ends_with_its_handler() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let asking = on::<Tick>().name("lid").priority(-1).after("pot").handler(log.note("lid"));
    let lid = hooks.register(asking).unwrap();
    add(&hooks, &log, "cup", |on| on);
    assert_eq!(walked(&hooks, &log).await, ["lid", "cup"], "no handler to wait for");
    add(&hooks, &log, "pot", |on| on.priority(9));
    assert_eq!(walked(&hooks, &log).await, ["cup", "pot", "lid"]);
    assert_eq!(lid.unregister().removed(), 1);
    assert_eq!(walked(&hooks, &log).await, ["cup", "pot"]);
}

#[tokio::test]
async fn l04_removing_the_one_who_was_waited_for_restores_the_order() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "lid", |on| on.priority(-1).after("pot"));
    add(&hooks, &log, "cup", |on| on);
    let pot =
        hooks.register(on::<Tick>().name("pot").priority(9).handler(log.note("pot"))).unwrap();
    assert_eq!(walked(&hooks, &log).await, ["cup", "pot", "lid"]);
    pot.unregister();
    // The rule is one everywhere: what was registered, not when, makes the order.
    assert_eq!(walked(&hooks, &log).await, ["lid", "cup"]);
}

#[tokio::test]
async fn l04_the_same_after_a_whole_plugin_left() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "lid", |on| on.priority(-1).after("stove/pot"));
    add(&hooks, &log, "cup", |on| on);
    add(&hooks, &log, "pot", |on| on.plugin("stove").priority(9));
    assert_eq!(walked(&hooks, &log).await, ["cup", "pot", "lid"]);
    hooks.unregister_plugin("stove");
    assert_eq!(walked(&hooks, &log).await, ["lid", "cup"]);
}

#[track_caller]
fn circular<P: HookPoint>(result: Result<impl Sized, RegisterError>, path: &[&str]) {
    let Err(error) = result else { panic!("a circle was accepted") };
    let name = P::NAME;
    let text = error.to_string();
    let RegisterError::Cycle { point, path: steps } = error else { panic!("{text}") };
    assert_eq!(point, name);
    let names: Vec<_> = steps.iter().map(|step| &*step.handler).collect();
    assert_eq!(names, path);
    let steps: Vec<_> = steps
        .iter()
        .map(|step| format!("`{}` ({}, {})", step.handler, step.owner, step.location))
        .collect();
    let circle = steps.join(" > ");
    let why = if name == Ship::NAME { "; guards run after all rewriters" } else { "" };
    assert_eq!(
        text,
        format!(
            "the order of the handlers at `{name}` is circular: {circle}{why}; \
                              leave out one `before` or `after` of them"
        )
    );
}

#[tokio::test]
async fn l04_a_circle_is_an_error_that_shows_it_and_changes_nothing() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "stem", |on| on);
    add(&hooks, &log, "root", |on| on.before("leaf"));
    add(&hooks, &log, "twig", |on| on.before("root"));
    let closing = on::<Tick>().name("leaf").before("twig").handler(log.note("leaf"));
    circular::<Tick>(hooks.register(closing), &["root", "leaf", "twig", "root"]);
    assert_eq!(walked(&hooks, &log).await, ["stem", "twig", "root"]);
    // What was refused left no name behind.
    add(&hooks, &log, "leaf", |on| on.priority(-5));
    assert_eq!(walked(&hooks, &log).await, ["stem", "twig", "root", "leaf"]);
}

#[test]
fn l04_a_circle_of_two_inside_a_group() {
    let hooks = HookRegistry::new();
    let group = [
        on::<Tick>().name("hen").before("egg").handler(|_: &TickPayload| ()),
        on::<Tick>().name("egg").before("hen").handler(|_: &TickPayload| ()),
        on::<Tick>().name("nest").after("egg").handler(|_: &TickPayload| ()),
    ];
    circular::<Tick>(hooks.register(group), &["hen", "egg", "hen"]);
    assert!(!hooks.has_handlers::<Tick>());
}

#[test]
fn l04_a_guard_cannot_be_put_before_a_rewriter() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Ship>().name("label").handler(|_: &String| Verdict::<String>::Pass))
        .unwrap();
    let guard = on::<Ship>().name("weigh").before("label").guard(|_: &String| Verdict::Pass);
    circular::<Ship>(hooks.register(guard), &["label", "weigh", "label"]);
}

#[tokio::test]
async fn l04_guards_follow_all_rewriters_whatever_their_numbers() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    for (name, priority) in [("weigh", -100), ("seal", -200)] {
        let log = log.clone();
        hooks
            .register(on::<Ship>().name(name).priority(priority).guard(move |crate_: &String| {
                log.push(format!("{name} {crate_}"));
                Verdict::Pass
            }))
            .unwrap();
    }
    for (name, priority) in [("label", 10), ("stamp", 200)] {
        hooks
            .register(
                on::<Ship>()
                    .name(name)
                    .priority(priority)
                    .handler(move |crate_: &String| Verdict::Replace(format!("{crate_}-{name}"))),
            )
            .unwrap();
    }
    let gate = hooks.fire_gating::<Ship>("crate".into()).await.unwrap();
    assert_eq!(gate, Gate::Passed("crate-label-stamp".into()));
    assert_eq!(log.take(), ["seal crate-label-stamp", "weigh crate-label-stamp"]);
}

fn replacement(log: &Log, name: &'static str, noted: &'static str) -> hooks_runtime::Registration {
    on::<Tick>().name(name).replace().handler(log.note(noted))
}

#[tokio::test]
async fn l18_replace_keeps_the_place_among_equals() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    for name in ["oak", "elm", "ash"] {
        add(&hooks, &log, name, |on| on);
    }
    hooks.register(replacement(&log, "elm", "elm again")).unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    assert_eq!(log.take(), ["oak", "elm again", "ash"]);
    // Replacing no handler is registering.
    hooks.register(replacement(&log, "fir", "fir")).unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    assert_eq!(log.take(), ["oak", "elm again", "ash", "fir"]);
}

#[tokio::test]
async fn l18_replace_keeps_a_place_that_a_priority_made() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "oak", |on| on);
    add(&hooks, &log, "elm", |on| on.priority(-10));
    add(&hooks, &log, "ash", |on| on);
    hooks.register(replacement(&log, "elm", "elm again")).unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    assert_eq!(log.take(), ["elm again", "oak", "ash"]);
}

#[tokio::test]
async fn l18_replace_keeps_a_place_that_a_constraint_made() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "elm", |on| on.after("ash"));
    add(&hooks, &log, "oak", |on| on);
    add(&hooks, &log, "ash", |on| on);
    assert_eq!(walked(&hooks, &log).await, ["oak", "ash", "elm"]);
    hooks.register(replacement(&log, "elm", "elm again")).unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    assert_eq!(log.take(), ["oak", "ash", "elm again"]);
}

#[tokio::test]
async fn l18_a_replacement_that_asks_for_a_place_gets_it() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "elm", |on| on.after("ash"));
    add(&hooks, &log, "oak", |on| on);
    add(&hooks, &log, "ash", |on| on);
    let again = on::<Tick>().name("elm").replace().before("oak").handler(log.note("elm again"));
    hooks.register(again).unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    // As if it were new: it comes behind `ash`, and `oak` waits for it.
    assert_eq!(log.take(), ["ash", "elm again", "oak"]);
}

#[tokio::test]
async fn l18_a_replacement_with_another_priority_is_ordered_as_if_it_were_new() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    for (name, priority) in [("oak", 1), ("elm", 2), ("ash", 2)] {
        add(&hooks, &log, name, |on| on.priority(priority));
    }
    add(&hooks, &log, "oak", |on| on.priority(2).replace());
    assert_eq!(walked(&hooks, &log).await, ["elm", "ash", "oak"]);
    let reasons = hooks.explain_order::<Tick>();
    let reasons: Vec<_> =
        reasons.iter().map(|it| format!("{}: {}", it.handler, it.reason)).collect();
    assert_eq!(
        reasons,
        [
            "elm: priority 2; registered as number 1 of that priority",
            "ash: priority 2; registered as number 2 of that priority",
            "oak: priority 2; registered as number 3 of that priority",
        ]
    );
    // One that asks for the priority that is there keeps its place.
    add(&hooks, &log, "elm", |on| on.priority(2).replace());
    assert_eq!(walked(&hooks, &log).await, ["elm", "ash", "oak"]);
}

#[tokio::test]
async fn l18_replace_touches_only_the_same_owner() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    add(&hooks, &log, "elm", |on| on);
    hooks
        .register(on::<Tick>().name("elm").plugin("grove").replace().handler(log.note("grove elm")))
        .unwrap();
    hooks.fire_void::<Tick>(&tick()).await.unwrap();
    assert_eq!(log.take(), ["elm", "grove elm"]);
}

type Gated = Mutex<Option<oneshot::Receiver<()>>>;

#[tokio::test]
async fn l06_the_error_of_a_void_fire_is_the_first_in_order_not_in_time() {
    let hooks = HookRegistry::new();
    let (finish, wait) = oneshot::channel();
    hooks
        .register([
            on::<Tick>().name("slow").on_failure(FailurePolicy::Closed).handler_with(
                Mutex::new(Some(wait)),
                async |wait: &Gated, _: &TickPayload| {
                    let wait = wait.lock().unwrap().take().unwrap();
                    wait.await.unwrap();
                    Err::<(), _>("late")
                },
            ),
            on::<Tick>()
                .name("quick")
                .on_failure(FailurePolicy::Closed)
                .handler(|_: &TickPayload| Err::<(), _>("early")),
        ])
        .unwrap();
    let payload = tick();
    let mut fire = Box::pin(hooks.fire_void::<Tick>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending(), "quick has failed, slow has not");
    finish.send(()).unwrap();
    assert_eq!(fire.await.unwrap_err().to_string(), "handler `slow` (built-in) at `tick`: late");
}

#[tokio::test]
async fn l06_sequential_results_do_not_depend_on_speed() {
    let hooks = HookRegistry::new();
    let yields = Arc::new(5_u32);
    hooks
        .register_modifying_with::<Mix, _>(yields, async |yields: &Arc<u32>, _: &MixPayload| {
            for _ in 0..**yields {
                tokio::task::yield_now().await;
            }
            MixResult { pigment: Some("ochre") }
        })
        .unwrap();
    hooks
        .register(on::<Mix>().handler(|_: &MixPayload| MixResult { pigment: Some("umber") }))
        .unwrap();
    hooks
        .register_claiming::<Take>(async |_: &TakePayload| {
            tokio::task::yield_now().await;
            Some("slow")
        })
        .unwrap();
    hooks.register(on::<Take>().handler(|_: &TakePayload| Some("quick"))).unwrap();
    let mixed = hooks.fire_modifying::<Mix>(&MixPayload { n: 1 }).await.unwrap();
    assert_eq!(mixed.pigment, Some("ochre"));
    let taken = hooks.fire_claiming::<Take>(&TakePayload { n: 1 }).await.unwrap();
    assert_eq!(taken.claimed(), Some("slow"));
}
