//! A plugin as one value: its block and its scope (L16), installed whole or not
//! at all and replaced at one instant (L18). For its leaving see the files next to
//! this.

// The payload of a point is what it is, also where a slice would do.
#![allow(clippy::ptr_arg)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::registry::Owner;
use hooks_runtime::{
    BeforeExecute, Claim, FlowContext, Gate, HookContext, HookRegistry, Plugins, RegisterError,
    Verdict, hook_handlers, hook_points, on,
};
use support::{Count, CountsDrop, Log, poll_once};
use tokio::sync::Notify;

hook_points! {
    /// The bell rings.
    pub void Knock { n: u32 }
    /// What to wear.
    pub modifying Dress { n: u32 } -> { hat: u32, coat: u32 }
    /// Who shows the way.
    pub claiming Guide { n: u32 } -> u32;
    /// Who may come in.
    pub gating Enter(String);
    /// A meal.
    pub flow Serve(String) -> String;
}

const KNOCK: KnockPayload = KnockPayload { n: 1 };
const DRESS: DressPayload = DressPayload { n: 1 };
const GUIDE: GuidePayload = GuidePayload { n: 1 };

async fn cook(dish: String) -> Result<String, String> {
    Ok(format!("cooked {dish}"))
}

/// Each of its handlers takes the next number from the one state.
#[derive(Default)]
struct House(AtomicU32);

impl House {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

#[hook_handlers(plugin = "house")]
impl House {
    #[hook_handler(Knock)]
    async fn door(&self, _: &KnockPayload) {
        self.next();
    }

    #[hook_handler(Dress, priority = 3)]
    fn wardrobe(&self, _: &DressPayload) -> DressResult {
        DressResult { hat: Some(self.next()), coat: None }
    }

    #[hook_handler(Guide)]
    async fn usher(&self, _: &GuidePayload, _: &HookContext) -> Option<u32> {
        Some(self.next())
    }

    #[hook_handler(Enter)]
    fn herald(&self, name: &String) -> Verdict<String> {
        Verdict::Replace(format!("{name} {}", self.next()))
    }

    #[hook_handler(Enter, guard, name = "porter")]
    async fn looks_at(&self, name: &String) -> Verdict {
        let number = self.next();
        if name.starts_with("thief") {
            Verdict::reject(format!("no {number}"))
        } else {
            Verdict::Pass
        }
    }

    #[hook_handler(BeforeExecute<Serve>)]
    async fn taster(&self, flow: &mut FlowContext<Serve>) {
        let number = self.next();
        flow.respond(format!("tasted {number}"));
    }
}

fn names(hooks: &HookRegistry) -> Vec<String> {
    let mut names: Vec<_> = hooks.handlers().iter().map(|info| info.name.to_string()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn l18_a_block_has_handlers_of_every_model_on_one_state() {
    let hooks = HookRegistry::new();
    let state = Arc::new(House::default());
    let house = hooks.install(Arc::clone(&state)).unwrap();
    hooks.fire_void::<Knock>(&KNOCK).await.unwrap();
    let dressed = hooks.fire_modifying::<Dress>(&DRESS).await.unwrap();
    assert_eq!((dressed.hat, dressed.coat), (Some(2), None));
    assert_eq!(hooks.fire_claiming::<Guide>(&GUIDE).await.unwrap(), Claim::Claimed(3));
    // The guard judges what the rewriter left.
    let entered = hooks.fire_gating::<Enter>("friend".into()).await.unwrap();
    assert_eq!(entered, Gate::Passed("friend 4".into()));
    let Gate::Rejected(rejection) = hooks.fire_gating::<Enter>("thief".into()).await.unwrap()
    else {
        panic!("the thief came in");
    };
    assert_eq!(rejection.to_string(), "rejected at `enter` by `porter` (plugin `house`): no 7");
    assert_eq!(hooks.run_flow::<Serve, _>("soup".into(), cook).await.unwrap(), "tasted 8");
    assert_eq!(state.0.load(Ordering::SeqCst), 8);

    // The handles stand in the order in which the methods are written.
    let handles: Vec<_> = house.handles().iter().map(|handle| handle.name().unwrap()).collect();
    let written = ["door", "wardrobe", "usher", "herald", "porter", "taster"];
    assert_eq!(handles.iter().map(|name| &**name).collect::<Vec<_>>(), written);
    assert_eq!(hooks.handlers_of("house").len(), 6);

    house.uninstall().await.into_result().unwrap();
    assert_eq!(names(&hooks), [""; 0]);
    assert_eq!(hooks.run_flow::<Serve, _>("soup".into(), cook).await.unwrap(), "cooked soup");
}

/// The id that the bad blocks below share with a good one.
struct Good;

#[hook_handlers(plugin = "sick")]
impl Good {
    #[hook_handler(Knock)]
    fn well(&self, _: &KnockPayload) {}
}

struct Loosens(#[allow(dead_code)] CountsDrop);

#[hook_handlers(plugin = "sick")]
impl Loosens {
    #[hook_handler(Knock)]
    fn fine(&self, _: &KnockPayload) {}

    #[hook_handler(Enter, on_failure = "open")]
    fn lax(&self, _: &String) -> Verdict<String> {
        Verdict::Pass
    }
}

/// The line of this, from which those of its handlers are counted.
const CIRCULAR: u32 = line!();
struct Circular(#[allow(dead_code)] CountsDrop);

#[hook_handlers(plugin = "sick")]
impl Circular {
    #[hook_handler(Knock)]
    fn fine(&self, _: &KnockPayload) {}

    #[hook_handler(Guide, before = "hen")]
    fn egg(&self, _: &GuidePayload) -> Option<u32> {
        None
    }

    #[hook_handler(Guide, before = "egg")]
    fn hen(&self, _: &GuidePayload) -> Option<u32> {
        None
    }
}

const DOUBLE: u32 = line!();
/// Its last handler has a name that the same owner has at that point already.
struct Double(#[allow(dead_code)] CountsDrop);

#[hook_handlers]
impl Double {
    #[hook_handler(Guide)]
    fn fine(&self, _: &GuidePayload) -> Option<u32> {
        None
    }

    #[hook_handler(Knock, name = "bell")]
    fn doubled(&self, _: &KnockPayload) {}
}

#[track_caller]
fn refused(result: Result<impl std::fmt::Debug, RegisterError>, text: &str) {
    assert_eq!(result.unwrap_err().to_string(), text);
}

#[tokio::test]
async fn l18_install_happens_whole_or_not_at_all() {
    let (hooks, gone) = (HookRegistry::new(), Count::default());
    let place = |line: u32, column: u32| format!("{}:{line}:{column}", file!());
    hooks.register(on::<Knock>().name("bell").handler(|_: &KnockPayload| ())).unwrap();
    let bell = place(line!() - 1, 20);
    let (egg, hen) = (place(CIRCULAR + 9, 8), place(CIRCULAR + 14, 8));
    refused(
        hooks.install(Loosens(gone.on_drop())),
        "`lax` asks for fail-open, but `enter` is fail-closed: a handler may only tighten its \
         point's policy; leave `on_failure` out",
    );
    refused(
        hooks.install(Circular(gone.on_drop())),
        &format!(
            "the order of the handlers at `guide` is circular: `egg` (plugin `sick`, {egg}) > \
             `hen` (plugin `sick`, {hen}) > `egg` (plugin `sick`, {egg}); leave out one `before` \
             or `after` of them"
        ),
    );
    refused(
        hooks.install(Double(gone.on_drop())),
        &format!(
            "`bell` (built-in) is registered at `knock` already: give it another name, or say \
             `replace`; the first is at {bell}, the second at {}",
            place(DOUBLE + 12, 8),
        ),
    );
    assert_eq!(names(&hooks), ["bell"], "nothing of them was registered");
    assert_eq!(gone.get(), 3, "and nothing of them is kept");
    // Nor is their id: it was never installed.
    let _good = hooks.install(Good).unwrap();
    assert_eq!(names(&hooks), ["bell", "well"]);
}

#[tokio::test]
async fn l18_a_replacement_that_is_refused_leaves_the_old_version() {
    let (hooks, gone) = (HookRegistry::new(), Count::default());
    let good = hooks.install(Good).unwrap();
    hooks.install_or_replace(Loosens(gone.on_drop())).unwrap_err();
    hooks.install_or_replace(Circular(gone.on_drop())).unwrap_err();
    assert_eq!((names(&hooks), gone.get()), (vec!["well".to_owned()], 2));
    good.uninstall().await.into_result().unwrap();
    assert_eq!(names(&hooks), [""; 0], "the handle of the old version is still the right one");
}

#[tokio::test]
async fn l18_a_plugin_is_installed_once() {
    let hooks = HookRegistry::new();
    let _house = hooks.install(House::default()).unwrap();
    refused(
        hooks.install(House::default()),
        "plugin `house` has handlers here already: remove them first with `uninstall` or \
         `unregister_plugin`, or use `install_or_replace`",
    );
    assert_eq!(hooks.handlers().len(), 6);
    // Where there is nothing to replace it is installed.
    let elsewhere = HookRegistry::new();
    let _house = elsewhere.install_or_replace(House::default()).unwrap();
    assert_eq!(elsewhere.handlers().len(), 6);
}

#[tokio::test]
async fn l18_a_replaced_version_does_not_take_its_successor_along() {
    let hooks = HookRegistry::new();
    let first = hooks.install(House::default()).unwrap();
    let second = hooks.install_or_replace(House(AtomicU32::new(100))).unwrap();
    assert_eq!(hooks.fire_claiming::<Guide>(&GUIDE).await.unwrap(), Claim::Claimed(101));
    assert_eq!(first.handles().unregister().removed(), 0);
    first.uninstall().await.into_result().unwrap();
    assert_eq!(hooks.handlers().len(), 6);
    second.uninstall().await.into_result().unwrap();
    assert_eq!(hooks.handlers().len(), 0);
}

#[tokio::test]
async fn l18_a_fire_under_way_ends_with_the_version_it_began_with() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let gate = Arc::new(Notify::new());
    let pair = |version| Pair { version, log: log.clone(), gate: Arc::clone(&gate) };
    let _first = hooks.install(pair(1)).unwrap();
    let mut fire = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
    assert!(poll_once(fire.as_mut()).is_pending());
    let _second = hooks.install_or_replace(pair(2)).unwrap();
    gate.notify_one();
    let _ = fire.await.unwrap();
    assert_eq!(log.take(), ["opens 1", "shuts 1"]);
    gate.notify_one();
    let _ = hooks.fire_claiming::<Guide>(&GUIDE).await.unwrap();
    assert_eq!(log.take(), ["opens 2", "shuts 2"]);
}

/// A run of a flow is one fire of it, over all of its stages.
#[tokio::test]
async fn l18_a_run_under_way_ends_with_the_version_it_began_with() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let pair = |version| Pair { version, log: log.clone(), gate: Arc::default() };
    let _first = hooks.install(pair(1)).unwrap();
    let replacing = async |dish: String| -> Result<String, String> {
        let _second = hooks.install_or_replace(pair(2)).unwrap();
        Ok(dish)
    };
    hooks.run_flow::<Serve, _>("soup".into(), replacing).await.unwrap();
    assert_eq!(log.take(), ["before 1", "after 1"]);
}

struct Pair {
    version: u32,
    log: Log,
    gate: Arc<Notify>,
}

#[hook_handlers(plugin = "pair")]
impl Pair {
    #[hook_handler(Guide)]
    async fn opens(&self, _: &GuidePayload) -> Option<u32> {
        self.log.push(format!("opens {}", self.version));
        self.gate.notified().await;
        None
    }

    #[hook_handler(Guide)]
    fn shuts(&self, _: &GuidePayload) -> Option<u32> {
        self.log.push(format!("shuts {}", self.version));
        None
    }

    #[hook_handler(BeforeExecute<Serve>)]
    fn before(&self, _: &mut FlowContext<Serve>) {
        self.log.push(format!("before {}", self.version));
    }

    #[hook_handler(hooks_runtime::AfterExecute<Serve>)]
    fn after(&self, _: &mut FlowContext<Serve>) {
        self.log.push(format!("after {}", self.version));
    }
}

/// A block without a plugin.
struct Host(Log);

#[hook_handlers]
impl Host {
    #[hook_handler(Knock)]
    fn listens(&self, _: &KnockPayload, cx: &HookContext) {
        self.0.push(cx.owner().to_string());
    }
}

#[tokio::test]
async fn l16_a_block_without_a_plugin_is_built_in() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let host = hooks.install(Host(log.clone())).unwrap();
    let house = Arc::new(House::default());
    hooks.install(Arc::clone(&house)).unwrap();
    hooks.scope(Plugins::BuiltIn).fire_void::<Knock>(&KNOCK).await.unwrap();
    assert_eq!((log.take(), house.0.load(Ordering::SeqCst)), (vec!["built-in".into()], 0));
    let built_in = hooks.handlers_of(Owner::BuiltIn);
    assert_eq!(built_in.len(), 1);
    let listens = built_in[0].location;
    // Built-in handlers have no plugin to be installed as: their names clash.
    refused(
        hooks.install(Host(log.clone())),
        &format!(
            "`listens` (built-in) is registered at `knock` already: give it another name, or say \
             `replace`; the first is at {listens}, the second at {listens}"
        ),
    );
    host.uninstall().await.into_result().unwrap();
    assert_eq!(hooks.handlers_of(Owner::BuiltIn).len(), 0);
    assert_eq!(hooks.handlers_of("house").len(), 6);
}

#[tokio::test]
async fn l16_a_scope_names_a_plugin_whenever_it_comes() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let scope = hooks.scope(Plugins::only(["house"]));
    for _ in 0..2 {
        let state = Arc::new(House::default());
        let house = hooks.install(Arc::clone(&state)).unwrap();
        scope.fire_void::<Knock>(&KNOCK).await.unwrap();
        assert_eq!(state.0.load(Ordering::SeqCst), 1);
        house.uninstall().await.into_result().unwrap();
        // The plugin that takes its place is not in its scope.
        let other = on::<Knock>().plugin("shed").handler(log.note("shed"));
        hooks.register(other).unwrap();
        scope.fire_void::<Knock>(&KNOCK).await.unwrap();
        assert_eq!(log.take(), [""; 0]);
        hooks.unregister_plugin("shed");
    }
}
