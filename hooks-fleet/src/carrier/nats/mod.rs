//! The carrier over NATS: requests and replies, presence in a key-value bucket, durable
//! messages in a JetStream.

mod connection;
mod durable;
mod options;
mod presence;
mod requests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::CreateStreamErrorKind;
use async_nats::jetstream::stream::{Config, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, HeaderMap, RequestErrorKind, Subject};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, timeout, timeout_at};

pub use options::NatsOptions;

use self::connection::Connection;
use super::{
    Cancellations, Carrier, CarrierError, DeadLetter, Deliveries, Message, Requests, Watch,
};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::options::FleetOptions;
use crate::presence::later;
use crate::wire::Announcement;
use crate::wire::subject::{self, Route};

/// The oldest server whose answers are understood.
const OLDEST: (i64, i64, i64) = (2, 9, 0);

/// How long a cancellation may wait to be sent.
const CANCEL: Duration = Duration::from_secs(1);

/// How long a connection is there again before the absence of others is certain: they try to
/// come back every 4 seconds at least.
const SETTLING: Duration = Duration::from_secs(5);

/// A connection to a NATS server, as a carrier. [`Fleet::connect`] makes one; who wants to look
/// at its [`health`](Self::health) makes it, and gives a clone to [`Fleet::over`].
#[derive(Clone)]
pub struct Nats(Arc<Inner>);

/// How a connection to a NATS server is, and was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NatsHealth {
    /// Whether it is there. Where the client itself has ended, it does not come back: with the
    /// runtime in which it was made, or on a message that it cannot bear, which is logged.
    /// What fires and serves over it joins anew.
    pub is_connected: bool,
    /// How often it was lost since the process joined.
    pub losses: u64,
    /// How often messages that came were dropped, because this process took them too slowly:
    /// calls whose requests or replies were among them time out.
    pub overruns: u64,
}

struct Inner {
    client: Client,
    jetstream: Context,
    connection: Connection,
    options: NatsOptions,
    /// Where its replies come.
    inbox: String,
}

impl Fleet {
    /// Joins the fleet of a NATS server.
    pub async fn connect(nats: NatsOptions, options: FleetOptions) -> Result<Self, FleetError> {
        let carrier = Nats::connect(nats, &options.service).await?;
        Self::over(carrier, options)
    }
}

impl Nats {
    /// Connects a process of that service.
    pub async fn connect(options: NatsOptions, service: &str) -> Result<Self, CarrierError> {
        let connection = Connection::new();
        let inbox = options.inbox(service);
        let client = connection.observing(options.client(service).await?);
        let client = client.connect(&*options.server).await.map_err(|error| {
            let server = &options.server;
            let why = match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    "it refuses this user: its key, password or credentials are not known there"
                        .to_owned()
                }
                _ => error.to_string(),
            };
            CarrierError::Other(format!("the NATS server at `{server}` cannot be joined: {why}"))
        })?;
        let (major, minor, patch) = OLDEST;
        if !client.is_server_compatible(major, minor, patch) {
            let version = client.server_info().version;
            let message = format!("the NATS server is {version}, older than {major}.{minor}");
            return Err(CarrierError::Other(message));
        }
        let jetstream = jetstream::new(client.clone());
        Ok(Self(Arc::new(Inner { client, jetstream, connection, options, inbox })))
    }

    /// Makes the bucket of announcements and the streams, where they are not there yet: for an
    /// operator, where processes are not allowed to.
    pub async fn prepare(&self) -> Result<(), CarrierError> {
        presence::bucket(&self.0).await?;
        durable::stream(&self.0).await.map(drop)
    }

    /// How the connection is: for the gauges of a host.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// # let catalogue = hooks_runtime::catalogue::Catalogue::default();
    /// use hooks_fleet::nats::{Nats, NatsOptions};
    /// use hooks_fleet::{Fleet, FleetOptions};
    ///
    /// let nats = Nats::connect(NatsOptions::new("nats://127.0.0.1:4222"), "agent").await?;
    /// let fleet = Fleet::over(nats.clone(), FleetOptions::new("agent", catalogue))?;
    /// println!("lost {} times", nats.health().losses);
    /// # Ok(()) }
    /// ```
    pub fn health(&self) -> NatsHealth {
        let connection = &self.0.connection;
        NatsHealth {
            is_connected: connection.is_there(),
            losses: connection.losses(),
            overruns: connection.overruns(),
        }
    }

    /// The durable messages that were given up, the oldest first, at most that many. One whose
    /// process died with it each time has no more than that to say.
    pub async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, CarrierError> {
        durable::dead_letters(&self.0, limit).await
    }
}

impl Carrier for Nats {
    fn max_bytes(&self) -> usize {
        self.0.client.max_payload()
    }

    fn request<'a>(
        &'a self,
        route: &'a Route,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Message, CarrierError>> {
        self.0.request(route.request(), message, limit).boxed()
    }

    fn serve<'a>(
        &'a self,
        route: &'a Route,
    ) -> BoxFuture<'a, Result<Box<dyn Requests>, CarrierError>> {
        requests::serve(&self.0, route).boxed()
    }

    fn cancel(&self, service: &str, attempt: &str) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        // Nothing depends on it, and later it means nothing.
        if !self.0.connection.is_there() {
            return;
        }
        let (client, attempt) = (self.0.client.clone(), attempt.to_owned());
        let subject = subject::cancel(service);
        runtime
            .spawn(timeout(CANCEL, async move { client.publish(subject, attempt.into()).await }));
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), CarrierError>> {
        async move { self.0.client.flush().await.map_err(other) }.boxed()
    }

    fn cancellations<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Cancellations>, CarrierError>> {
        requests::cancellations(&self.0, service).boxed()
    }

    fn keeps_announcements(&self) -> Option<Duration> {
        Some(self.0.options.presence_age)
    }

    fn announce<'a>(
        &'a self,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        presence::announce(&self.0, announcement).boxed()
    }

    fn withdraw<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        presence::withdraw(&self.0, service, instance).boxed()
    }

    fn watch(&self) -> BoxFuture<'_, Result<Box<dyn Watch>, CarrierError>> {
        presence::watch(&self.0).boxed()
    }

    fn answer_pings<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Send + Sync>, CarrierError>> {
        requests::answer_pings(&self.0, subject::ping(service, instance)).boxed()
    }

    fn ping<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        let subject = subject::ping(service, instance);
        let limit = Duration::from_secs(1);
        async move {
            let answered = self.0.request(subject, Message::default(), limit).await.map(drop);
            // Where the server was away, others may come back to it later than this process.
            let is_new = self.0.connection.age().is_some_and(|age| age < SETTLING);
            if answered == Err(CarrierError::Absent) && is_new {
                return Err(CarrierError::Unreachable);
            }
            answered
        }
        .boxed()
    }

    fn store<'a>(
        &'a self,
        route: &'a Route,
        id: &'a str,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        durable::store(&self.0, route, id, message, limit).boxed()
    }

    fn consume<'a>(
        &'a self,
        route: &'a Route,
        attempts: u32,
    ) -> BoxFuture<'a, Result<Box<dyn Deliveries>, CarrierError>> {
        durable::consume(&self.0, route, attempts).boxed()
    }
}

impl Inner {
    /// One request. The time of the whole is limited, since the client's own limit begins only
    /// when the request is queued; and a connection that is lost ends it, since the client goes
    /// on waiting.
    async fn request(
        &self,
        subject: String,
        message: Message,
        limit: Duration,
    ) -> Result<Message, CarrierError> {
        let deadline = later(Instant::now(), limit);
        self.check_size(&message, 0)?;
        let lost = self.connection.ready(deadline).await?;
        // The wait as a whole has its end below: a second timer would only cost.
        let request = async_nats::Request::new().payload(message.body.into()).timeout(None);
        let request = if message.headers.is_empty() {
            request
        } else {
            request.headers(headers(message.headers))
        };
        let answered = tokio::select! {
            // An answer that is there counts, also where the connection is lost at once after it.
            biased;
            answered = timeout_at(deadline, self.client.send_request(subject, request)) => answered,
            () = lost => return Err(CarrierError::Lost),
        };
        match answered {
            Err(_) => Err(CarrierError::TimedOut),
            Ok(Ok(message)) => Ok(received(message)),
            Ok(Err(error)) => Err(match error.kind() {
                RequestErrorKind::NoResponders => CarrierError::Absent,
                RequestErrorKind::TimedOut => CarrierError::TimedOut,
                // The client has ended, before it sent that or while it waited.
                RequestErrorKind::Other => CarrierError::Lost,
                _ => CarrierError::Other(error.to_string()),
            }),
        }
    }

    /// Makes a stream, or says why there is none and what would help.
    async fn create_stream(&self, config: Config) -> Result<Stream, CarrierError> {
        let name = config.name.clone();
        self.jetstream.create_stream(config).await.map_err(|error| {
            let (server, inbox) = (&self.options.server, &self.inbox);
            CarrierError::Other(match error.kind() {
                CreateStreamErrorKind::JetStreamUnavailable => format!(
                    "the NATS server at `{server}` has no JetStream: start it with `-js`, or with \
                     `jetstream {{}}` in its configuration"
                ),
                CreateStreamErrorKind::TimedOut => format!(
                    "the NATS server at `{server}` gives this user no answer about the stream \
                     `{name}`: it may neither see nor make it, or may not subscribe to `{inbox}.>`, \
                     which the log of the server tells; `Nats::prepare` makes it, as the operator"
                ),
                _ => format!(
                    "the NATS server at `{server}` does not make the stream `{name}`: {error}"
                ),
            })
        })
    }

    /// Larger messages end the connection, with all that is under way on it.
    fn check_size(&self, message: &Message, spare: usize) -> Result<(), CarrierError> {
        let (size, limit) = (message.size(), self.client.max_payload().saturating_sub(spare));
        if size > limit { Err(CarrierError::TooLarge { size, limit }) } else { Ok(()) }
    }
}

/// The headers as the client takes them.
fn headers(headers: Vec<(String, String)>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(name.as_str(), value.as_str());
    }
    map
}

/// A message as it came.
fn received(message: async_nats::Message) -> Message {
    Message { headers: names_and_values(message.headers.as_ref()), body: message.payload.into() }
}

fn names_and_values(headers: Option<&HeaderMap>) -> Vec<(String, String)> {
    let all = headers.into_iter().flat_map(HeaderMap::iter);
    let all = all.flat_map(|(name, values)| {
        values.iter().map(move |value| (name.to_string(), value.as_str().to_owned()))
    });
    all.collect()
}

/// What the server or the client said.
fn other(error: impl fmt::Display) -> CarrierError {
    CarrierError::Other(error.to_string())
}

/// The subject as the client takes it.
fn as_subject(subject: String) -> Subject {
    Subject::from(subject)
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("server", &self.0.options.server).finish_non_exhaustive()
    }
}
