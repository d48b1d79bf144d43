//! Plugins and handles: who may be called what (L16), how a handler leaves
//! (L17), names and groups (L18), and how a plugin is removed (L19).

mod support;

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::plugin::{DrainError, DrainOutcome};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{
    Claim, HookContext, HookRegistry, PluginId, RegisterError, Registration, hook_handlers,
    hook_points, on,
};
use support::{Log, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// A bell rings.
    pub void Ring { n: u32 }
    /// A door opens.
    pub void Open { n: u32 }
    /// Who answers.
    pub claiming Answer { n: u32 } -> &'static str;
}

const RING: RingPayload = RingPayload { n: 1 };
const OPEN: OpenPayload = OpenPayload { n: 1 };
const ANSWER: AnswerPayload = AnswerPayload { n: 1 };

/// Lets a handler wait until it may go on.
#[derive(Default)]
struct Stall(Notify);

async fn stalls(stall: &Arc<Stall>, _: &RingPayload) {
    stall.0.notified().await;
}

fn stalled(stall: &Arc<Stall>, plugin: &str, name: &str) -> Registration {
    on::<Ring>().plugin(plugin).name(name).handler_with(Arc::clone(stall), stalls)
}

#[track_caller]
fn refused(result: Result<impl std::fmt::Debug, RegisterError>, text: &str) {
    assert_eq!(result.unwrap_err().to_string(), text);
}

#[test]
fn l16_a_plugin_id_is_short_and_plain() {
    let long = "x".repeat(65);
    let only = "it has a character that is not allowed";
    let ends = "it starts or ends with a separator";
    let reserved = "it reads like `built-in`, which is reserved for the host";
    let shown_long = format!("{}…", "x".repeat(40));
    for (id, shown, problem) in [
        ("", "", "it is empty"),
        (&*long, &*shown_long, "it is longer than 64 bytes"),
        ("a b", "a b", only),
        ("a\0b", "a\\u{0}b", only),
        ("a\nb", "a\\nb", only),
        ("abc\u{202e}", "abc\\u{202e}", only),
        ("\u{430}udit", "\\u{430}udit", only),
        ("../etc", "../etc", only),
        ("..", "..", ends),
        ("-audit", "-audit", ends),
        ("audit.", "audit.", ends),
        ("a..b", "a..b", "it contains `..`"),
        ("built-in", "built-in", reserved),
        ("8U1lt_iN", "8U1lt_iN", reserved),
    ] {
        let text = format!(
            "`{shown}` cannot be a plugin id: {problem}; an id is 1 to 64 ASCII \
                            letters, digits, `-`, `_` or `.`, and starts and ends with a letter \
                            or digit"
        );
        assert_eq!(PluginId::new(id).unwrap_err().to_string(), text);
        let hooks = HookRegistry::new();
        let asked = on::<Ring>().plugin(id).handler(|_: &RingPayload| ());
        refused(hooks.register(asked), &text);
        assert!(!hooks.has_handlers::<Ring>());
    }
    for id in ["a", "audit", "x.y-z_0", &"x".repeat(64)] {
        assert_eq!(PluginId::new(id).unwrap().as_str(), id);
    }
}

#[test]
fn l16_a_handlers_name_is_safe_to_print() {
    let long = "x".repeat(201);
    let shown_long = format!("{}…", "x".repeat(40));
    for (name, shown, problem) in [
        ("", "", "it is empty"),
        (" bell", " bell", "it starts or ends with white space"),
        ("be\u{7}ll", "be\\u{7}ll", "it has control or invisible characters"),
        ("be\u{202e}ll", "be\\u{202e}ll", "it has control or invisible characters"),
        (&*long, &*shown_long, "it is longer than 200 bytes"),
    ] {
        let asked = on::<Ring>().name(name).handler(|_: &RingPayload| ());
        let text = format!(
            "`{shown}` cannot be a handler's name: {problem}; a name is 1 to 200 \
                            bytes of printable text without `/`"
        );
        refused(HookRegistry::new().register(asked), &text);
    }
}

#[test]
fn l16_a_registrar_is_bound_to_its_plugin() {
    let hooks = HookRegistry::new();
    assert!(hooks.registrar("built-in").is_err());
    let tower = hooks.registrar("tower").unwrap();
    let gate = hooks.registrar("gate").unwrap();
    let bell = || on::<Ring>().name("bell").handler(|_: &RingPayload| ());
    tower.register(bell()).unwrap();
    gate.register(bell()).unwrap();
    let owners: Vec<_> =
        hooks.handlers_at::<Ring>().iter().map(|handler| handler.owner.to_string()).collect();
    assert_eq!(owners, ["plugin `tower`", "plugin `gate`"], "unnamed is not built-in");
    let theirs = on::<Ring>().name("theirs").plugin("gate").handler(|_: &RingPayload| ());
    let own = on::<Ring>().name("own").plugin("tower").handler(|_: &RingPayload| ());
    refused(
        tower.register([own, theirs]),
        "`theirs` names plugin `gate`, but this registrar is bound to plugin `tower`; leave the \
         name out",
    );
    assert_eq!(hooks.handlers().len(), 2, "nothing of the group");
    assert_eq!(tower.unregister().removed(), 1);
    assert_eq!(hooks.handlers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn l17_dropping_a_handle_keeps_the_handler_and_a_scoped_one_removes_it() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let handles = hooks.register(on::<Ring>().name("kept").handler(log.note("kept"))).unwrap();
    assert_eq!(handles[0].name().as_deref(), Some("kept"));
    drop(handles);
    let scoped = {
        let handles = hooks.register(on::<Ring>().handler(log.note("scoped"))).unwrap();
        handles.into_iter().next().unwrap().scoped()
    };
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    assert_eq!(log.take(), ["kept", "scoped"]);
    drop(scoped);
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    assert_eq!(log.take(), ["kept"]);
}

#[tokio::test(start_paused = true)]
async fn l17_a_stale_handle_removes_no_other_handler() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let bell = || on::<Ring>().name("bell").handler(log.note("bell"));
    let old = hooks.register(bell()).unwrap();
    assert_eq!(old.unregister().removed(), 1);
    assert_eq!(old[0].name(), None, "nothing holds the handler any more");
    let new = hooks.register(bell()).unwrap();
    assert_eq!(old.unregister().removed(), 0);
    // A replaced handler's handle does not reach its successor either.
    hooks.register(on::<Ring>().name("bell").replace().handler(log.note("gong"))).unwrap();
    assert_eq!(new.unregister().removed(), 0);
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    assert_eq!(log.take(), ["gong"]);
    // Nor does one that outlives its registry.
    drop(hooks);
    assert_eq!((old.unregister().removed(), new.unregister().removed()), (0, 0));
}

#[test]
fn l18_an_owner_has_a_name_once_at_a_point() {
    let hooks = HookRegistry::new();
    let bell = || on::<Ring>().name("bell").handler(|_: &RingPayload| ());
    let owned = || on::<Ring>().name("bell").plugin("tower").handler(|_: &RingPayload| ());
    hooks.register(bell()).unwrap();
    hooks.register(owned()).unwrap();
    hooks.register(on::<Open>().name("bell").handler(|_: &OpenPayload| ())).unwrap();
    let [first, theirs] = [0, 1].map(|at| hooks.handlers_at::<Ring>()[at].location);
    let again = on::<Ring>().name("bell").handler(|_: &RingPayload| ());
    let second = format!("{}:{}:17", file!(), line!() - 1);
    refused(
        hooks.register(again),
        &format!(
            "`bell` (built-in) is registered at `ring` already: give it another name, or say \
             `replace`; the first is at {first}, the second at {second}"
        ),
    );
    refused(
        hooks.register(owned()),
        &format!(
            "`bell` (plugin `tower`) is registered at `ring` already: give it another name, or say \
             `replace`; the first is at {theirs}, the second at {theirs}"
        ),
    );
    // A name that has left is free.
    assert_eq!(hooks.unregister_plugin("tower").removed(), 1);
    hooks.register(owned()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn l18_a_group_happens_whole_or_not_at_all() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register(on::<Open>().name("door").handler(log.note("door"))).unwrap();
    let first = || on::<Ring>().name("bell").plugin("tower").handler(log.note("bell"));
    let bad: [Registration; 4] = [
        on::<Open>().name("door").handler(|_: &OpenPayload| ()),
        on::<Ring>().name("bell").plugin("tower").handler(|_: &RingPayload| ()),
        on::<Ring>().plugin("not an id").handler(|_: &RingPayload| ()),
        on::<Open>().timeout(Duration::ZERO).handler(|_: &OpenPayload| ()),
    ];
    for last in bad {
        hooks.register([first(), last]).unwrap_err();
        assert!(!hooks.has_handlers::<Ring>());
        assert_eq!(hooks.unregister_plugin("tower").removed(), 0);
    }
    hooks.register([first()]).unwrap();
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    soon(hooks.fire_void::<Open>(&OPEN)).await.unwrap();
    assert_eq!(log.take(), ["bell", "door"]);
    assert_eq!(hooks.register([]).unwrap().len(), 0, "an empty group is no error");
}

#[test]
fn l18_anonymous_names_never_clash() {
    let hooks = HookRegistry::new();
    let place = || (on::<Ring>().handler(|_: &RingPayload| ()), line!());
    let name = |handles: &hooks_runtime::registry::Handles| handles[0].name().unwrap().to_string();
    let (registration, line) = place();
    let first = hooks.register(registration).unwrap();
    let base = name(&first);
    assert!(base.contains(&format!("lifecycle.rs:{line}:")), "{base}");
    assert_eq!(name(&hooks.register(place().0).unwrap()), format!("{base}#2"));
    // Another handler takes the next name on purpose.
    let squatter = on::<Ring>().name(format!("{base}#3")).handler(|_: &RingPayload| ());
    hooks.register(squatter).unwrap();
    let two = hooks.register([place().0, place().0]).unwrap();
    let names: Vec<_> = two.iter().map(|handle| handle.name().unwrap().to_string()).collect();
    assert_eq!(names, [format!("{base}#4"), format!("{base}#5")]);
    // A place that is free again makes no clash with those still there.
    first.unregister();
    hooks.register(place().0).unwrap();
}

struct Tower {
    log: Log,
    stall: Arc<Stall>,
    version: u32,
}

#[hook_handlers(plugin = "tower")]
impl Tower {
    #[hook_handler(Ring)]
    async fn toll(&self, _: &RingPayload) {
        self.log.push(format!("toll {}", self.version));
        self.stall.0.notified().await;
    }

    #[hook_handler(Answer)]
    fn warden(&self, _: &AnswerPayload) -> Option<&'static str> {
        (self.version == 2).then_some("warden")
    }
}

fn tower(log: &Log, stall: &Arc<Stall>, version: u32) -> Tower {
    Tower { log: log.clone(), stall: Arc::clone(stall), version }
}

#[tokio::test(start_paused = true)]
async fn l18_a_plugin_is_installed_once_and_replaced_at_one_instant() {
    let (hooks, log, stall) = (HookRegistry::new(), Log::new(), Arc::new(Stall::default()));
    let first = hooks.install(tower(&log, &stall, 1)).unwrap();
    assert_eq!(first.handles().len(), 2);
    refused(
        hooks.install(tower(&log, &stall, 2)),
        "plugin `tower` has handlers here already: remove them first with `uninstall` or \
         `unregister_plugin`, or use `install_or_replace`",
    );
    assert_eq!(hooks.fire_claiming::<Answer>(&ANSWER).await.unwrap(), Claim::Unclaimed);
    let second = hooks.install_or_replace(tower(&log, &stall, 2)).unwrap();
    assert_eq!(second.id().unwrap().as_str(), "tower");
    // What the first installed is gone: taking it down leaves the second alone.
    soon(first.uninstall().into_future()).await.into_result().unwrap();
    assert_eq!(hooks.fire_claiming::<Answer>(&ANSWER).await.unwrap(), Claim::Claimed("warden"));
    soon(second.uninstall().into_future()).await.into_result().unwrap();
    assert!(!hooks.has_handlers::<Answer>() && !hooks.has_handlers::<Ring>());
}

#[tokio::test(start_paused = true)]
async fn l19_a_fire_under_way_ends_what_it_began_and_starts_no_more() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Stall::default()));
    let log = Log::new();
    async fn begun(stall: &Arc<Stall>, _: &AnswerPayload) -> Option<&'static str> {
        stall.0.notified().await;
        None
    }
    let (late, there) = (log.clone(), log.clone());
    hooks
        .register([
            on::<Answer>().name("begun").plugin("tower").handler_with(Arc::clone(&stall), begun),
            on::<Answer>().name("not begun").plugin("tower").handler(move |_: &AnswerPayload| {
                late.push("not begun");
                Some("late")
            }),
            on::<Answer>().name("other").plugin("gate").handler(move |_: &AnswerPayload| {
                there.push("other");
                Some("other")
            }),
        ])
        .unwrap();
    let mut fire = Box::pin(hooks.fire_claiming_reported::<Answer>(&ANSWER));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("tower");
    assert_eq!((removal.removed(), removal.running()), (2, vec!["begun".to_owned()]));
    // A fire that starts later sees none of them.
    let claim = hooks.fire_claiming::<Answer>(&ANSWER).await.unwrap();
    assert_eq!((claim, log.take()), (Claim::Claimed("other"), vec!["other".to_owned()]));

    stall.0.notify_one();
    let (claim, report) = soon(fire).await;
    assert_eq!(claim.unwrap(), Claim::Claimed("other"));
    assert_eq!(log.take(), ["other"]);
    let left_out = HandlerStatus::Filtered(SkipReason::Unregistered);
    assert_eq!(report.handler("not begun").unwrap().status(), &left_out);
    soon((&removal).into_future()).await.into_result().unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_the_wait_is_for_that_plugin_and_no_other() {
    let hooks = HookRegistry::new();
    let (ours, theirs) = (Arc::new(Stall::default()), Arc::new(Stall::default()));
    hooks.register([stalled(&ours, "tower", "toll"), stalled(&theirs, "gate", "creak")]).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());

    let removal = hooks.unregister_plugin("tower");
    let mut drained = (&removal).into_future();
    assert!(poll_once(drained.as_mut()).is_pending());
    ours.0.notify_one();
    assert!(poll_once(fire.as_mut()).is_pending(), "the other one goes on");
    assert_eq!(poll_once(drained.as_mut()).map(DrainOutcome::into_result), Poll::Ready(Ok(())));
    assert_eq!(removal.running(), [""; 0]);
    theirs.0.notify_one();
    soon(fire).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_the_wait_has_a_deadline_that_names_who_still_runs() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Stall::default()));
    hooks.register([stalled(&stall, "tower", "toll"), stalled(&stall, "tower", "peal")]).unwrap();
    let fire = tokio::spawn({
        let hooks = hooks.clone();
        async move { hooks.fire_void::<Ring>(&RING).await }
    });
    tokio::task::yield_now().await;
    let removal = hooks.unregister_plugin("tower");
    let since = tokio::time::Instant::now();
    let error = removal.within(Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(since.elapsed().as_secs(), 3);
    assert_eq!(
        error.to_string(),
        "plugin `tower` has handlers running after 3s: toll, peal; \
                                   wait again, or longer"
    );
    stall.0.notify_one();
    stall.0.notify_one();
    soon(removal.within(Duration::from_secs(3))).await.unwrap();
    soon(fire).await.unwrap().unwrap();
}

#[test]
fn l19_a_deadline_without_a_timer_is_a_typed_error() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Stall::default()));
    hooks.register(stalled(&stall, "tower", "toll")).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("tower");
    let waited = futures::executor::block_on(removal.within(Duration::from_secs(3)));
    assert_eq!(waited, Err(DrainError::NoTimer));
}

/// Removes the plugin and waits for it, then notes what came of that.
async fn leave(log: &Log, cx: &HookContext, hooks: &HookRegistry, plugin: &str) {
    let removal = hooks.unregister_plugin(plugin);
    let came_of_it = match removal.await.into_result() {
        Ok(()) => "drained".to_owned(),
        Err(error) => error.to_string(),
    };
    log.push(format!("{}: {came_of_it}", cx.handler()));
}

type Leaver = (Log, HookRegistry, &'static str);

async fn leaves_at_ring(leaver: &Leaver, _: &RingPayload, cx: &HookContext) {
    leave(&leaver.0, cx, &leaver.1, leaver.2).await;
}

async fn leaves_at_open(leaver: &Leaver, _: &OpenPayload, cx: &HookContext) {
    leave(&leaver.0, cx, &leaver.1, leaver.2).await;
}

#[tokio::test(start_paused = true)]
async fn l19_a_plugin_cannot_wait_for_itself() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let leaver: Leaver = (log.clone(), hooks.clone(), "tower");
    let itself = on::<Ring>().plugin("tower").name("toll").handler_with(leaver, leaves_at_ring);
    hooks.register(itself).unwrap();
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    let text = "toll: plugin `tower` cannot wait for itself: this is one of its own handlers; \
                await the removal outside of them, or drop it";
    assert_eq!(log.take(), [text]);
    assert!(!hooks.has_handlers::<Ring>(), "but it is removed");
}

#[tokio::test(start_paused = true)]
async fn l19_nor_through_a_fire_of_its_own() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let leaver = || -> Leaver { (log.clone(), hooks.clone(), "tower") };
    hooks
        .register([
            on::<Ring>().plugin("tower").handler(async |_: &RingPayload, cx: &HookContext| {
                tokio::task::yield_now().await;
                cx.hooks().fire_void::<Open>(&OPEN).await
            }),
            on::<Open>().name("door").handler_with(leaver(), leaves_at_open),
        ])
        .unwrap();
    soon(hooks.fire_void::<Ring>(&RING)).await.unwrap();
    let text = "door: plugin `tower` cannot wait for itself: this is one of its own handlers; \
                await the removal outside of them, or drop it";
    assert_eq!(log.take(), [text]);
    // The same handler, not called from inside the plugin, may wait.
    hooks.register(on::<Ring>().plugin("tower").handler(|_: &RingPayload| ())).unwrap();
    soon(hooks.fire_void::<Open>(&OPEN)).await.unwrap();
    assert_eq!(log.take(), ["door: drained"]);
}

#[tokio::test(start_paused = true)]
async fn l19_one_plugin_may_wait_for_another() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let leaver: Leaver = (log.clone(), hooks.clone(), "tower");
    let stall = Arc::new(Stall::default());
    hooks
        .register([
            stalled(&stall, "tower", "toll"),
            on::<Ring>().plugin("gate").name("creak").handler_with(leaver, leaves_at_ring),
        ])
        .unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(log.take(), [""; 0], "toll runs, in this very fire");
    stall.0.notify_one();
    soon(fire).await.unwrap();
    assert_eq!(log.take(), ["creak: drained"]);
}

#[tokio::test(start_paused = true)]
async fn l19_uninstall_waits_until_none_of_its_handlers_runs() {
    let (hooks, log, stall) = (HookRegistry::new(), Log::new(), Arc::new(Stall::default()));
    let installed = hooks.install(tower(&log, &stall, 1)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());
    let mut uninstall = installed.uninstall().into_future();
    assert!(poll_once(uninstall.as_mut()).is_pending());
    assert!(!hooks.has_handlers::<Answer>());
    stall.0.notify_one();
    soon(fire).await.unwrap();
    soon(uninstall).await.into_result().unwrap();
}
