//! Observers that ask for the wait for a plugin where it would be a wait for itself
//! (L19).

mod support;

use std::future::IntoFuture;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use hooks_runtime::plugin::StopFailure;
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, PluginId, hook_handlers, hook_points, on,
};
use support::poll_once;

hook_points! {
    pub void Saved { page: u32 }
    pub flow Print(u32) -> u32;
}

const INSIDE: &str = "plugin `audit` cannot wait for itself: this is one of its own handlers; \
                      await the removal outside of them, or drop it";
const INSIDE_RUN: &str = "plugin `audit` cannot be waited for here: this is inside a run of print, in which it has begun";

/// What it asks with, from when it is set on, and what came of each wait.
#[derive(Debug, Default)]
struct Asked {
    hooks: OnceLock<HookRegistry>,
    came_to: Mutex<Vec<String>>,
}

impl Asked {
    fn ask(&self, when: &str) {
        let Some(hooks) = self.hooks.get() else { return };
        let removal = hooks.unregister_plugin("audit");
        let came_to = match poll_once((&removal).into_future().as_mut()) {
            Poll::Pending => "waits for itself".to_owned(),
            Poll::Ready(outcome) => {
                outcome.into_result().map_or_else(|error| error.to_string(), |()| "gone".to_owned())
            }
        };
        self.came_to.lock().unwrap().push(format!("{when}: {came_to}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.came_to.lock().unwrap())
    }
}

#[derive(Debug)]
struct Asks(Arc<Asked>);

impl Observer for Asks {
    fn fire_ended(&self, fire: &ObservedFire, _: &FireEnd<'_>, _: Duration) {
        if fire.point() == "print" {
            self.0.ask("end of the run");
        }
    }

    fn poll_started(&self, _: &ObservedCall<'_>) {
        self.0.ask("begin of a poll");
    }

    fn poll_ended(&self, _: &ObservedCall<'_>) {
        self.0.ask("end of a poll");
    }

    fn stop_failed(&self, _: &PluginId, failure: &StopFailure) {
        self.0.ask(failure.as_str());
    }
}

fn asked() -> (HookRegistry, Arc<Asked>) {
    let asked = Arc::new(Asked::default());
    let hooks = HookRegistry::builder().observer(Asks(Arc::clone(&asked))).build();
    (hooks, asked)
}

#[tokio::test]
async fn l19_at_the_end_of_a_run_in_which_the_plugin_has_begun() {
    for is_dropped in [false, true] {
        let (hooks, asked) = asked();
        let begins = |_: &mut FlowContext<Print>| ();
        hooks.register(on::<BeforeExecute<Print>>().plugin("audit").handler(begins)).unwrap();
        let (asks, known) = (Arc::clone(&asked), hooks.clone());
        let mut run = Box::pin(hooks.flow::<Print>().run(1, async move |number: u32| {
            asks.hooks.set(known).unwrap();
            tokio::task::yield_now().await;
            Ok::<u32, std::io::Error>(number)
        }));
        if is_dropped {
            assert!(poll_once(run.as_mut()).is_pending());
            drop(run);
        } else {
            run.await.unwrap();
        }
        assert_eq!(asked.take(), [format!("end of the run: {INSIDE_RUN}")]);
    }
}

#[tokio::test]
async fn l19_around_every_poll_of_a_call() {
    let (hooks, asked) = asked();
    let state = (hooks.clone(), Arc::clone(&asked));
    let twice = async |(hooks, asked): &(HookRegistry, Arc<Asked>), _: &SavedPayload| {
        tokio::task::yield_now().await;
        asked.hooks.set(hooks.clone()).unwrap();
        tokio::task::yield_now().await;
    };
    hooks.register(on::<Saved>().plugin("audit").handler_with(state, twice)).unwrap();
    hooks.fire_void::<Saved>(&SavedPayload { page: 1 }).await.unwrap();
    let expected = ["end of a poll", "begin of a poll", "end of a poll"];
    assert_eq!(asked.take(), expected.map(|when| format!("{when}: {INSIDE}")));
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    fn stop(&self) -> Result<(), String> {
        Err("no".to_owned())
    }
}

#[tokio::test]
async fn l19_of_a_stop_that_failed() {
    let (hooks, asked) = asked();
    let installed = hooks.install(Audit).unwrap();
    asked.hooks.set(hooks.clone()).unwrap();
    installed.uninstall().await.into_result().unwrap_err();
    assert_eq!(asked.take(), ["error: gone"]);
}
