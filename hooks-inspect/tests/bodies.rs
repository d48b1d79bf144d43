//! Bodies that are almost right, or break off.

mod support;

use axum::body::{Body, Bytes};
use serde_json::json;
use support::{Host, changing};

#[tokio::test]
async fn a_body_that_breaks_off_is_not_called_too_long() {
    let host = Host::new();
    let app = host.app();
    let parts = [Ok(Bytes::from("{")), Err(std::io::Error::other("the client is gone"))];
    let body = Body::from_stream(futures::stream::iter(parts));
    let answer = app.send(changing("POST", "/api/settings").body(body).unwrap()).await;
    assert_eq!(answer.refusal(), (400, "bad_request".to_owned()));
    assert!(host.hooks.operator().settings().is_empty());
}

#[tokio::test]
async fn what_is_not_an_object_is_no_change() {
    let host = Host::new();
    let app = host.app();
    let list = json!(["ordered:stats/count", "disable", "ops", "busy", null, false, false]);
    let answer = app.change("POST", "/api/settings", &list).await;
    assert_eq!(answer.refusal(), (400, "bad_request".to_owned()));
    let answer = app.change("POST", "/api/breakers/reset", &json!(["ordered:*"])).await;
    assert_eq!(answer.refusal(), (400, "bad_request".to_owned()));
    assert!(host.hooks.operator().settings().is_empty());
}

#[tokio::test]
async fn a_name_that_cannot_be_read_is_no_name() {
    let host = Host::new();
    let app = host.app();
    for text in ["\u{200b}", "\u{202e}", "\u{2028}", "\u{0}", "…"] {
        for field in ["by", "why"] {
            let mut asked = json!({
                "target": "ordered:*", "change": "disable", "by": "ops", "why": "busy",
            });
            asked[field] = text.into();
            let answer = app.change("POST", "/api/settings", &asked).await;
            assert_eq!(answer.refusal(), (422, "not_possible".to_owned()), "{field} {text:?}");
        }
    }
    assert!(host.hooks.operator().settings().is_empty());
}
