//! Plugins replaced and removed while other threads fire: each fire sees one
//! version whole (L18), and none of a plugin that is gone (L19).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use futures::executor::block_on;
use hooks_runtime::{HookRegistry, hook_handlers, hook_points};

hook_points! {
    /// Which version says what.
    pub modifying Quote { n: u32 } -> { first: u64, second: u64, third: u64 }
    /// Heard by several at once.
    pub void Shout { n: u32 }
}

const QUOTE: QuotePayload = QuotePayload { n: 1 };
const SHOUT: ShoutPayload = ShoutPayload { n: 1 };

const FIRING: usize = 3;
const VERSIONS: u64 = 2000;

/// Gives way in the middle, to let others in between.
struct Versioned {
    version: u64,
    heard: Arc<[AtomicU64; 2]>,
}

#[hook_handlers(plugin = "versioned")]
impl Versioned {
    #[hook_handler(Quote)]
    fn first(&self, _: &QuotePayload) -> QuoteResult {
        QuoteResult { first: Some(self.version), ..Default::default() }
    }

    #[hook_handler(Quote)]
    async fn second(&self, _: &QuotePayload) -> QuoteResult {
        yields().await;
        QuoteResult { second: Some(self.version), ..Default::default() }
    }

    #[hook_handler(Quote, priority = 7)]
    fn third(&self, _: &QuotePayload) -> QuoteResult {
        QuoteResult { third: Some(self.version), ..Default::default() }
    }

    #[hook_handler(Shout)]
    async fn left(&self, _: &ShoutPayload) {
        yields().await;
        self.heard[0].fetch_add(1, Ordering::SeqCst);
    }

    #[hook_handler(Shout)]
    fn right(&self, _: &ShoutPayload) {
        self.heard[1].fetch_add(1, Ordering::SeqCst);
    }
}

/// Gives way once.
async fn yields() {
    let mut first = true;
    std::future::poll_fn(|task| {
        if std::mem::take(&mut first) {
            task.waker().wake_by_ref();
            std::thread::yield_now();
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(())
    })
    .await;
}

#[test]
fn l18_a_fire_sees_one_version_whole_whatever_replaces_it_meanwhile() {
    let hooks = HookRegistry::new();
    let heard = Arc::new([const { AtomicU64::new(0) }; 2]);
    let versioned = |version| Versioned { version, heard: Arc::clone(&heard) };
    let mut installed = hooks.install(versioned(0)).unwrap();
    let (start, stop) = (Barrier::new(FIRING + 1), AtomicBool::new(false));
    let shouts = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..FIRING {
            threads.spawn(|| {
                start.wait();
                let mut seen = 0;
                loop {
                    let last = stop.load(Ordering::SeqCst);
                    let quote = block_on(hooks.fire_modifying::<Quote>(&QUOTE)).unwrap();
                    let version = quote.first.expect("there is always a version");
                    assert_eq!((quote.second, quote.third), (Some(version), Some(version)));
                    assert!(version >= seen, "an old version came back");
                    seen = version;
                    block_on(hooks.fire_void::<Shout>(&SHOUT)).unwrap();
                    shouts.fetch_add(1, Ordering::SeqCst);
                    if last {
                        // A fire that starts after the last replacement sees that version.
                        assert_eq!(version, VERSIONS);
                        break;
                    }
                }
            });
        }
        start.wait();
        for version in 1..=VERSIONS {
            // Uninstalling the old version would stop it in fires under way.
            installed = hooks.install_or_replace(versioned(version)).unwrap();
        }
        stop.store(true, Ordering::SeqCst);
    });
    // Both handlers of one version were called once for every shout.
    let shouts = shouts.load(Ordering::SeqCst);
    assert!(shouts >= FIRING as u64);
    assert_eq!(heard.each_ref().map(|count| count.load(Ordering::SeqCst)), [shouts; 2]);
    block_on(installed.uninstall().into_future()).into_result().unwrap();
    assert_eq!(hooks.handlers().len(), 0);
}

/// Panics when it is called after the end of the wait for its removal.
struct Mortal {
    gone: Arc<AtomicBool>,
}

#[hook_handlers(plugin = "mortal")]
impl Mortal {
    #[hook_handler(Shout)]
    async fn lives(&self, _: &ShoutPayload) {
        assert!(!self.gone.load(Ordering::SeqCst), "called after its removal");
        yields().await;
        assert!(!self.gone.load(Ordering::SeqCst), "ran on after its removal");
    }

    #[hook_handler(Shout)]
    fn dies(&self, _: &ShoutPayload) {
        assert!(!self.gone.load(Ordering::SeqCst), "called after its removal");
    }
}

#[test]
fn l19_once_removed_and_waited_for_nothing_of_it_runs() {
    let hooks = HookRegistry::new();
    let (start, stop) = (Barrier::new(FIRING + 1), AtomicBool::new(false));
    let failures = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..FIRING {
            threads.spawn(|| {
                start.wait();
                while !stop.load(Ordering::SeqCst) {
                    let (_, report) = block_on(hooks.fire_void_reported::<Shout>(&SHOUT));
                    let failed = |row: &&hooks_runtime::report::HandlerReport| {
                        matches!(row.status(), hooks_runtime::report::HandlerStatus::Failed { .. })
                    };
                    let failed = report.handlers().iter().filter(failed).count();
                    failures.fetch_add(failed as u64, Ordering::SeqCst);
                }
            });
        }
        start.wait();
        for _ in 0..VERSIONS {
            let gone = Arc::new(AtomicBool::new(false));
            let mortal = hooks.install(Mortal { gone: Arc::clone(&gone) }).unwrap();
            std::thread::yield_now();
            block_on(mortal.uninstall().into_future()).into_result().unwrap();
            gone.store(true, Ordering::SeqCst);
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(failures.load(Ordering::SeqCst), 0);
}
