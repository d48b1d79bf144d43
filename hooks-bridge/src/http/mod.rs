//! Handlers behind an address: what happened is posted there, and the answer is read as
//! that of a command is.

mod request;

use std::fmt;
use std::time::Duration;

use hooks_runtime::report::escaped;
use tokio::sync::oneshot;
use tokio::time::timeout_at;
use ureq::http::Uri;

use crate::config::HandlerKind;
use crate::runner::{Cause, Failure, Runner};
use request::Request;

/// Which addresses may be posted to, and which variables their headers may have. Without
/// any, none is.
///
/// A redirect is not followed: it is a failure, as every status but a success is. An answer
/// is one JSON object of up to 1 MiB, or nothing.
///
/// Requests share the places of [`Limits::concurrent`](crate::runner::Limits::concurrent) with
/// commands, and wait for one on their own time. A request is made on a thread of its own,
/// which ends with its time limit at the latest; where its fire is dropped, it ends with the
/// next bytes of the answer. Only a name that the system is still looking up is waited for
/// longer, by a thread that holds no place.
///
/// ```
/// use hooks_bridge::Bridge;
/// use hooks_bridge::config::Plan;
/// use hooks_bridge::http::Http;
///
/// let http = Http::default().address("http://localhost:9000/hooks/")?.variable("HOOKS_TOKEN");
/// let bridge = Bridge::new("/srv/shop", Plan::default()).http(http);
/// # drop(bridge);
/// assert!(Http::default().address("http://localhost:9000/*").is_err()); // `/` says it
/// let error = Http::default().address("localhost").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`localhost` is no address: write one such as `https://hooks.example.com/gate/`",
/// );
/// # Ok::<_, hooks_bridge::http::BadAddress>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Http {
    addresses: Vec<Uri>,
    variables: Vec<String>,
}

/// What was to be allowed is no address.
///
/// The example of [`Http`] has one.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no address: write one such as `https://hooks.example.com/gate/`", escaped(.0))]
pub struct BadAddress(String);

/// As it reads: a `main` that returns it prints this form.
impl fmt::Debug for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Http {
    /// Allows an address, and all below it where it ends with `/`. A `*` stands for nothing
    /// here, and is refused.
    ///
    /// The example of [`Http`] allows one.
    pub fn address(mut self, address: &str) -> Result<Self, BadAddress> {
        let parsed = address.parse::<Uri>().ok().filter(is_plain);
        let parsed = parsed.filter(|_| !address.contains('*'));
        self.addresses.push(parsed.ok_or_else(|| BadAddress(address.to_owned()))?);
        Ok(self)
    }

    /// Allows headers to have the value of a variable, where the entry asks for it too.
    ///
    /// The example of [`Http`] allows one.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// Whether an address may be posted to.
    ///
    /// ```
    /// use hooks_bridge::http::Http;
    ///
    /// let http = Http::default().address("http://localhost:9000/hooks/")?;
    /// assert!(http.is_allowed("http://localhost:9000/hooks/gate"));
    /// assert!(!http.is_allowed("http://localhost:9000/other"));
    /// # Ok::<_, hooks_bridge::http::BadAddress>(())
    /// ```
    pub fn is_allowed(&self, address: &str) -> bool {
        let address = address.parse::<Uri>().ok().filter(is_plain);
        address.is_some_and(|address| self.allows(&address))
    }

    fn allows(&self, address: &Uri) -> bool {
        self.addresses.iter().any(|allowed| {
            let below = allowed.path().ends_with('/') && address.path().starts_with(allowed.path());
            allowed.scheme() == address.scheme()
                && allowed.authority() == address.authority()
                && (below || allowed.path() == address.path())
                && !climbs(address.path())
        })
    }

    /// The address, if it may be posted to.
    pub(crate) fn admit(&self, url: &str) -> Result<Uri, Failure> {
        let unsent = |what: String| Failure { started: false, ..Failure::new(Cause::Http(what)) };
        let address = url.parse::<Uri>().ok().filter(is_plain);
        let address = address.ok_or_else(|| unsent(BadAddress(url.to_owned()).to_string()))?;
        if self.allows(&address) {
            return Ok(address);
        }
        Err(unsent(format!(
            "`{url}` is not among the addresses that the host allows: allow it with \
             `Http::address`, or with `--allow-url` of the tool"
        )))
    }

    /// Posts to an address, and returns what it answers.
    pub(crate) async fn post(
        &self,
        runner: &Runner,
        kind: &HandlerKind,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let HandlerKind::Http { url, headers, variables } = kind else { return Ok(Vec::new()) };
        let address = self.admit(url)?;
        let allowed = |name: &str| {
            variables.iter().any(|it| it == name) && self.variables.iter().any(|it| it == name)
        };
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.clone(), filled(value, allowed))).collect();
        let place = runner.place(timeout).await?;
        let (limit, deadline) = (place.limit, place.deadline);
        let (sender, answer) = oneshot::channel();
        let request = Request { address, headers, body, place };
        // The request is blocking, and holds its place until it is over.
        drop(tokio::task::spawn_blocking(move || {
            let answer = request.send(|| sender.is_closed());
            let _ = sender.send(answer);
        }));
        match timeout_at(deadline, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Failure::new(Cause::Http(format!("`{url}` was not asked")))),
            Err(_) => Err(Failure::new(Cause::Timeout(limit))),
        }
    }
}

/// Whether it is an address that is asked for as it is written.
fn is_plain(address: &Uri) -> bool {
    let scheme = matches!(address.scheme_str(), Some("http" | "https"));
    scheme && address.authority().is_some_and(|authority| !authority.as_str().contains('@'))
}

/// Whether a path leaves its folder, as a server may read it.
fn climbs(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains('\\') || path.contains("%5c") || path.replace("%2e", ".").contains("..")
}

/// A header with its variables: `$NAME` and `${NAME}`. One that is not allowed is empty.
fn filled(value: &str, allowed: impl Fn(&str) -> bool) -> String {
    let mut parts = value.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let braced = part.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let end = part.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let (name, rest) = braced.unwrap_or_else(|| part.split_at(end.unwrap_or(part.len())));
        if allowed(name) {
            filled.push_str(&std::env::var(name).unwrap_or_default());
        }
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_is_asked() {
        let http = Http::default().address("https://hooks.example.com/gate/").unwrap();
        let allows = |url: &str| url.parse().is_ok_and(|url| is_plain(&url) && http.allows(&url));
        assert!(allows("https://hooks.example.com/gate/tools"));
        assert!(!allows("http://hooks.example.com/gate/tools"));
        assert!(!allows("https://hooks.example.com.evil.test/gate/"));
        assert!(!allows("https://hooks.example.com@evil.test/gate/"));
        assert!(!allows("https://hooks.example.com/gate/../admin"));
        assert!(!allows("https://hooks.example.com/gate/%2E%2e/admin"));
        assert!(!allows("https://hooks.example.com/gate/..%5cadmin"));
        assert!(!allows("https://hooks.example.com:8443/gate/"));
        assert!(!allows("https://hooks.example.com/other"));
    }

    #[test]
    fn headers_have_only_the_variables_that_are_allowed() {
        let path = std::env::var("PATH").unwrap();
        let fill = |value: &str| filled(value, |name| name == "PATH");
        assert_eq!(fill("Bearer $PATH."), format!("Bearer {path}."));
        assert_eq!(fill("${PATH}x$HOME-"), format!("{path}x-"));
    }
}
