//! A plugin leaves while it is at work (L19): in a fire of each model, and asked
//! from inside itself.

mod support;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::plugin::Installed;
use hooks_runtime::{
    AfterExecute, BeforeExecute, FlowContext, HookContext, HookRegistry, Verdict, hook_handlers,
    hook_points, on,
};
use support::{Log, poll_once};
use tokio::sync::Notify;

hook_points! {
    /// The bell rings.
    pub void Knock { n: u32 }
    /// What to wear.
    pub modifying Dress { n: u32 } -> { hat: u32 }
    /// Who shows the way.
    pub claiming Guide { n: u32 } -> u32;
    /// Who may come in.
    pub gating Enter(u32);
    /// A meal.
    pub flow Serve(u32) -> u32;
}

const KNOCK: KnockPayload = KnockPayload { n: 1 };
const DRESS: DressPayload = DressPayload { n: 1 };
const GUIDE: GuidePayload = GuidePayload { n: 1 };

/// Every model, in the order in which the tests go through them.
const MODELS: [&str; 6] = ["void", "modifying", "claiming", "rewriter", "guard", "flow"];

/// A fire of a model by name; no handler claims or rejects.
fn fire<'h>(hooks: &'h HookRegistry, model: &str) -> Pin<Box<dyn Future<Output = ()> + Send + 'h>> {
    match model {
        "void" => Box::pin(async { hooks.fire_void::<Knock>(&KNOCK).await.unwrap() }),
        "modifying" => Box::pin(async {
            let _ = hooks.fire_modifying::<Dress>(&DRESS).await.unwrap();
        }),
        "claiming" => Box::pin(async {
            let _ = hooks.fire_claiming::<Guide>(&GUIDE).await.unwrap();
        }),
        "rewriter" | "guard" => {
            Box::pin(async { drop(hooks.fire_gating::<Enter>(1).await.unwrap()) })
        }
        "flow" => Box::pin(async {
            let operation = async |n: u32| Ok::<_, String>(n);
            hooks.run_flow::<Serve, _>(1, operation).await.unwrap();
        }),
        other => panic!("no model {other}"),
    }
}

/// Two handlers at a place of each model: the first does what `act` says, the
/// second only notes that it was called.
struct Guest<A> {
    model: &'static str,
    log: Log,
    act: A,
}

/// What the first handler of a guest does. Another model's handlers do
/// nothing, so that one block serves all tests.
trait Act: Send + Sync + 'static {
    fn act(&self) -> impl Future<Output = ()> + Send;
}

impl<A: Act> Guest<A> {
    async fn first(&self, model: &str) {
        if self.model == model {
            self.log.push("begins");
            self.act.act().await;
            self.log.push("ends");
        }
    }

    fn second(&self, model: &str) {
        if self.model == model {
            self.log.push("second");
        }
    }
}

macro_rules! guest {
    ($guest:ident, $act:ty) => {
        struct $guest(Guest<$act>);

        #[hook_handlers(plugin = "guest")]
        impl $guest {
            #[hook_handler(Knock)]
            async fn knock(&self, _: &KnockPayload) {
                self.0.first("void").await;
            }
            #[hook_handler(Knock)]
            fn knock_too(&self, _: &KnockPayload) {
                self.0.second("void");
            }
            #[hook_handler(Dress)]
            async fn dress(&self, _: &DressPayload) -> Option<DressResult> {
                self.0.first("modifying").await;
                None
            }
            #[hook_handler(Dress)]
            fn dress_too(&self, _: &DressPayload) -> Option<DressResult> {
                self.0.second("modifying");
                None
            }
            #[hook_handler(Guide)]
            async fn guide(&self, _: &GuidePayload) -> Option<u32> {
                self.0.first("claiming").await;
                None
            }
            #[hook_handler(Guide)]
            fn guide_too(&self, _: &GuidePayload) -> Option<u32> {
                self.0.second("claiming");
                None
            }
            #[hook_handler(Enter)]
            async fn enter(&self, _: &u32) -> Verdict<u32> {
                self.0.first("rewriter").await;
                Verdict::Pass
            }
            #[hook_handler(Enter)]
            fn enter_too(&self, _: &u32) -> Verdict<u32> {
                self.0.second("rewriter");
                Verdict::Pass
            }
            #[hook_handler(Enter, guard)]
            async fn judge(&self, _: &u32) -> Verdict {
                self.0.first("guard").await;
                Verdict::Pass
            }
            #[hook_handler(Enter, guard)]
            fn judge_too(&self, _: &u32) -> Verdict {
                self.0.second("guard");
                Verdict::Pass
            }
            #[hook_handler(BeforeExecute<Serve>)]
            async fn serve(&self, _: &mut FlowContext<Serve>) {
                self.0.first("flow").await;
            }
            #[hook_handler(BeforeExecute<Serve>)]
            fn serve_too(&self, _: &mut FlowContext<Serve>) {
                self.0.second("flow");
            }
            #[hook_handler(AfterExecute<Serve>)]
            fn serve_later(&self, _: &mut FlowContext<Serve>) {
                self.0.second("flow");
            }
        }
    };
}

guest!(Waits, Arc<Notify>);
impl Act for Arc<Notify> {
    async fn act(&self) {
        self.notified().await;
    }
}

/// A neighbour of the host at the end of every point.
fn add_neighbour(hooks: &HookRegistry, log: &Log) {
    let [knock, dress, guide, enter, judge, serve] = std::array::from_fn(|_| log.clone());
    hooks
        .register([
            on::<Knock>().priority(9).handler(move |_: &KnockPayload| knock.push("host")),
            on::<Dress>().priority(9).handler(move |_: &DressPayload| -> Option<DressResult> {
                dress.push("host");
                None
            }),
            on::<Guide>().priority(9).handler(move |_: &GuidePayload| -> Option<u32> {
                guide.push("host");
                None
            }),
            on::<Enter>().priority(9).handler(move |_: &u32| {
                enter.push("host");
                Verdict::<u32>::Pass
            }),
            on::<Enter>().priority(9).guard(move |_: &u32| {
                judge.push("host judges");
                Verdict::Pass
            }),
            on::<AfterExecute<Serve>>()
                .priority(9)
                .handler(move |_: &mut FlowContext<Serve>| serve.push("host")),
        ])
        .unwrap();
}

#[tokio::test]
async fn l19_in_a_fire_of_each_model_what_has_begun_ends_and_nothing_more_starts() {
    for model in MODELS {
        let (hooks, log, gate) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
        add_neighbour(&hooks, &log);
        let guest = Guest { model, log: log.clone(), act: Arc::clone(&gate) };
        let guest = hooks.install(Waits(guest)).unwrap();
        let mut firing = fire(&hooks, model);
        assert!(poll_once(firing.as_mut()).is_pending());
        let begun: &[&str] = match model {
            // A void fire starts all of them before it waits for any.
            "void" => &["begins", "second", "host"],
            "guard" => &["host", "begins"],
            _ => &["begins"],
        };
        assert_eq!(log.take(), begun, "{model}");

        let mut leaving = guest.uninstall().into_future();
        assert!(poll_once(leaving.as_mut()).is_pending(), "{model}");
        // A fire that starts now sees none of it.
        fire(&hooks, model).await;
        let without: &[&str] = match model {
            "rewriter" | "guard" => &["host", "host judges"],
            _ => &["host"],
        };
        assert_eq!(log.take(), without, "{model}");

        gate.notify_one();
        firing.await;
        let ended: &[&str] = match model {
            "void" => &["ends"],
            "rewriter" => &["ends", "host", "host judges"],
            "guard" => &["ends", "host judges"],
            _ => &["ends", "host"],
        };
        assert_eq!(log.take(), ended, "{model}");
        assert_eq!(leaving.await.into_result(), Ok(()), "{model}");
    }
}

guest!(Removes, HookRegistry);
impl Act for HookRegistry {
    /// Without a wait: the removal is of this instant.
    async fn act(&self) {
        assert_eq!(self.unregister_plugin("guest").removed(), 13);
    }
}

#[tokio::test]
async fn l19_removed_in_the_middle_of_a_poll_nothing_more_of_it_starts() {
    for model in MODELS {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        add_neighbour(&hooks, &log);
        let guest = Guest { model, log: log.clone(), act: hooks.clone() };
        let _guest = hooks.install(Removes(guest)).unwrap();
        fire(&hooks, model).await;
        let expected: &[&str] = match model {
            "rewriter" => &["begins", "ends", "host", "host judges"],
            "guard" => &["host", "begins", "ends", "host judges"],
            _ => &["begins", "ends", "host"],
        };
        assert_eq!(log.take(), expected, "{model}");
    }
}

/// Where a guest finds its own handle, to leave by it.
type Own = Arc<Mutex<Option<Installed>>>;

guest!(Leaves, (Log, Own, Way));
/// By which way it asks to leave.
#[derive(Clone, Copy)]
enum Way {
    Uninstall,
    Within,
}

impl Act for (Log, Own, Way) {
    async fn act(&self) {
        let installed = self.1.lock().unwrap().take().unwrap();
        let left = match self.2 {
            Way::Uninstall => installed.uninstall().await.into_result(),
            Way::Within => installed.uninstall().within(Duration::from_secs(5)).await,
        };
        self.0.push(left.unwrap_err().to_string());
    }
}

const ITSELF: &str = "plugin `guest` cannot wait for itself: this is one of its own handlers; \
                      await the removal outside of them, or drop it";

#[tokio::test(start_paused = true)]
async fn l19_asked_from_inside_its_own_handler_it_is_an_error() {
    for model in MODELS {
        for way in [Way::Uninstall, Way::Within] {
            let (hooks, log, own) = (HookRegistry::new(), Log::new(), Own::default());
            let act = (log.clone(), Arc::clone(&own), way);
            let guest = hooks.install(Leaves(Guest { model, log: log.clone(), act })).unwrap();
            *own.lock().unwrap() = Some(guest);
            let since = tokio::time::Instant::now();
            fire(&hooks, model).await;
            assert_eq!(since.elapsed(), Duration::ZERO);
            // In a void fire too: the second is not started any more.
            assert_eq!(log.take(), ["begins", ITSELF, "ends"], "{model}");
            assert_eq!(hooks.handlers().len(), 0, "but it is removed");
        }
    }
}

/// Fires inwards from its own handler, and leaves from the inside.
struct Nests {
    log: Log,
    own: Own,
}

impl Nests {
    async fn leave(&self) {
        let installed = self.own.lock().unwrap().take().unwrap();
        self.log.push(installed.uninstall().await.into_result().unwrap_err().to_string());
    }
}

#[hook_handlers(plugin = "guest")]
impl Nests {
    /// The operation is the host's, but it runs inside this handler.
    #[hook_handler(Knock)]
    async fn outer(&self, _: &KnockPayload, cx: &HookContext) {
        tokio::task::yield_now().await;
        let operation = async |n: u32| {
            tokio::task::yield_now().await;
            self.leave().await;
            Ok::<_, String>(n)
        };
        cx.hooks().run_flow::<Serve, _>(1, operation).await.unwrap();
    }

    #[hook_handler(Guide)]
    async fn outer_too(&self, _: &GuidePayload, cx: &HookContext) -> Option<u32> {
        tokio::task::yield_now().await;
        cx.hooks().fire_modifying::<Dress>(&DRESS).await.unwrap().hat
    }
}

#[tokio::test]
async fn l19_asked_through_a_nested_fire_it_is_an_error_too() {
    for model in ["void", "claiming"] {
        let (hooks, log, own) = (HookRegistry::new(), Log::new(), Own::default());
        let nests = hooks.install(Nests { log: log.clone(), own: Arc::clone(&own) }).unwrap();
        *own.lock().unwrap() = Some(nests);
        // Another owner's handler, called inside: it would wait for its caller.
        async fn leaves((log, own): &(Log, Own), _: &DressPayload) -> Option<DressResult> {
            tokio::task::yield_now().await;
            let installed = own.lock().unwrap().take().unwrap();
            log.push(installed.uninstall().await.into_result().unwrap_err().to_string());
            None
        }
        let state = (log.clone(), Arc::clone(&own));
        hooks.register(on::<Dress>().handler_with(state, leaves)).unwrap();
        fire(&hooks, model).await;
        assert_eq!(log.take(), [ITSELF], "{model}");
    }
}
