//! The names under which things are found.

use std::fmt::Write as _;

/// One handler with one schema: where its requests go.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Route {
    /// The service.
    pub service: String,
    /// The wire name of the point.
    pub point: String,
    /// The handler, by its name in the service.
    pub handler: String,
    /// The schema. Two versions of a service that are alive at once have two routes, so that
    /// no request reaches the wrong one.
    pub schema: String,
}

impl Route {
    /// The subject of its requests: `hooks.req.<service>.<point>.<handler>.<schema>`.
    pub fn request(&self) -> String {
        format!("{}.{}", self.under("hooks.req"), token(&self.schema))
    }

    /// The subject of its durable deliveries: `hooks.void.<service>.<point>.<handler>`. What
    /// is stored outlives a version of the service, so the schema is no part of it.
    pub fn durable(&self) -> String {
        self.under("hooks.void")
    }

    /// The subject of its dead letters: `hooks.dead.<service>.<point>.<handler>`.
    pub fn dead(&self) -> String {
        self.under("hooks.dead")
    }

    fn under(&self, prefix: &str) -> String {
        let Self { service, point, handler, .. } = self;
        format!("{prefix}.{}.{}.{}", token(service), token(point), token(handler))
    }
}

/// The subject on which calls of a service are cancelled.
pub fn cancel(service: &str) -> String {
    format!("hooks.cancel.{}", token(service))
}

/// The subject on which one instance says that it is there.
pub fn ping(service: &str, instance: &str) -> String {
    format!("hooks.ping.{}.{}", token(service), token(instance))
}

/// The key of an announcement.
pub fn presence(service: &str, instance: &str) -> String {
    format!("{}.{}", token(service), token(instance))
}

/// One token of a subject: letters, digits, `_` and `-` stand for themselves, every other
/// byte is `=` and two hexadecimal digits.
///
/// ```
/// use hooks_fleet::wire::subject::token;
///
/// assert_eq!(token("orders:place/beforeExecute"), "orders=3Aplace=2FbeforeExecute");
/// ```
pub fn token(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            token.push(char::from(byte));
        } else {
            let _ = write!(token, "={byte:02X}");
        }
    }
    token
}
