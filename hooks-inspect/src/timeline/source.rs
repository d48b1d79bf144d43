//! Where the fires come from: the events of an observer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire};
use hooks_runtime::report::HandlerStatus;
use tokio::sync::mpsc;

use super::event::{FireEvent, HandlerRow, MOST_ROWS};
use crate::text::{nanoseconds, shortened, unix_ms};

const BUFFER: usize = 1_024;

/// An observer's end of the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feed(Arc<Mutex<Option<Open>>>, Arc<AtomicU64>);

#[derive(Debug)]
struct Open {
    sender: mpsc::Sender<FireEvent>,
    rows: HashMap<u64, Vec<HandlerRow>>,
}

/// The fires, one by one.
#[derive(Debug)]
pub(super) struct Source {
    receiver: mpsc::Receiver<FireEvent>,
    feed: Feed,
    counted: u64,
}

impl Source {
    pub(super) fn open(feed: &Feed) -> Result<Self, String> {
        let (sender, receiver) = mpsc::channel(BUFFER);
        let mut open = feed.0.lock().unwrap_or_else(PoisonError::into_inner);
        *open = Some(Open { sender, rows: HashMap::new() });
        Ok(Self { receiver, feed: feed.clone(), counted: feed.1.load(Ordering::Relaxed) })
    }

    /// The next fire, or why there is none any more.
    pub(super) async fn next(&mut self) -> Result<FireEvent, String> {
        self.receiver.recv().await.ok_or_else(|| "the registry is gone".to_owned())
    }

    /// How many fires were missed since this was asked last.
    pub(super) fn newly_missed(&mut self) -> u64 {
        let all = self.feed.1.load(Ordering::Relaxed);
        all - std::mem::replace(&mut self.counted, all)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        *self.feed.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Feed {
    pub(crate) fn row(&self, call: &ObservedCall<'_>, status: &HandlerStatus, took: Option<Duration>) {
        if let Some(open) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let handler = (call.fire().point(), &call.owner(), call.handler());
            let row = HandlerRow::new(handler, status, took.map(nanoseconds), Vec::new());
            open.rows.entry(call.fire().id()).or_default().push(row);
        }
    }

    pub(crate) fn ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, took: Duration) {
        if let Some(open) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let mut handlers = open.rows.remove(&fire.id()).unwrap_or_default();
            let more = handlers.len().saturating_sub(MOST_ROWS) as u64;
            handlers.truncate(MOST_ROWS);
            let error = match end {
                FireEnd::Failed(error) => Some(shortened(&error.to_string())),
                FireEnd::FlowFailed(text) => Some(shortened(text)),
                _ => None,
            };
            let event = FireEvent {
                id: fire.id(),
                run: fire.run(),
                parent: None,
                depth: fire.depth() as u64,
                point: fire.point(),
                model: fire.model().to_string(),
                outcome: end.as_str(),
                error,
                at_ms: unix_ms(SystemTime::now() - took),
                took_ns: nanoseconds(took),
                handlers,
                more,
                break_glass: 0,
            };
            if open.sender.try_send(event).is_err() {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
