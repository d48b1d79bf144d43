//! Requests that come in, cancellations and pings.

use std::sync::Arc;

use async_nats::{Client, Subject, Subscriber};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use tokio::task::AbortHandle;

use super::{Inner, headers, other, received};
use crate::carrier::{Cancellations, CarrierError, Inbound, Message, Requests};
use crate::wire::subject::{self, Route, token};

/// Subscribes; when this returns, the server knows.
pub(super) async fn serve(
    nats: &Arc<Inner>,
    route: &Route,
) -> Result<Box<dyn Requests>, CarrierError> {
    let group = token(&route.service);
    let subscriber = nats.client.queue_subscribe(route.request(), group).await.map_err(other)?;
    nats.client.flush().await.map_err(other)?;
    Ok(Box::new(NatsRequests { client: nats.client.clone(), subscriber }))
}

struct NatsRequests {
    client: Client,
    subscriber: Subscriber,
}

impl Requests for NatsRequests {
    fn next(&mut self) -> BoxFuture<'_, Option<Inbound>> {
        async move {
            loop {
                let mut message = self.subscriber.next().await?;
                // Without a subject for the reply none is expected.
                let Some(to) = message.reply.take().filter(is_inbox) else { continue };
                let client = self.client.clone();
                let reply = move |reply: Message| {
                    async move {
                        let Message { headers: names, body } = reply;
                        let sent = if names.is_empty() {
                            client.publish(to, body.into()).await
                        } else {
                            client.publish_with_headers(to, headers(names), body.into()).await
                        };
                        sent.map_err(other)
                    }
                    .boxed()
                };
                return Some(Inbound { message: received(message), reply: Box::new(reply) });
            }
        }
        .boxed()
    }

    fn drain(&mut self) -> BoxFuture<'_, ()> {
        // A connection that is gone has nothing to drain.
        async move { drop(self.subscriber.drain().await) }.boxed()
    }
}

/// Whether a reply may go there. The server lets a process reply to whatever subject it was
/// given: one who asks must not have it write to the server's own, or to those of this crate.
fn is_inbox(subject: &Subject) -> bool {
    !subject.starts_with('$') && !subject.starts_with("hooks.")
}

pub(super) async fn cancellations(
    nats: &Arc<Inner>,
    service: &str,
) -> Result<Box<dyn Cancellations>, CarrierError> {
    let subscribed = nats.client.subscribe(subject::cancel(service)).await;
    Ok(Box::new(NatsCancellations(subscribed.map_err(other)?)))
}

struct NatsCancellations(Subscriber);

impl Cancellations for NatsCancellations {
    fn next(&mut self) -> BoxFuture<'_, Option<String>> {
        async move {
            let message = self.0.next().await?;
            Some(String::from_utf8_lossy(&message.payload).into_owned())
        }
        .boxed()
    }
}

/// Answers pings until the result is dropped.
pub(super) async fn answer_pings(
    nats: &Arc<Inner>,
    subject: String,
) -> Result<Box<dyn Send + Sync>, CarrierError> {
    let mut subscriber = nats.client.subscribe(subject).await.map_err(other)?;
    nats.client.flush().await.map_err(other)?;
    let client = nats.client.clone();
    let task = tokio::spawn(async move {
        while let Some(ping) = subscriber.next().await {
            if let Some(to) = ping.reply.filter(is_inbox) {
                // Whoever asks again hears it the next time.
                drop(client.publish(to, "pong".into()).await);
            }
        }
    });
    Ok(Box::new(Answering(task.abort_handle())))
}

struct Answering(AbortHandle);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.abort();
    }
}
