//! Whether there is a connection, as the client's events say.

use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_nats::{ConnectOptions, Event};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::carrier::CarrierError;
use crate::log::logged;

/// The state of the connection: whether it is there, how often it was lost, and how often
/// messages that came were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    connected: bool,
    losses: u64,
    overruns: u64,
    /// Since when it is there again, where it was lost.
    since: Option<Instant>,
    /// Whether the client itself has ended, and connects no more.
    ended: bool,
}

/// Follows the connection of a client.
#[derive(Clone, Debug)]
pub(super) struct Connection(Arc<watch::Sender<State>>);

const ENDED: &str = "the NATS client has ended, and does not come back: nothing is called or served \
                     over it any more; join again, or end this process";

/// Kept by the client, and dropped with it: where its runtime is shut down, and where it breaks
/// on what it reads.
struct Ends(Weak<watch::Sender<State>>);

impl Drop for Ends {
    fn drop(&mut self) {
        let Some(state) = self.0.upgrade() else { return };
        state.send_modify(|state| {
            state.losses += 1;
            (state.connected, state.ended) = (false, true);
        });
        // No error: where the runtime is shut down, that may be as it should be.
        logged(|| tracing::warn!("{ENDED}"));
    }
}

impl Connection {
    pub(super) fn new() -> Self {
        // The client is asked for only once it is connected.
        let state = State { connected: true, losses: 0, overruns: 0, since: None, ended: false };
        Self(Arc::new(watch::channel(state).0))
    }

    /// The options of a client that is followed.
    pub(super) fn observing(&self, options: ConnectOptions) -> ConnectOptions {
        let ends = Ends(Arc::downgrade(&self.0));
        options.event_callback(move |event| {
            // Without it nobody asks any more.
            if let Some(state) = ends.0.upgrade() {
                hear(&state, &event);
            }
            async {}
        })
    }

    /// Waits until there is a connection, not longer than that, nor where there will be none.
    /// The result ends when it is lost.
    pub(super) async fn ready(
        &self,
        deadline: Instant,
    ) -> Result<impl Future<Output = ()> + Send + 'static, CarrierError> {
        let mut state = self.0.subscribe();
        let losses = {
            let is_known = state.wait_for(|state| state.connected || state.ended);
            let known = timeout_at(deadline, is_known).await.ok().and_then(Result::ok);
            known.filter(|state| state.connected).map(|state| state.losses)
        };
        let losses = losses.ok_or(CarrierError::Unreachable)?;
        Ok(async move {
            let _ = state.wait_for(|state| state.losses != losses).await;
        })
    }

    /// Ends when the connection has been lost more often than that.
    pub(super) async fn lost_since(&self, losses: u64) {
        let mut state = self.0.subscribe();
        let _ = state.wait_for(|state| state.losses != losses).await;
    }

    /// Whether there is a connection.
    pub(super) fn is_there(&self) -> bool {
        self.0.borrow().connected
    }

    /// How often messages were dropped so far, because they came too fast.
    pub(super) fn overruns(&self) -> u64 {
        self.0.borrow().overruns
    }

    /// How long the connection is there again, where it was lost.
    pub(super) fn age(&self) -> Option<Duration> {
        self.0.borrow().since.map(|since| since.elapsed())
    }

    /// How often the connection was lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.0.borrow().losses
    }
}

fn hear(state: &watch::Sender<State>, event: &Event) {
    match event {
        Event::Connected => {
            let is_back = state.send_if_modified(|state| {
                let is_back = !std::mem::replace(&mut state.connected, true);
                state.since = if is_back { Some(Instant::now()) } else { state.since };
                is_back
            });
            if is_back {
                tracing::info!("the connection to the NATS server is there again");
            }
        }
        Event::Disconnected | Event::Closed => {
            state.send_modify(|state| {
                state.losses += 1;
                state.connected = false;
            });
            if *event == Event::Disconnected {
                tracing::warn!("the connection to the NATS server was lost");
            }
        }
        // Each attempt to connect again fails so: that it was lost is said already.
        Event::ClientError(_) if !state.borrow().connected => {
            tracing::debug!(%event, "the NATS server cannot be reached");
        }
        // Whoever waits for one of them runs into its limit.
        Event::SlowConsumer(_) => {
            state.send_modify(|state| state.overruns += 1);
            logged(
                || tracing::warn!(%event, "messages were dropped: they came faster than they were taken"),
            );
        }
        Event::ServerError(_) | Event::ClientError(_) => {
            logged(|| tracing::warn!(%event, "the NATS connection has a problem"));
        }
        Event::LameDuckMode => logged(|| tracing::info!("the NATS server is about to leave")),
        Event::Draining => {}
    }
}
