//! Durable messages, in memory.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use super::LocalNetwork;
use crate::carrier::{DeadLetter, Deliveries, Delivery, Message, Settled, UNSETTLED};
use crate::presence::later;
use crate::wire::subject::Route;

#[derive(Default)]
pub(super) struct Queue {
    ids: HashSet<String>,
    /// When each id came, the oldest first.
    came: VecDeque<(Instant, String)>,
    waiting: VecDeque<Stored>,
}

/// How long the ids of messages are remembered, as by the streams of a server.
const DUPLICATES: Duration = Duration::from_mins(2);

impl Queue {
    /// Keeps a message, unless it is one that was kept before.
    pub(super) fn store(&mut self, id: &str, message: Message) {
        if self.remember(id) {
            let not_before = Instant::now();
            self.waiting.push_back(Stored { message, attempt: 1, not_before });
        }
    }

    /// Whether that id is new.
    fn remember(&mut self, id: &str) -> bool {
        let now = Instant::now();
        while self.came.front().is_some_and(|(came, _)| now - *came >= DUPLICATES) {
            if let Some((_, old)) = self.came.pop_front() {
                self.ids.remove(&old);
            }
        }
        let is_new = self.ids.insert(id.to_owned());
        if is_new {
            self.came.push_back((now, id.to_owned()));
        }
        is_new
    }
}

struct Stored {
    message: Message,
    attempt: u32,
    not_before: Instant,
}

pub(super) struct LocalDeliveries {
    network: LocalNetwork,
    route: Route,
    attempts: u32,
}

impl LocalDeliveries {
    pub(super) fn new(network: &LocalNetwork, route: &Route, attempts: u32) -> Self {
        Self { network: network.clone(), route: route.clone(), attempts }
    }

    /// The first message that may be delivered, or when one may be.
    fn ready(&self) -> Result<Stored, Option<Instant>> {
        let mut state = self.network.state();
        let Some(queue) = state.queues.get_mut(&self.route.durable()) else { return Err(None) };
        let now = Instant::now();
        match queue.waiting.iter().position(|stored| stored.not_before <= now) {
            Some(at) => queue.waiting.remove(at).ok_or(None),
            None => Err(queue.waiting.iter().map(|stored| stored.not_before).min()),
        }
    }
}

/// A delivery that is not settled. One that is dropped, with its process, is delivered again, as
/// often as it may be.
struct Taken {
    network: LocalNetwork,
    route: Route,
    attempts: u32,
    stored: Option<Stored>,
}

impl Taken {
    fn settle(&mut self, settled: Settled) {
        let Some(mut stored) = self.stored.take() else { return };
        let (mut state, route) = (self.network.state(), &self.route);
        match settled {
            Settled::Done => {}
            Settled::Again(delay) => {
                stored.attempt += 1;
                stored.not_before = later(Instant::now(), delay);
                state.queues.entry(route.durable()).or_default().waiting.push_back(stored);
            }
            Settled::Dead(why) => {
                let Stored { message, attempt: attempts, .. } = stored;
                state.dead.push(DeadLetter { subject: route.dead(), why, attempts, message });
            }
        }
        drop(state);
        self.network.0.stored.notify_waiters();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let is_last = self.stored.as_ref().is_some_and(|it| it.attempt >= self.attempts);
        self.settle(if is_last {
            Settled::Dead(UNSETTLED.to_owned())
        } else {
            Settled::Again(Duration::ZERO)
        });
    }
}

impl Deliveries for LocalDeliveries {
    fn next(&mut self) -> BoxFuture<'_, Option<Delivery>> {
        async move {
            loop {
                let notified = self.network.0.stored.notified();
                let mut notified = std::pin::pin!(notified);
                notified.as_mut().enable();
                match self.ready() {
                    Ok(stored) => {
                        let (message, attempt) = (stored.message.clone(), stored.attempt);
                        let (network, route) = (self.network.clone(), self.route.clone());
                        let (attempts, stored) = (self.attempts, Some(stored));
                        let mut taken = Taken { network, route, attempts, stored };
                        let settle = move |settled| {
                            taken.settle(settled);
                            async { Ok(()) }.boxed()
                        };
                        return Some(Delivery { message, attempt, settle: Box::new(settle) });
                    }
                    Err(None) => notified.await,
                    Err(Some(at)) => {
                        tokio::select! { () = notified => {}, () = sleep_until(at) => {} }
                    }
                }
            }
        }
        .boxed()
    }
}
