//! How a process gets to its NATS server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::ConnectOptions;

use crate::carrier::CarrierError;
use crate::wire::subject::token;

/// Where the server is, who this process is there, and what is kept.
///
/// ```no_run
/// use hooks_fleet::nats::NatsOptions;
///
/// let options = NatsOptions::new("nats://127.0.0.1:4222")
///     .nkey("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY")
///     .root_certificates("ca.pem");
/// ```
#[derive(Clone)]
#[must_use = "give it to `Fleet::connect`"]
pub struct NatsOptions {
    pub(super) server: String,
    identity: Identity,
    root_certificates: Option<PathBuf>,
    client_certificate: Option<(PathBuf, PathBuf)>,
    require_tls: bool,
    inbox_prefix: Option<String>,
    ping_interval: Duration,
    connection_timeout: Duration,
    subscription_capacity: usize,
    pub(super) presence_age: Duration,
    pub(super) durable_age: Duration,
    pub(super) durable_bytes: i64,
    pub(super) ack_wait: Duration,
    pub(super) replicas: usize,
}

/// Who this process is.
#[derive(Clone)]
enum Identity {
    Anonymous,
    Nkey(String),
    Credentials(PathBuf),
    Password(String, String),
}

impl NatsOptions {
    /// The server at that address, such as `nats://127.0.0.1:4222` or `tls://nats.example:4222`.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            identity: Identity::Anonymous,
            root_certificates: None,
            client_certificate: None,
            require_tls: false,
            inbox_prefix: None,
            ping_interval: Duration::from_secs(5),
            connection_timeout: Duration::from_secs(5),
            subscription_capacity: 65_536,
            presence_age: Duration::from_secs(15),
            durable_age: Duration::from_hours(24),
            durable_bytes: 1 << 30,
            ack_wait: Duration::from_secs(30),
            replicas: 1,
        }
    }

    /// Signs in with the seed of an nkey; the server knows the public key only.
    pub fn nkey(mut self, seed: impl Into<String>) -> Self {
        self.identity = Identity::Nkey(seed.into());
        self
    }

    /// Signs in with a file of credentials: a JWT and its key.
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.identity = Identity::Credentials(path.into());
        self
    }

    /// Signs in with a user and a password.
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.identity = Identity::Password(user.into(), password.into());
        self
    }

    /// Trusts servers whose certificates these sign, and speaks TLS only.
    pub fn root_certificates(mut self, path: impl Into<PathBuf>) -> Self {
        (self.root_certificates, self.require_tls) = (Some(path.into()), true);
        self
    }

    /// Shows the server this certificate, and speaks TLS only.
    pub fn client_certificate(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        let certificate = (certificate.into(), key.into());
        (self.client_certificate, self.require_tls) = (Some(certificate), true);
        self
    }

    /// Speaks TLS only.
    pub fn require_tls(mut self) -> Self {
        self.require_tls = true;
        self
    }

    /// The subjects of replies to this process: `_INBOX_<service>` by default. A client that may
    /// subscribe to them reads all answers, so each user has one of its own.
    pub fn inbox_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.inbox_prefix = Some(prefix.into());
        self
    }

    /// How often the server is asked whether it is there: every 5 seconds. After two questions
    /// without an answer the connection counts as lost.
    pub fn ping_interval(mut self, interval: Duration) -> Self {
        self.ping_interval = interval;
        self
    }

    /// How many messages of one kind may wait until this process takes them: 65,536. More are
    /// dropped, which is logged and [counted](super::NatsHealth::overruns).
    pub fn subscription_capacity(mut self, messages: usize) -> Self {
        self.subscription_capacity = messages.max(1);
        self
    }

    /// How long the server keeps announcements and durable messages: 15 seconds and a day.
    pub fn ages(mut self, presence: Duration, durable: Duration) -> Self {
        (self.presence_age, self.durable_age) = (presence, durable);
        self
    }

    /// How many bytes of durable messages the server keeps, 1 GiB. More are refused, and the
    /// fire fails: none is dropped for another.
    pub fn durable_bytes(mut self, bytes: i64) -> Self {
        self.durable_bytes = bytes;
        self
    }

    /// How long a process may keep a durable message without acknowledging it before it is
    /// delivered to another: 30 seconds.
    pub fn ack_wait(mut self, wait: Duration) -> Self {
        self.ack_wait = wait;
        self
    }

    /// On how many servers of a cluster everything is kept: 1.
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }

    /// The subjects of replies to a process of that service.
    pub(super) fn inbox(&self, service: &str) -> String {
        self.inbox_prefix.clone().unwrap_or_else(|| format!("_INBOX_{}", token(service)))
    }

    /// The options of the client, for a process of that service.
    pub(super) async fn client(&self, service: &str) -> Result<ConnectOptions, CarrierError> {
        let mut options = ConnectOptions::new()
            .name(service)
            .custom_inbox_prefix(self.inbox(service))
            .ping_interval(self.ping_interval)
            .connection_timeout(self.connection_timeout)
            .subscription_capacity(self.subscription_capacity)
            // For ever, at once at first and then after 2, 4, 8 … milliseconds up to four seconds:
            // meanwhile calls end by their own limits.
            .max_reconnects(None)
            // Of what is asked of the server itself; calls of handlers have limits of their own.
            .request_timeout(Some(self.connection_timeout))
            .require_tls(self.require_tls);
        if let Some(path) = &self.root_certificates {
            can_be_read("root certificates", path)?;
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &self.client_certificate {
            can_be_read("client certificate", certificate)?;
            can_be_read("key of the client certificate", key)?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(match &self.identity {
            Identity::Anonymous => options,
            Identity::Nkey(seed) if is_seed_of_user(seed) => options.nkey(seed.clone()),
            Identity::Nkey(_) => {
                let problem = "the nkey is not the seed of a user: that is 58 letters and digits, \
                               begins with `SU`, and has no end of line";
                return Err(CarrierError::Other(problem.to_owned()));
            }
            Identity::Password(user, password) => {
                options.user_and_password(user.clone(), password.clone())
            }
            Identity::Credentials(path) => {
                options.credentials_file(path).await.map_err(|error| {
                    let path = path.display();
                    CarrierError::Other(format!("the credentials `{path}` cannot be read: {error}"))
                })?
            }
        })
    }
}

/// The client says of a file that it cannot read only that there is one.
fn can_be_read(what: &str, path: &Path) -> Result<(), CarrierError> {
    std::fs::File::open(path).map(drop).map_err(|error| {
        CarrierError::Other(format!("the {what} `{}` cannot be read: {error}", path.display()))
    })
}

/// The client says of a seed that is none that a nonce cannot be signed.
fn is_seed_of_user(seed: &str) -> bool {
    seed.len() == 58 && seed.starts_with("SU") && seed.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Without what is secret.
impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("server", &self.server).finish_non_exhaustive()
    }
}
