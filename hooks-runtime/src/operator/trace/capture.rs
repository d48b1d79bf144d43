//! Payloads as JSON, for those who know them by their catalogue.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::payload::Payload;
use crate::catalogue::Catalogue;
use crate::engine::raw::Contained;
use crate::point::PointDescriptor;

/// Takes payloads as JSON, of the points that a catalogue has with JSON.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// hook_points! {
///     #![hook(json = "camelCase", catalogue = pub fn points)]
///     /// A person logs in.
///     pub void LoggedIn { account: String, password: String }
/// }
///
/// use hooks_runtime::operator::{Capture, TraceFilter, TraceLimit};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let capture = Capture::json(&points()).redact(|_point, payload| {
///     if let Some(password) = payload.get_mut("password") {
///         *password = "…".into();
///     }
/// });
/// let mut trace = hooks.operator().trace(TraceFilter::all().capture(capture), TraceLimit::count(1))?;
/// let payload = LoggedInPayload { account: "desk".into(), password: "secret".into() };
/// hooks.fire_void::<LoggedIn>(&payload).await?;
/// let fire = trace.next().await.unwrap();
/// assert_eq!(fire.payload().unwrap().text(), Some(r#"{"account":"desk","password":"…"}"#));
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a capture does nothing by itself"]
pub struct Capture {
    catalogue: Catalogue,
    redact: Option<Arc<Contained<Redact>>>,
}

type Redact = Box<dyn Fn(&'static str, &mut Value) + Send + Sync>;

impl Capture {
    /// Of the points in that catalogue. The others have no payload in a trace.
    pub fn json(catalogue: &Catalogue) -> Self {
        Self { catalogue: catalogue.clone(), redact: None }
    }

    /// Changes each payload before it is kept: takes out what others must not read. It is
    /// given the wire name of the point. Where it panics, the trace ends.
    pub fn redact(
        mut self,
        redact: impl Fn(&'static str, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        let redact: Redact = Box::new(redact);
        self.redact = Some(Arc::new(Contained::new(redact)));
        self
    }

    /// The payload of a fire as text, where the catalogue has its point with JSON.
    pub(super) fn text(
        &self,
        point: &'static PointDescriptor,
        payload: &mut Payload<'_>,
    ) -> Option<Result<String, String>> {
        let json = self.catalogue.get(point.name())?.json?;
        let value = json.payload(payload)?;
        Some(value.map(|mut value| {
            if let Some(redact) = &self.redact {
                (redact.get())(point.name(), &mut value);
            }
            value.to_string()
        }))
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redacts = self.redact.is_some();
        f.debug_struct("Capture").field("redacts", &redacts).finish_non_exhaustive()
    }
}
