//! The way of every request: it gets an id, is authorised, and takes the hooks of its
//! scope along.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use hooks_runtime::{Gate, Plugins};

use crate::access::Access;
use crate::error::ApiError;
use crate::points::Authorize;
use crate::service::Service;

const REQUEST_ID: &str = "x-request-id";

/// The id of a request: a value of the scope, which all handlers can read, also those
/// in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The tenant that a request is served for: a value of the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant(pub String);

/// Authorises a request, and puts the hooks that carry its values into its extensions.
pub async fn authorize(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let id = request_id(&request).unwrap_or_else(|| service.next_request_id());
    let hooks = service.hooks().scope(Plugins::All).with(RequestId(id.clone()));
    let access = match hooks.fire_gating::<Authorize>(access(&request)).await? {
        Gate::Passed(access) => access,
        Gate::Rejected(rejection) => return Err(ApiError::refused(rejection)),
    };
    if let Some(caller) = access.caller {
        request.extensions_mut().insert(hooks.with(Tenant(caller.tenant)));
    }
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    Ok(response)
}

/// What is known of a request before a handler has seen it.
pub fn access(request: &Request) -> Access {
    let bearer =
        |value: &HeaderValue| value.to_str().ok()?.strip_prefix("Bearer ").map(str::to_owned);
    Access {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        token: request.headers().get(AUTHORIZATION).and_then(bearer),
        caller: None,
    }
}

fn request_id(request: &Request) -> Option<String> {
    let given = request.headers().get(REQUEST_ID)?.to_str().ok()?;
    (!given.is_empty() && given.len() <= 64).then(|| given.to_owned())
}
