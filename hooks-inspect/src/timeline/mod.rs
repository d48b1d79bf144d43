//! The fires that open pages see: one source feeds all of them, and none runs while no page
//! is open.

mod event;
mod source;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_runtime::HookRegistry;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::AbortHandle;

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
    pages: Mutex<Pages>,
}

/// The pages that are open, and the task that feeds them.
#[derive(Debug, Default)]
struct Pages {
    open: usize,
    pump: Option<AbortHandle>,
}

/// What the source has for the pages.
#[derive(Clone, Debug)]
enum Item {
    /// A fire, as JSON: written once for all pages.
    Fire(Arc<str>),
    /// So many fires were not seen.
    Missed(u64),
    /// There is nothing more to see.
    Ended(Arc<str>),
}

/// An open page: it has its place until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    timeline: Arc<Timeline>,
    receiver: broadcast::Receiver<Item>,
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
        let (hooks, pages) = (hooks.clone(), Mutex::default());
        Arc::new(Self { hooks, most, failures, sender, pages })
    }

    /// A place for a page, where one is free.
    pub(crate) fn watch(self: &Arc<Self>) -> Option<Watching> {
        let mut pages = self.pages();
        if pages.open >= self.most {
            return None;
        }
        pages.open += 1;
        // Before the source begins, so that its first fire is seen.
        let receiver = self.sender.subscribe();
        if pages.pump.as_ref().is_none_or(AbortHandle::is_finished) {
            let pump = pump(self.hooks.clone(), self.sender.clone(), self.failures.clone());
            pages.pump = Some(tokio::spawn(pump).abort_handle());
        }
        Some(Watching { timeline: Arc::clone(self), receiver })
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the fires of the source on to the pages.
async fn pump(hooks: HookRegistry, pages: broadcast::Sender<Item>, failures: Option<Failures>) {
    let mut source = match Source::open(&hooks) {
        Ok(source) => source,
        Err(error) => return drop(pages.send(Item::Ended(error.into()))),
    };
    loop {
        let next = tokio::time::timeout(COUNTED, source.next()).await;
        let missed = source.newly_missed();
        if missed > 0 {
            drop(pages.send(Item::Missed(missed)));
        }
        match next {
            Err(_) => {}
            Ok(Ok(fire)) => {
                if let Some(failures) = &failures {
                    failures.note_fire(&fire);
                }
                drop(pages.send(Item::Fire(FireEvent::from(&fire).to_json().into())));
            }
            Ok(Err(ended)) => return drop(pages.send(Item::Ended(ended.into()))),
        }
    }
}

impl Watching {
    /// What there is next: all that is there, up to a bound. `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        match self.receiver.recv().await {
            Ok(item) => batch.add(item),
            Err(RecvError::Lagged(missed)) => batch.missed += missed,
            Err(RecvError::Closed) => return None,
        }
        while batch.fires.len() < BATCH && batch.ended.is_none() {
            match self.receiver.try_recv() {
                Ok(item) => batch.add(item),
                Err(TryRecvError::Lagged(missed)) => batch.missed += missed,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        Some(batch)
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
    fn add(&mut self, item: Item) {
        match item {
            Item::Fire(fire) => self.fires.push(fire),
            Item::Missed(missed) => self.missed += missed,
            Item::Ended(why) => self.ended = Some(why),
        }
    }

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
