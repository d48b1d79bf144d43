//! The page: one document, put together when this is compiled.

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};

use crate::token::random_hex;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page. It is the same for all: what it shows it asks the API for.
pub(crate) async fn page() -> Response {
    // Only what has this number is run, so that no text of others ever is.
    let nonce = random_hex();
    let page =
        PAGE.replace("{nonce}", &nonce).replace("{style}", STYLE).replace("{script}", SCRIPT);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(page).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
