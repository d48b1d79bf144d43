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
        let mut subject = self.under("hooks.req");
        subject.push('.');
        push_token(&mut subject, &self.schema);
        subject
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
        let names = service.len() + point.len() + handler.len() + self.schema.len();
        // A name has few letters that are written as three.
        let mut subject = String::with_capacity(prefix.len() + names + 16);
        subject.push_str(prefix);
        for name in [service, point, handler] {
            subject.push('.');
            push_token(&mut subject, name);
        }
        subject
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
    push_token(&mut token, text);
    token
}

fn push_token(to: &mut String, text: &str) {
    let stands_for_itself = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if text.bytes().all(stands_for_itself) {
        to.push_str(text);
        return;
    }
    for byte in text.bytes() {
        if stands_for_itself(byte) {
            to.push(char::from(byte));
        } else {
            let _ = write!(to, "={byte:02X}");
        }
    }
}

/// The text of a token, where it is one that [`token`] writes.
///
/// ```
/// use hooks_fleet::wire::subject::{text, token};
///
/// assert_eq!(text(&token("orders:place")).as_deref(), Some("orders:place"));
/// assert_eq!(text("=3a"), None);
/// ```
pub fn text(token: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        bytes.push(match byte {
            b'=' => u8::try_from(digit(rest.next()?)? * 16 + digit(rest.next()?)?).ok()?,
            byte => byte,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    // One text has one token.
    (self::token(&text) == token).then_some(text)
}
