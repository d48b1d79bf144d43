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

use async_nats::jetstream::{self, Context};
use async_nats::{Client, HeaderMap, RequestErrorKind, Subject};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

pub use options::NatsOptions;

use self::connection::Connection;
use super::{
    Cancellations, Carrier, CarrierError, DeadLetter, Deliveries, Message, Requests, Watch,
};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::options::FleetOptions;
use crate::wire::Announcement;
use crate::wire::subject::{self, Route};

/// The oldest server whose answers are understood.
const OLDEST: (i64, i64, i64) = (2, 9, 0);

/// A connection to a NATS server, as a carrier.
#[derive(Clone)]
pub struct Nats(Arc<Inner>);

struct Inner {
    client: Client,
    jetstream: Context,
    connection: Connection,
    options: NatsOptions,
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
        let client = connection.observing(options.client(service).await?);
        let client = client.connect(&*options.server).await.map_err(|error| {
            let server = &options.server;
            CarrierError::Other(format!("the NATS server at `{server}` cannot be joined: {error}"))
        })?;
        let (major, minor, patch) = OLDEST;
        if !client.is_server_compatible(major, minor, patch) {
            let version = client.server_info().version;
            let message = format!("the NATS server is {version}, older than {major}.{minor}");
            return Err(CarrierError::Other(message));
        }
        let jetstream = jetstream::new(client.clone());
        Ok(Self(Arc::new(Inner { client, jetstream, connection, options })))
    }

    /// Makes the bucket of announcements and the streams, where they are not there yet: for an
    /// operator, where processes are not allowed to.
    pub async fn prepare(&self) -> Result<(), CarrierError> {
        presence::bucket(&self.0).await?;
        durable::stream(&self.0).await.map(drop)
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

    fn cancel(&self, service: &str, call: &str) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (client, call) = (self.0.client.clone(), call.to_owned());
        let subject = subject::cancel(service);
        // Nothing depends on it.
        runtime.spawn(async move { client.publish(subject, call.into()).await });
    }

    fn cancellations<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Cancellations>, CarrierError>> {
        requests::cancellations(&self.0, service).boxed()
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
        async move { self.0.request(subject, Message::default(), limit).await.map(drop) }.boxed()
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
        let deadline = Instant::now() + limit;
        self.check_size(&message)?;
        let lost = self.connection.ready(deadline).await?;
        let request = async_nats::Request::new().payload(message.body.into()).timeout(Some(limit));
        let request = if message.headers.is_empty() {
            request
        } else {
            request.headers(headers(message.headers))
        };
        let answered = tokio::select! {
            answered = timeout_at(deadline, self.client.send_request(subject, request)) => answered,
            () = lost => return Err(CarrierError::Lost),
        };
        match answered {
            Err(_) => Err(CarrierError::TimedOut),
            Ok(Ok(message)) => Ok(received(message)),
            Ok(Err(error)) => Err(match error.kind() {
                RequestErrorKind::NoResponders => CarrierError::Absent,
                RequestErrorKind::TimedOut => CarrierError::TimedOut,
                _ => CarrierError::Other(error.to_string()),
            }),
        }
    }

    /// Larger messages end the connection, with all that is under way on it.
    fn check_size(&self, message: &Message) -> Result<(), CarrierError> {
        let (size, limit) = (message.size(), self.client.max_payload());
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
