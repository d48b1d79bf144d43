//! One request, on a thread that may block.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use tokio::time::Instant;
use ureq::Agent;
use ureq::http::Uri;

use crate::runner::{Cause, Failure, Place};

/// The most bytes of an answer.
const LARGEST: usize = 1 << 20;

/// What is posted, where, and until when.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) address: Uri,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Held until the request is over.
    pub(super) place: Place,
}

impl Request {
    /// Posts, and returns what is answered. Where that is `unwanted` by now, it is not
    /// waited for.
    pub(super) fn send(self, unwanted: impl Fn() -> bool) -> Result<Vec<u8>, Failure> {
        let Self { address, headers, body, place } = self;
        let left = place.deadline.saturating_duration_since(Instant::now());
        let timed_out = || Failure::new(Cause::Timeout(place.limit));
        if unwanted() || left == Duration::ZERO {
            return Err(Failure { started: false, ..timed_out() });
        }
        let config = Agent::config_builder()
            .timeout_global(Some(left))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None);
        let agent: Agent = config.build().into();
        let mut request = agent.post(&address).header("content-type", "application/json");
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        let failed = |what: String| Failure::new(Cause::Http(format!("`{address}` {what}")));
        let mut response = request.send(&body[..]).map_err(|error| match unreached(&error) {
            _ if matches!(error, ureq::Error::Timeout(_)) => timed_out(),
            Some(why) => Failure { started: false, ..failed(why.into()) },
            None => failed(format!("does not answer as a server does: {error}")),
        })?;
        let status = response.status();
        if status.is_redirection() {
            let what = "a redirect, which is not followed: write the address that it leads to";
            return Err(failed(format!("answers with status {status}, {what}")));
        }
        if !status.is_success() {
            let what = "a success is expected, with one JSON object or nothing";
            return Err(failed(format!("answers with status {status}: {what}")));
        }
        let (mut answer, mut chunk) = (Vec::new(), vec![0; 16 * 1024]);
        let mut reader = response.body_mut().as_reader();
        while answer.len() <= LARGEST {
            match reader.read(&mut chunk) {
                Ok(0) => return object(answer),
                Ok(read) => answer.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(timed_out()),
                Err(error) => return Err(failed(format!("broke off in its answer: {error}"))),
            }
            if unwanted() {
                return Err(timed_out());
            }
        }
        Err(Failure::new(Cause::TooLarge(LARGEST)))
    }
}

/// Why nothing was sent, where that is so, and what to do.
fn unreached(error: &ureq::Error) -> Option<&'static str> {
    match error {
        ureq::Error::TlsRequired => Some(
            "needs TLS, which this program was built without: write an `http://` address, or have \
             the host name `ureq` with TLS",
        ),
        ureq::Error::HostNotFound => Some("has a host that is not known: check its name"),
        ureq::Error::ConnectionFailed => {
            Some("cannot be reached: check the address, and whether a server runs there")
        }
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            Some("refuses the connection: check the port, and whether a server runs there")
        }
        _ => None,
    }
}

/// An answer that is one object, or nothing.
fn object(answer: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let text = answer.trim_ascii();
    if !text.is_empty() && !text.starts_with(b"{") {
        return Err(Failure::new(Cause::BadOutput("the body is no JSON object".into())));
    }
    Ok(answer)
}
