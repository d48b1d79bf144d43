//! How a process gets to its NATS server.

use std::fmt;
use std::path::PathBuf;
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
    pub(super) presence_age: Duration,
    pub(super) durable_age: Duration,
    pub(super) durable_bytes: i64,
    pub(super) ack_wait: Duration,
    pub(super) replicas: usize,
}

/// Who this process is.
#[derive(Clone)]
enum Identity {
    Nobody,
    Nkey(String),
    Credentials(PathBuf),
    Password(String, String),
}

impl NatsOptions {
    /// The server at that address, such as `nats://127.0.0.1:4222` or `tls://nats.example:4222`.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            identity: Identity::Nobody,
            root_certificates: None,
            client_certificate: None,
            require_tls: false,
            inbox_prefix: None,
            ping_interval: Duration::from_secs(5),
            connection_timeout: Duration::from_secs(5),
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

    /// The subjects of replies to this process: `_INBOX_<service>` by default. Whoever may
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

    /// After which silence of a process what it was given is delivered to another: 30 seconds.
    pub fn ack_wait(mut self, wait: Duration) -> Self {
        self.ack_wait = wait;
        self
    }

    /// On how many servers of a cluster everything is kept: 1.
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }

    /// What the client is told, for a process of that service.
    pub(super) async fn client(&self, service: &str) -> Result<ConnectOptions, CarrierError> {
        let inbox = self.inbox_prefix.clone();
        let mut options = ConnectOptions::new()
            .name(service)
            .custom_inbox_prefix(inbox.unwrap_or_else(|| format!("_INBOX_{}", token(service))))
            .ping_interval(self.ping_interval)
            .connection_timeout(self.connection_timeout)
            // Of what is asked of the server itself; calls of handlers have limits of their own.
            .request_timeout(Some(self.connection_timeout))
            .require_tls(self.require_tls);
        if let Some(path) = &self.root_certificates {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &self.client_certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(match &self.identity {
            Identity::Nobody => options,
            Identity::Nkey(seed) => options.nkey(seed.clone()),
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

/// Without what is secret.
impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("server", &self.server).finish_non_exhaustive()
    }
}
