//! Whether there is a connection, as the client's events say.

use std::future::Future;

use async_nats::{ConnectOptions, Event};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::carrier::CarrierError;

/// The state of the connection: how often it was lost, and whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    losses: u64,
    connected: bool,
}

/// Follows the connection of a client.
#[derive(Clone, Debug)]
pub(super) struct Connection(watch::Sender<State>);

impl Connection {
    pub(super) fn new() -> Self {
        // The client is asked for only once it is connected.
        Self(watch::channel(State { losses: 0, connected: true }).0)
    }

    /// The options of a client that is followed.
    pub(super) fn observing(&self, options: ConnectOptions) -> ConnectOptions {
        let state = self.0.clone();
        options.event_callback(move |event| {
            match &event {
                Event::Connected => drop(
                    state.send_if_modified(|state| !std::mem::replace(&mut state.connected, true)),
                ),
                Event::Disconnected | Event::Closed => drop(state.send_if_modified(|state| {
                    state.losses += 1;
                    state.connected = false;
                    true
                })),
                // Messages were dropped: whoever waits for one of them runs into its limit.
                Event::SlowConsumer(_) | Event::ServerError(_) => {
                    tracing::warn!(%event, "the NATS server complains");
                }
                _ => {}
            }
            async {}
        })
    }

    /// Waits until there is a connection, not longer than that. The result ends when it is
    /// lost.
    pub(super) async fn ready(
        &self,
        deadline: Instant,
    ) -> Result<impl Future<Output = ()> + Send + 'static, CarrierError> {
        let mut state = self.0.subscribe();
        let losses = {
            let connected = timeout_at(deadline, state.wait_for(|state| state.connected)).await;
            connected.ok().and_then(Result::ok).map(|state| state.losses)
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

    /// How often the connection was lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.0.borrow().losses
    }
}
