//! What carries messages between processes.
//!
//! A carrier knows nothing of hooks. It brings a request to one process that serves a route
//! and its reply back, announcements to everybody, and durable messages to a consumer until
//! they are settled. All rules of this crate are on either side of it.

mod local;
#[cfg(feature = "nats")]
pub mod nats;

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use hooks_runtime::report::escaped;
use thiserror::Error;

use crate::wire::Announcement;
use crate::wire::subject::Route;

pub use local::LocalNetwork;

/// A message with its headers.
///
/// ```
/// use hooks_fleet::carrier::Message;
///
/// // It is JSON, and printed as that.
/// let message = Message { body: r#"{"v":1}"#.into(), ..Message::default() };
/// assert_eq!(format!("{message:?}"), r#"Message { headers: [], body: {"v":1} }"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The message itself.
    pub body: Vec<u8>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        f.debug_struct("Message")
            .field("headers", &self.headers)
            .field("body", &format_args!("{}", escaped(&body)))
            .finish()
    }
}

/// What became of a request, as far as a carrier can tell.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CarrierError {
    /// Nobody takes requests of that route.
    #[error("nobody is there")]
    Absent,
    /// There was no connection, and nothing was sent.
    #[error("there is no connection")]
    Unreachable,
    /// It was sent, and no answer came in time.
    #[error("no answer came in time")]
    TimedOut,
    /// It was sent, and then the connection was lost.
    #[error("the connection was lost")]
    Lost,
    /// It is too large, and was not sent.
    #[error("{size} bytes are too many, {limit} are allowed")]
    TooLarge {
        /// Its size, with headers.
        size: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// What there is no word for.
    #[error("{0}")]
    Other(String),
}

/// As it reads: a `main` that returns it prints this form.
impl fmt::Debug for CarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A request that came in.
pub struct Inbound {
    /// The request.
    pub message: Message,
    /// Answers it, once.
    pub reply: ReplySender,
}

/// How a request is answered.
pub type ReplySender =
    Box<dyn FnOnce(Message) -> BoxFuture<'static, Result<(), CarrierError>> + Send>;

/// The requests of one route.
pub trait Requests: Send {
    /// The next one; `None` once it is drained.
    fn next(&mut self) -> BoxFuture<'_, Option<Inbound>>;
    /// Takes no more: [`next`](Self::next) returns those that came before.
    fn drain(&mut self) -> BoxFuture<'_, ()>;
}

/// A durable message that is to be handled.
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Which delivery of it this is, from 1.
    pub attempt: u32,
    /// Says what came of it, once.
    pub settle: SettleSender,
}

/// How a delivery is settled.
pub type SettleSender =
    Box<dyn FnOnce(Settled) -> BoxFuture<'static, Result<(), CarrierError>> + Send>;

/// What came of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was handled.
    Done,
    /// It failed: deliver it again, not before that time.
    Again(Duration),
    /// It failed for good: keep it with the dead letters, which say why.
    Dead(String),
}

/// Why a message was given up that was delivered as often as it may be, and never settled.
const UNSETTLED: &str = "no process settled it, as often as it was delivered";

/// The deliveries of one route.
pub trait Deliveries: Send {
    /// The next one; `None` where there will be none.
    fn next(&mut self) -> BoxFuture<'_, Option<Delivery>>;
}

/// A durable message that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Where it was for.
    pub subject: String,
    /// Why it was given up.
    pub why: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The message.
    pub message: Message,
}

/// What is heard about other processes.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// A process is there, or still is.
    Here(Announcement),
    /// A process has left: its service and instance.
    Gone(String, String),
    /// A process says something that is not let in: its service and instance, as far as they
    /// are known, and why.
    Refused(String, String, String),
    /// All that were there when the watch began are known now.
    Current,
}

/// What others say about who is there.
pub trait Watch: Send {
    /// The next word; `None` where there will be none.
    fn next(&mut self) -> BoxFuture<'_, Option<Presence>>;
}

/// How messages get from process to process.
///
/// [`LocalNetwork`] is one in memory, `nats::Nats` one over NATS.
pub trait Carrier: fmt::Debug + Send + Sync + 'static {
    /// The largest message, headers included.
    fn max_bytes(&self) -> usize;

    /// Sends a request to one process that serves the route, and waits for its reply, no
    /// longer than that, the wait for a connection included.
    fn request<'a>(
        &'a self,
        route: &'a Route,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Message, CarrierError>>;

    /// Takes requests of the route: when this returns, they arrive.
    fn serve<'a>(
        &'a self,
        route: &'a Route,
    ) -> BoxFuture<'a, Result<Box<dyn Requests>, CarrierError>>;

    /// Says which attempt of a call is no longer waited for, in the form of
    /// [`wire::cancellation`](crate::wire::cancellation). Best effort, and at once.
    fn cancel(&self, service: &str, attempt: &str);

    /// The attempts of calls of a service that are no longer waited for.
    fn cancellations<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Cancellations>, CarrierError>>;

    /// How long an announcement is kept, where it is forgotten by itself. A process says at least
    /// three times in that that it is there.
    fn keeps_announcements(&self) -> Option<Duration> {
        None
    }

    /// Says that a process is there. Said again now and then, for it is forgotten.
    fn announce<'a>(
        &'a self,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), CarrierError>>;

    /// Says that a process leaves.
    fn withdraw<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>>;

    /// Hands over what was sent: a process may end afterwards. A carrier that keeps nothing back
    /// has nothing to do.
    fn flush(&self) -> BoxFuture<'_, Result<(), CarrierError>> {
        Box::pin(async { Ok(()) })
    }

    /// Who is there, from now on.
    fn watch(&self) -> BoxFuture<'_, Result<Box<dyn Watch>, CarrierError>>;

    /// Lets others find out that an instance is there, as long as the result is kept.
    fn answer_pings<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Send + Sync>, CarrierError>>;

    /// Whether an instance is there: [`CarrierError::Absent`] only where that is certain. One
    /// that cannot be reached may still be there.
    fn ping<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>>;

    /// Keeps a message for the route until it is settled. A second one of the same id is the
    /// first one.
    fn store<'a>(
        &'a self,
        route: &'a Route,
        id: &'a str,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<(), CarrierError>>;

    /// Takes the durable messages of the route, each at most that often.
    fn consume<'a>(
        &'a self,
        route: &'a Route,
        attempts: u32,
    ) -> BoxFuture<'a, Result<Box<dyn Deliveries>, CarrierError>>;
}

/// The calls that are no longer waited for.
pub trait Cancellations: Send {
    /// The next one; `None` where there will be none.
    fn next(&mut self) -> BoxFuture<'_, Option<String>>;
}

impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound").field("message", &self.message).finish_non_exhaustive()
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("message", &self.message)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

impl Message {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// Its size as a carrier counts it: with the headers as NATS writes them.
    pub fn size(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len() + 4);
        let headers: usize = headers.sum();
        self.body.len() + if headers == 0 { 0 } else { headers + "NATS/1.0\r\n\r\n".len() }
    }
}
