//! A copy of a registry, for a replay.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::engine::raw::ErasedHandler;
use crate::json::JsonPoint;
use crate::observe::Observer;
use crate::point::PointDescriptor;
use crate::record::RawAnswer;
use crate::registry::entry::Entry;
use crate::registry::store::Copied;
use crate::registry::{HookRegistry, Inner, RegistryConfig};
use crate::timer::now;

/// What a copy asks the replay that it is for, besides what observers are notified of.
pub(crate) trait ForReplay: fmt::Debug + Send + Sync {
    /// The number of the fire that a fire is the replay of: samples are taken by it.
    fn number(&self, fire: u64) -> u64;

    /// How answers at that point are made into JSON.
    fn json(&self, point: &PointDescriptor) -> Option<JsonPoint>;

    /// A fire that is nested in another begins with that payload.
    fn begun(&self, fire: u64, payload: Value);

    /// What a handler answered, before its call ends.
    fn answered(&self, fire: u64, entry: &Entry, answer: RawAnswer);
}

/// What a copy has in the place of a handler.
pub(crate) enum Stand {
    /// This, and whether it leaves with its first call.
    As { handler: ErasedHandler, once: bool },
    /// Nothing: as if it had never been registered.
    Absent,
}

impl Inner {
    /// A registry of its own with the handlers, the order and the settings of this
    /// one at this instant. What happens in it is counted and observed there alone.
    ///
    /// `stand` is asked for each handler, outside of the lock.
    pub(crate) fn copy<O: Observer + ForReplay>(
        &self,
        observer: &Arc<O>,
        mut stand: impl FnMut(&Entry) -> Stand,
    ) -> HookRegistry {
        let RegistryConfig { timeout, depth, timer, .. } = &self.config;
        let at = now(&**timer);
        let (mut entries, settings) = {
            let store = self.store();
            (store.entries(), store.settings.copied(at))
        };
        // In the order in which they were registered, which decides among equals.
        entries.sort_unstable_by_key(|entry| entry.seq);
        let mut copies = Vec::with_capacity(entries.len());
        for of in entries {
            if let Stand::As { handler, once } = stand(&of) {
                copies.push(Copied { of, handler, once });
            }
        }
        let copy = HookRegistry::new_with(RegistryConfig {
            timeout: *timeout,
            depth: *depth,
            #[cfg(feature = "tokio")]
            max_background: self.config.max_background,
            timer: Arc::clone(timer),
            observers: vec![Arc::clone(observer) as _],
            replay: Some(Arc::clone(observer) as _),
        });
        let commit = {
            let mut store = copy.inner.store();
            let points = store.register_copies(copies).points;
            store.settings = settings;
            copy.inner.publish_settings(&mut store, points.into_iter())
        };
        drop(commit);
        copy
    }
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use serde_json::Value;

    use super::{ForReplay, Stand};
    use crate::engine::raw::HandlerCell;
    use crate::json::JsonPoint;
    use crate::observe::Observer;
    use crate::point::PointDescriptor;
    use crate::record::RawAnswer;
    use crate::registry::entry::Entry;
    use crate::{HookRegistry, hook_points, on};

    hook_points! {
        /// A page is tagged.
        pub(crate) modifying Tagging { page: u32 } -> { title: String }
    }

    #[derive(Debug)]
    struct Quiet;

    impl Observer for Quiet {}

    impl ForReplay for Quiet {
        fn number(&self, fire: u64) -> u64 {
            fire
        }

        fn json(&self, _: &PointDescriptor) -> Option<JsonPoint> {
            None
        }

        fn begun(&self, _: u64, _: Value) {}

        fn answered(&self, _: u64, _: &Entry, _: RawAnswer) {}
    }

    fn copy(hooks: &HookRegistry) -> HookRegistry {
        let stand = |entry: &_| match HandlerCell::share(entry) {
            Some(handler) => Stand::As { handler, once: false },
            None => Stand::Absent,
        };
        hooks.inner.copy(&Arc::new(Quiet), stand)
    }

    fn order(hooks: &HookRegistry) -> Vec<String> {
        hooks.explain_order::<Tagging>().iter().map(|it| it.handler.to_string()).collect()
    }

    /// L38: a copy has the handlers and their order, and what happens in it changes
    /// nothing of what it was copied from.
    #[test]
    fn l38_a_copy_calls_the_same_handlers_and_counts_for_itself() {
        let hooks = HookRegistry::new();
        let named = |name: &'static str| on::<Tagging>().name(name).plugin("themes");
        let titled = |title: &'static str| {
            move |_: &TaggingPayload| TaggingResult { title: Some(title.into()) }
        };
        hooks.register(named("late").priority(5).handler(titled("late"))).unwrap();
        hooks.register(named("first").before("early").handler(titled("first"))).unwrap();
        hooks.register(named("early").priority(-1).handler(titled("early"))).unwrap();
        hooks.register(on::<Tagging>().handler(titled("by place"))).unwrap();
        hooks.register(named("late").replace().handler(titled("late again"))).unwrap();
        let operator = hooks.operator();
        let setting = operator.disable("tagging:themes/first").apply().unwrap();

        let copied = copy(&hooks);
        assert_eq!(order(&copied), order(&hooks));
        let mut fire = pin!(copied.fire_modifying::<Tagging>(&TaggingPayload { page: 1 }));
        let Poll::Ready(tagged) = fire.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            panic!("no handler waits")
        };
        assert_eq!(tagged.unwrap().title.as_deref(), Some("early"));
        let calls = |hooks: &HookRegistry| hooks.handlers().iter().map(|it| it.calls).sum::<u64>();
        assert_eq!((calls(&copied), calls(&hooks)), (3, 0));
        assert_eq!(setting.applied(), 0);
    }

    /// L38, L19: a removal that is awaited waits for what copies still have.
    #[test]
    fn l38_a_removal_waits_for_the_copies() {
        let hooks = HookRegistry::new();
        let (state, alive) = {
            let state = Arc::new(());
            (Arc::clone(&state), Arc::downgrade(&state))
        };
        let keeps = move |_: &TaggingPayload| {
            assert_eq!(*state, ());
            None::<TaggingResult>
        };
        hooks.register(on::<Tagging>().plugin("themes").handler(keeps)).unwrap();
        let (one, two) = (copy(&hooks), copy(&hooks));
        let mut removal = pin!(hooks.unregister_plugin("themes").into_future());
        let mut poll = || removal.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        drop(one);
        assert!(poll().is_pending() && alive.upgrade().is_some());
        drop(two);
        assert!(alive.upgrade().is_none());
        assert!(poll().is_ready());
        assert!(order(&copy(&hooks)).is_empty());
    }
}
