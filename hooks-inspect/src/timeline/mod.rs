//! The fires that open pages see: one source feeds all of them, and none runs while no page
//! is open.

mod event;
mod source;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_runtime::HookRegistry;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinHandle;

use crate::failures::Failures;

pub(crate) use event::FireEvent;
use source::Source;

/// How many fires a page may be behind before it misses some.
const BUFFER: usize = 1_024;
/// How many fires go out in one message.
const BATCH: usize = 256;
/// How often the fires that were missed are counted where none is seen.
const COUNTED: Duration = Duration::from_millis(500);

/// The fires that open pages see.
pub(crate) struct Timeline {
    hooks: HookRegistry,
    most: usize,
    /// Where the failures of the fires go that are seen, if no observer keeps them.
    failures: Option<Failures>,
    sender: broadcast::Sender<Item>,
    /// How many fires there were while pages were open.
    total: Arc<AtomicU64>,
    pages: Mutex<Pages>,
}

/// The pages that are open, and the task that feeds them.
#[derive(Debug, Default)]
struct Pages {
    open: usize,
    pump: Option<JoinHandle<()>>,
}

/// What the source has for the pages.
#[derive(Clone, Debug)]
struct Item {
    what: What,
    /// How many fires there were up to this one, also those that the source missed: a page
    /// that misses items still knows how many fires it missed with them.
    total: u64,
}

#[derive(Clone, Debug)]
enum What {
    /// A fire, as JSON: written once for all pages.
    Fire(Arc<str>),
    /// Fires were missed, and none was seen since.
    Missed,
    /// There is nothing more to see.
    Ended(Arc<str>),
}

/// An open page: it has its place until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    timeline: Arc<Timeline>,
    receiver: broadcast::Receiver<Item>,
    /// How many fires there were up to what it has taken.
    total: u64,
}

/// What a page is sent at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Each as JSON.
    pub(crate) fires: Vec<Arc<str>>,
    /// How many more there were, which this page did not see.
    pub(crate) missed: u64,
    /// Why there will be no more.
    pub(crate) ended: Option<Arc<str>>,
}

impl Timeline {
    pub(crate) fn new(hooks: &HookRegistry, most: usize, failures: Option<Failures>) -> Arc<Self> {
        let (sender, _) = broadcast::channel(BUFFER);
        let (hooks, total, pages) = (hooks.clone(), Arc::default(), Mutex::default());
        Arc::new(Self { hooks, most, failures, sender, total, pages })
    }

    /// A place for a page, where one is free.
    pub(crate) fn watch(self: &Arc<Self>) -> Option<Watching> {
        let mut pages = self.pages();
        if pages.open >= self.most {
            return None;
        }
        pages.open += 1;
        // Before the source begins, so that its first fire is seen.
        let (receiver, total) = (self.sender.subscribe(), self.total.load(Ordering::Relaxed));
        if pages.pump.as_ref().is_none_or(JoinHandle::is_finished) {
            let pump = Pump {
                pages: self.sender.clone(),
                total: Arc::clone(&self.total),
                failures: self.failures.clone(),
            };
            pages.pump = Some(tokio::spawn(pump.run(self.hooks.clone())));
        }
        Some(Watching { timeline: Arc::clone(self), receiver, total })
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the fires of the source on to the pages.
struct Pump {
    pages: broadcast::Sender<Item>,
    total: Arc<AtomicU64>,
    failures: Option<Failures>,
}

impl Pump {
    async fn run(self, hooks: HookRegistry) {
        let mut source = match Source::open(&hooks) {
            Ok(source) => source,
            Err(error) => return self.send(What::Ended(error.into()), 0),
        };
        drop(hooks);
        loop {
            let next = tokio::time::timeout(COUNTED, source.next()).await;
            let missed = source.newly_missed();
            match next {
                Err(_) if missed == 0 => {}
                Err(_) => self.send(What::Missed, missed),
                Ok(Ok(fire)) => {
                    if let Some(failures) = &self.failures {
                        failures.note_fire(&fire);
                    }
                    let json = FireEvent::from(&fire).to_json();
                    self.send(What::Fire(json.into()), missed + 1);
                }
                Ok(Err(ended)) => return self.send(What::Ended(ended.into()), missed),
            }
        }
    }

    /// Sends what comes with so many fires more.
    fn send(&self, what: What, fires: u64) {
        let total = self.total.fetch_add(fires, Ordering::Relaxed) + fires;
        // An error is that no page is open, which ends this task.
        drop(self.pages.send(Item { what, total }));
    }
}

impl Watching {
    /// What there is next: all that is there, up to a bound. `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        loop {
            match self.receiver.recv().await {
                Ok(item) => break self.add(item, &mut batch),
                // The item behind those that were missed says how many fires there were.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
        while batch.fires.len() < BATCH && batch.ended.is_none() {
            match self.receiver.try_recv() {
                Ok(item) => self.add(item, &mut batch),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        Some(batch)
    }

    fn add(&mut self, Item { what, total }: Item, batch: &mut Batch) {
        let more = total.saturating_sub(self.total);
        self.total = self.total.max(total);
        match what {
            What::Fire(fire) => {
                batch.missed += more.saturating_sub(1);
                batch.fires.push(fire);
            }
            What::Missed => batch.missed += more,
            What::Ended(why) => batch.ended = Some(why),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut pages = self.timeline.pages();
        pages.open -= 1;
        if pages.open == 0
            && let Some(pump) = pages.pump.take()
        {
            pump.abort();
        }
    }
}

impl Batch {
    /// As the data of an event: of one line.
    pub(crate) fn to_json(&self) -> String {
        let ended = serde_json::to_string(&self.ended.as_deref()).unwrap_or_default();
        let Self { fires, missed, .. } = self;
        format!(r#"{{"fires":[{}],"missed":{missed},"ended":{ended}}}"#, fires.join(","))
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline").field("most", &self.most).finish_non_exhaustive()
    }
}
