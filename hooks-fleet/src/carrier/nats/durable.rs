//! Durable messages, in a JetStream.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::message::{AckKind, Acker, PublishMessage};
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, RawMessageErrorKind, RetentionPolicy, StorageType, Stream,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout_at};

use super::{Inner, as_subject, headers, names_and_values, other};
use crate::carrier::{CarrierError, DeadLetter, Deliveries, Delivery, Message, Settled, UNSETTLED};
use crate::log::logged;
use crate::presence::later;
use crate::wire::subject::{Route, token};

/// The stream of messages that are to be handled, and that of those that were given up.
const STREAM: &str = "HOOKS_VOID";
const DEAD: &str = "HOOKS_DEAD";

/// What the server says of a message that was delivered as often as it may be, and that no
/// process has settled.
const GIVEN_UP: &str = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.HOOKS_VOID.>";

/// How long the ids of messages are remembered.
const DUPLICATES: Duration = Duration::from_mins(2);

/// What a dead letter says in its headers.
const WHY: &str = "Hook-Dead-Why";
const ATTEMPTS: &str = "Hook-Dead-Attempts";

/// How much larger than its message a dead letter may be, and the longest reason in it.
const LETTER: usize = 2_048;
const LONGEST_WHY: usize = 1_024;

/// The server counts in nanoseconds, and not further.
const LONGEST_DELAY: Duration = Duration::from_nanos(i64::MAX.unsigned_abs());

/// How long is waited before what failed is tried again.
const PAUSE: Duration = Duration::from_millis(250);

fn config(nats: &Inner) -> Config {
    Config {
        name: STREAM.to_owned(),
        subjects: vec!["hooks.void.>".to_owned()],
        // With `interest` or `workqueue` the ids of settled messages are forgotten when the
        // server restarts.
        retention: RetentionPolicy::Limits,
        max_age: nats.options.durable_age,
        max_bytes: nats.options.durable_bytes,
        // What cannot be kept is an error of the fire, and nothing is dropped for it.
        discard: DiscardPolicy::New,
        duplicate_window: DUPLICATES.min(nats.options.durable_age),
        storage: StorageType::File,
        num_replicas: nats.options.replicas,
        ..Config::default()
    }
}

/// The stream, with one for what is given up, which the first process makes.
pub(super) async fn stream(nats: &Inner) -> Result<Stream, CarrierError> {
    let dead = Config {
        name: DEAD.to_owned(),
        subjects: vec!["hooks.dead.>".to_owned(), GIVEN_UP.to_owned()],
        duplicate_window: DUPLICATES.min(nats.options.durable_age),
        max_age: nats.options.durable_age,
        storage: StorageType::File,
        num_replicas: nats.options.replicas,
        ..Config::default()
    };
    if nats.jetstream.get_stream(DEAD).await.is_err() {
        nats.create_stream(dead).await?;
    }
    let wanted = config(nats);
    let stream = match nats.jetstream.get_stream(STREAM).await {
        Ok(stream) => stream,
        Err(_) => nats.create_stream(wanted.clone()).await?,
    };
    // Servers leave out what they do not know without a word, and another process may have
    // made it otherwise.
    let found = &stream.cached_info().config;
    if found.subjects != wanted.subjects {
        let message =
            format!("the stream `{STREAM}` takes {:?}, not {:?}", found.subjects, wanted.subjects);
        return Err(CarrierError::Other(message));
    }
    if found.retention != wanted.retention || found.discard != wanted.discard {
        let message = format!(
            "the stream `{STREAM}` keeps {:?} and discards {:?}, so messages may be lost: it \
             needs {:?} and {:?}",
            found.retention, found.discard, wanted.retention, wanted.discard
        );
        return Err(CarrierError::Other(message));
    }
    Ok(stream)
}

pub(super) async fn store(
    nats: &Inner,
    route: &Route,
    id: &str,
    message: Message,
    limit: Duration,
) -> Result<(), CarrierError> {
    let deadline = later(Instant::now(), limit);
    // Given up, it must fit with what a dead letter says beside it.
    nats.check_size(&message, LETTER)?;
    // A message that was sent and not confirmed is sent again: its id makes it the same.
    let mut has_stream = true;
    loop {
        drop(nats.connection.ready(deadline).await?);
        if !has_stream {
            // Nobody may be allowed to make it: the error of the next attempt says so.
            drop(stream(nats).await);
        }
        let publish = PublishMessage::build()
            .payload(message.body.clone().into())
            .headers(headers(message.headers.clone()))
            .message_id(id);
        let publishing = async {
            let ack = nats.jetstream.send_publish(as_subject(route.durable()), publish).await?;
            ack.await
        };
        let error = match timeout_at(deadline, publishing).await {
            Err(_) => return Err(CarrierError::TimedOut),
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
        };
        match error.kind() {
            // Also for a moment while servers elect a leader.
            PublishErrorKind::StreamNotFound => has_stream = false,
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => {}
            _ => return Err(other(error)),
        }
        if Instant::now() + PAUSE >= deadline {
            return Err(other(error));
        }
        sleep(if has_stream { PAUSE } else { Duration::from_millis(20) }).await;
    }
}

/// The name of the consumer of a route. Tokens have no `==`.
fn consumer_name(route: &Route) -> String {
    [&route.service, &route.point, &route.handler].map(|part| token(part)).join("==")
}

pub(super) async fn consume(
    nats: &Arc<Inner>,
    route: &Route,
    attempts: u32,
) -> Result<Box<dyn Deliveries>, CarrierError> {
    let mut deliveries = NatsDeliveries::new(nats, route, attempts);
    deliveries.consumer = Some(deliveries.begin().await?);
    Ok(Box::new(deliveries))
}

struct NatsDeliveries {
    nats: Arc<Inner>,
    route: Route,
    attempts: u32,
    consumer: Option<PullConsumer>,
    /// How the last try failed, if it did, which was said then.
    failure: Option<CarrierError>,
}

impl NatsDeliveries {
    fn new(nats: &Arc<Inner>, route: &Route, attempts: u32) -> Self {
        let (nats, route) = (Arc::clone(nats), route.clone());
        Self { nats, route, attempts, consumer: None, failure: None }
    }

    async fn begin(&self) -> Result<PullConsumer, CarrierError> {
        let name = consumer_name(&self.route);
        let filter = self.route.durable();
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: filter.clone(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.nats.options.ack_wait,
            max_deliver: i64::from(self.attempts),
            ..pull::Config::default()
        };
        let stream = stream(&self.nats).await?;
        let found = stream.get_or_create_consumer(&name, config.clone()).await.map_err(other)?;
        let consumer = match mismatch(&found, &config) {
            None => return Ok(found),
            // An earlier version of the service made it: creating it again changes it.
            Some(_) => stream.create_consumer(config.clone()).await.map_err(other)?,
        };
        // Servers leave out what they do not know without a word.
        match mismatch(&consumer, &config) {
            None => Ok(consumer),
            Some(why) => Err(CarrierError::Other(format!("the consumer `{name}` {why}"))),
        }
    }

    async fn one(&mut self) -> Result<Option<Delivery>, CarrierError> {
        let consumer = match &self.consumer {
            Some(consumer) => consumer,
            None => self.consumer.insert(self.begin().await?),
        };
        let fetch = consumer.fetch().max_messages(1).expires(Duration::from_secs(5));
        // Without an end of its own the wait would outlive a connection.
        let mut batch = consumer_batch(fetch).await?;
        let Some(message) = batch.next().await else { return Ok(None) };
        let message = message.map_err(other)?;
        let attempt = u32::try_from(message.info().map_err(other)?.delivered).unwrap_or(1);
        let (message, acker) = message.split();
        let message = Message {
            headers: names_and_values(message.headers.as_ref()),
            body: message.payload.into(),
        };
        let (nats, route, kept) = (Arc::clone(&self.nats), self.route.clone(), message.clone());
        let underway = Underway::new(acker, self.nats.options.ack_wait / 3);
        let settle = move |settled| {
            async move { underway.settle(&nats, &route, attempt, kept, settled).await }.boxed()
        };
        Ok(Some(Delivery { message, attempt, settle: Box::new(settle) }))
    }
}

/// In what a consumer is not as it is wanted.
fn mismatch(consumer: &PullConsumer, wanted: &pull::Config) -> Option<String> {
    let found = &consumer.cached_info().config;
    let differ = |what: &str, found: &dyn fmt::Debug, wanted: &dyn fmt::Debug| {
        Some(format!("has {what} {found:?}, not {wanted:?}"))
    };
    if found.filter_subject != wanted.filter_subject {
        differ("the subject", &found.filter_subject, &wanted.filter_subject)
    } else if found.ack_policy != wanted.ack_policy {
        differ("the acknowledgement", &found.ack_policy, &wanted.ack_policy)
    } else if found.ack_wait != wanted.ack_wait {
        differ("the wait", &found.ack_wait, &wanted.ack_wait)
    } else if found.max_deliver != wanted.max_deliver {
        differ("the deliveries", &found.max_deliver, &wanted.max_deliver)
    } else {
        None
    }
}

async fn consumer_batch(fetch: pull::FetchBuilder<'_>) -> Result<pull::Batch, CarrierError> {
    fetch.messages().await.map_err(other)
}

impl Deliveries for NatsDeliveries {
    fn next(&mut self) -> BoxFuture<'_, Option<Delivery>> {
        async move {
            loop {
                let error = match self.one().await {
                    Ok(came) => {
                        self.failure = None;
                        match came {
                            Some(delivery) => return Some(delivery),
                            None => continue,
                        }
                    }
                    Err(error) => error,
                };
                // Once for each reason: it is tried four times a second.
                if self.failure.as_ref() != Some(&error) {
                    let subject = self.route.durable();
                    logged(|| tracing::warn!(%error, subject, "no durable messages can be taken"));
                    self.failure = Some(error);
                }
                self.consumer = None;
                sleep(PAUSE).await;
            }
        }
        .boxed()
    }
}

/// A delivery that is being handled: the server hears so until it is settled or dropped.
struct Underway {
    acker: Arc<Acker>,
    progress: AbortHandle,
}

impl Underway {
    fn new(acker: Acker, every: Duration) -> Self {
        let acker = Arc::new(acker);
        let telling = Arc::clone(&acker);
        let progress = tokio::spawn(async move {
            loop {
                sleep(every).await;
                // One that is not heard makes the message come again.
                drop(telling.ack_with(AckKind::Progress).await);
            }
        });
        Self { acker, progress: progress.abort_handle() }
    }

    async fn settle(
        self,
        nats: &Inner,
        route: &Route,
        attempt: u32,
        mut message: Message,
        settled: Settled,
    ) -> Result<(), CarrierError> {
        self.progress.abort();
        let kind = match settled {
            Settled::Done => AckKind::Ack,
            Settled::Again(delay) => AckKind::Nak(Some(delay.min(LONGEST_DELAY))),
            Settled::Dead(why) => {
                let id = message.header("Nats-Msg-Id").unwrap_or_default().to_owned();
                message.headers.retain(|(name, _)| !name.starts_with("Nats-"));
                // A header is one line.
                let mut why = why.replace(['\r', '\n'], " ");
                why.truncate(why.floor_char_boundary(LONGEST_WHY));
                message.headers.push((WHY.to_owned(), why));
                message.headers.push((ATTEMPTS.to_owned(), attempt.to_string()));
                let publish = PublishMessage::build()
                    .payload(message.body.into())
                    .headers(headers(message.headers))
                    .message_id(format!("dead/{id}"));
                // Only what is kept there is given up here.
                let subject = as_subject(route.dead());
                let ack = nats.jetstream.send_publish(subject, publish).await.map_err(other)?;
                ack.await.map_err(other)?;
                AckKind::Term
            }
        };
        self.acker.double_ack_with(kind).await.map_err(other)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.progress.abort();
    }
}

fn is_not_found(error: &GetStreamError) -> bool {
    let GetStreamErrorKind::JetStream(error) = error.kind() else { return false };
    error.error_code() == ErrorCode::STREAM_NOT_FOUND
}

/// Why the dead letters cannot be read. A user that may not is given no answer.
fn unseen(nats: &Inner, error: &GetStreamError) -> CarrierError {
    if !matches!(error.kind(), GetStreamErrorKind::Request) {
        return other(error);
    }
    let server = &nats.options.server;
    CarrierError::Other(format!(
        "the NATS server at `{server}` gives this user no answer about the stream `{DEAD}`: it may \
         not read it, which the log of the server tells; dead letters are for the operator"
    ))
}

pub(super) async fn dead_letters(
    nats: &Inner,
    limit: usize,
) -> Result<Vec<DeadLetter>, CarrierError> {
    let stream = match nats.jetstream.get_stream(DEAD).await {
        Ok(stream) => stream,
        // Nothing was ever stored here.
        Err(error) if is_not_found(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unseen(nats, &error)),
    };
    let state = &stream.cached_info().state;
    let mut letters = Vec::new();
    for sequence in state.first_sequence.max(1)..=state.last_sequence {
        if letters.len() == limit {
            break;
        }
        let kept = match stream.get_raw_message(sequence).await {
            Ok(kept) => kept,
            // One that has been forgotten meanwhile.
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => continue,
            Err(error) => return Err(other(error)),
        };
        let headers = names_and_values(Some(&kept.headers));
        let message = Message { headers, body: kept.payload.into() };
        let why = message.header(WHY).unwrap_or(UNSETTLED).to_owned();
        let attempts = message.header(ATTEMPTS).and_then(|text| text.parse().ok()).unwrap_or(0);
        letters.push(DeadLetter { subject: kept.subject.to_string(), why, attempts, message });
    }
    Ok(letters)
}
