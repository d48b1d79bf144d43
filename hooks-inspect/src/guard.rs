//! Which requests are answered at all: those of this machine, of pages of this host.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::api::ApiError;
use crate::shared::Shared;

/// Which requests are answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Names of hosts besides those of this machine, in lower case.
    hosts: Vec<String>,
    remote: bool,
}

/// Where a request claims to go, and where a page comes from.
#[derive(Debug, PartialEq, Eq)]
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Guard {
    pub(crate) fn allow_host(&mut self, name: &str) {
        self.hosts.push(name.to_ascii_lowercase());
    }

    pub(crate) fn allow_remote(&mut self) {
        self.remote = true;
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.remote
    }

    /// Whether a request is answered, by where it comes from and what it says of itself.
    fn admit(
        &self,
        peer: Option<SocketAddr>,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), ApiError> {
        if let Some(peer) = peer
            && !self.remote
            && !peer.ip().to_canonical().is_loopback()
        {
            return Err(ApiError::refused("other machines are not answered here"));
        }
        let host = self.host(uri, headers)?;
        match one(headers, &header::ORIGIN)? {
            None => {}
            Some(origin) if is_of(origin, &host) => {}
            Some(_) => return Err(ApiError::refused("pages of other origins are not answered")),
        }
        // Where there is a proxy with TLS, the scheme of the origin differs and the browser's
        // own word is the better one.
        match one(headers, &HeaderName::from_static("sec-fetch-site"))? {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(ApiError::refused("requests of other sites are not answered")),
        }
    }

    /// The host that the request names. A page that reaches this one by a name of its own,
    /// which leads here, names that.
    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, ApiError> {
        let named = match uri.authority() {
            Some(authority) => Some(authority.as_str()),
            None => one(headers, &header::HOST)?,
        };
        let host = named.and_then(Authority::parse).ok_or_else(|| {
            ApiError::bad_request("a request names its host: the header `Host` is missing or wrong")
        })?;
        // No name leads to an address that is written out: with those nothing is rebound.
        let is_known = match host.ip() {
            Some(ip) => self.remote || ip.to_canonical().is_loopback(),
            None => host.host == "localhost" || host.host.ends_with(".localhost"),
        };
        if is_known || self.hosts.contains(&host.host) {
            return Ok(host);
        }
        Err(ApiError::refused("this host is not answered here: see `Inspector::allow_host`"))
    }
}

impl Authority {
    fn parse(text: &str) -> Option<Self> {
        let authority: axum::http::uri::Authority = text.parse().ok()?;
        if authority.as_str().contains('@') {
            return None;
        }
        let host = authority.host().to_ascii_lowercase();
        Some(Self { host, port: authority.port_u16() })
    }

    fn ip(&self) -> Option<IpAddr> {
        let inner = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(&self.host).parse().ok()
    }
}

/// Whether an origin is that of the host. `null`, which pages without one have, is not.
fn is_of(origin: &str, host: &Authority) -> bool {
    let (rest, port) = match origin.split_once("://") {
        Some(("http", rest)) => (rest, 80),
        Some(("https", rest)) => (rest, 443),
        _ => return false,
    };
    let with_port =
        |authority: &Authority| (authority.host.clone(), authority.port.unwrap_or(port));
    Authority::parse(rest).is_some_and(|origin| with_port(&origin) == with_port(host))
}

/// The value of a header that may be there once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next().map(HeaderValue::to_str) else { return Ok(None) };
    match value {
        Ok(value) if values.next().is_none() => Ok(Some(value)),
        _ => Err(ApiError::bad_request(format!("the header `{name}` is there once, in ASCII"))),
    }
}

/// Refuses what is not to be answered, and marks every answer.
pub(crate) async fn guarded(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
    let mut response = match shared.guard.admit(peer, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in MARKS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The page has its own, which lets its script run.
    let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// What every answer has.
const MARKS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];
