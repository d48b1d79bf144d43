//! The calls under way, and how they end before their time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Server;
use super::request::refused;
use crate::carrier::Cancellations;
use crate::wire::{RefusalReason, ReplyOutcome};

/// How long a cancellation is kept whose call has not begun: they come by two ways, and either
/// may be the faster one.
const KEPT: Duration = Duration::from_secs(5);

/// The most of them that are kept, and the longest.
const MAX_EARLY: usize = 1_024;
const MAX_LENGTH: usize = 256;

/// How calls under way are ended, by their attempts.
#[derive(Default)]
pub(super) struct Cancels(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    running: HashMap<String, oneshot::Sender<&'static str>>,
    /// Cancelled before they began.
    early: HashMap<String, Instant>,
    /// Whether this process serves no more.
    is_over: bool,
}

impl Cancels {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt, with what ends it before its time and says why; or says why it does
    /// not begin.
    pub(super) fn enter(
        &self,
        attempt: String,
    ) -> Result<(UnderWay<'_>, oneshot::Receiver<&'static str>), ReplyOutcome> {
        let mut calls = self.lock();
        if calls.is_over {
            return Err(refused(RefusalReason::Draining, "it serves no more"));
        }
        if calls.early.remove(&attempt).is_some_and(|at| at.elapsed() < KEPT) {
            return Err(refused(RefusalReason::Expired, "it was cancelled before it began"));
        }
        let (cancel, cancelled) = oneshot::channel();
        // One that came twice runs once.
        match calls.running.entry(attempt.clone()) {
            Entry::Occupied(_) => {
                let message = "that attempt of the call is under way already";
                return Err(refused(RefusalReason::Malformed, message));
            }
            Entry::Vacant(place) => drop(place.insert(cancel)),
        }
        Ok((UnderWay { cancels: self, attempt }, cancelled))
    }

    fn cancel(&self, attempt: String) {
        let mut calls = self.lock();
        if let Some(cancel) = calls.running.remove(&attempt) {
            drop(calls);
            let _ = cancel.send("the call was cancelled");
            return;
        }
        if calls.early.len() >= MAX_EARLY {
            calls.early.retain(|_, at| at.elapsed() < KEPT);
        }
        if attempt.len() <= MAX_LENGTH && calls.early.len() < MAX_EARLY {
            calls.early.insert(attempt, Instant::now());
        }
    }

    /// Ends all that are under way, and lets none begin.
    pub(super) fn end(&self) {
        let running = {
            let mut calls = self.lock();
            calls.is_over = true;
            std::mem::take(&mut calls.running)
        };
        for cancel in running.into_values() {
            let _ = cancel.send("its process serves no more");
        }
    }
}

/// An attempt that can be cancelled, as long as it runs.
pub(super) struct UnderWay<'c> {
    cancels: &'c Cancels,
    attempt: String,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.cancels.lock().running.remove(&self.attempt);
    }
}

/// Ends the calls that were cancelled.
pub(super) async fn follow(server: Arc<Server>, mut cancellations: Box<dyn Cancellations>) {
    while let Some(attempt) = cancellations.next().await {
        server.cancels.cancel(attempt);
    }
}
