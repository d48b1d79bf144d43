//! Versions of a plugin and handlers that leave one by one (L17, L19): a removal
//! touches what it removes, and a stop comes after all of the plugin's calls.

mod support;

use std::sync::Arc;

use hooks_runtime::{
    BeforeExecute, Finally, FlowContext, Gate, HookRegistry, Verdict, hook_handlers, hook_points,
    on,
};
use support::{Log, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// A parcel leaves.
    pub gating Sending(String);
    /// A bell rings.
    pub void Ring(u32);
    /// One delivery, stage by stage.
    pub flow Deliver(u32) -> u32;
}

/// Lets nothing leave.
struct Customs(Log);

#[hook_handlers(plugin = "customs")]
impl Customs {
    #[hook_handler(Sending, guard)]
    fn check(&self, _: &String) -> Verdict {
        self.0.push("checks");
        Verdict::reject("closed")
    }
}

/// The fire began with the second version; the first, which is uninstalled, was
/// replaced long before.
#[tokio::test]
async fn l19_a_version_that_was_replaced_long_ago_takes_no_later_one_along() {
    let (hooks, log, go) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
    let waits = async |go: &Arc<Notify>, _: &String| -> Verdict<String> {
        go.notified().await;
        Verdict::Pass
    };
    hooks.register(on::<Sending>().handler_with(Arc::clone(&go), waits)).unwrap();
    let first = hooks.install(Customs(log.clone())).unwrap();
    hooks.install_or_replace(Customs(log.clone())).unwrap();
    let mut fire = Box::pin(hooks.fire_gating::<Sending>("parcel".to_owned()));
    assert!(poll_once(fire.as_mut()).is_pending());
    hooks.install_or_replace(Customs(log.clone())).unwrap();
    let removal = first.uninstall();
    assert_eq!((removal.removed(), removal.running()), (0, Vec::new()));
    assert!(soon(removal.into_future()).await.is_drained(), "only its own calls are waited for");
    go.notify_one();
    assert!(matches!(soon(fire).await, Ok(Gate::Rejected(_))));
    assert_eq!(log.take(), ["checks"]);
}

/// Rings for as long as it is let.
struct Bell(Arc<Notify>, Log);

#[hook_handlers(plugin = "bell")]
impl Bell {
    #[hook_handler(Ring)]
    async fn slow(&self, _: &u32) {
        self.0.notified().await;
        self.1.push("slow ends");
    }

    #[hook_handler(Ring)]
    fn quick(&self, _: &u32) {}

    #[stop]
    fn stop(&self) {
        self.1.push("stops");
    }
}

#[tokio::test]
async fn l19_a_stop_waits_for_calls_of_handlers_that_left_before() {
    let (hooks, log, go) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
    let bell = hooks.start(Bell(Arc::clone(&go), log.clone())).await.unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(hooks.unregister_handler("bell/slow").removed(), 1);
    let last = bell.handles()[1].unregister();
    let mut waiting = (&last).into_future();
    assert!(poll_once(waiting.as_mut()).is_pending());
    go.notify_one();
    soon(fire).await.unwrap();
    assert!(soon(waiting).await.is_drained());
    assert_eq!(log.take(), ["slow ends", "stops"]);
}

/// It leaves with its plugin and would be given the end of the run; then it is
/// removed alone.
#[tokio::test]
async fn l17_a_handler_that_leaves_with_its_plugin_is_removed_inside_the_run() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let closes = log.clone();
    let handles = hooks
        .register([
            on::<BeforeExecute<Deliver>>()
                .plugin("porter")
                .handler(|_: &mut FlowContext<Deliver>| ()),
            on::<Finally<Deliver>>()
                .plugin("porter")
                .handler(move |_: &mut FlowContext<Deliver>| closes.push("closes")),
        ])
        .unwrap();
    let operation = async |page: u32| {
        hooks.unregister_plugin("porter");
        assert!(handles[1].unregister().await.is_drained());
        Ok::<u32, String>(page)
    };
    assert_eq!(soon(hooks.run_flow::<Deliver, _>(1, operation)).await.unwrap(), 1);
    assert_eq!(log.take(), [""; 0]);
}
