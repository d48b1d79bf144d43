//! `GET api/fires`: the fires as they happen, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::future::{Either, select};
use futures::stream;
use std::pin::pin;

use super::ApiError;
use crate::shared::{Ending, Shared};
use crate::timeline::Watching;

/// How long a stream is silent at most: what is between may close what is.
const SILENCE: Duration = Duration::from_secs(15);

pub(super) async fn fires(State(shared): State<Arc<Shared>>) -> Result<Response, ApiError> {
    let watching = shared.timeline.watch().ok_or_else(ApiError::too_many_streams)?;
    // The first message says at once that the stream is open, and when to try again.
    let first = "retry: 2000\nevent: open\ndata: {}\n\n".to_owned();
    let open = Open { watching, ending: shared.ending.clone(), first: Some(first) };
    let messages = stream::unfold(open, |mut open| async {
        let message = open.next().await?;
        Some((Ok::<_, Infallible>(message), open))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")];
    Ok((kind, Body::from_stream(messages)).into_response())
}

/// A stream that a page reads.
struct Open {
    watching: Watching,
    ending: Ending,
    first: Option<String>,
}

impl Open {
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let next = pin!(tokio::time::timeout(SILENCE, self.watching.next()));
        match select(next, self.ending.clone()).await {
            Either::Left((Err(_), _)) => Some(": nothing happens\n\n".to_owned()),
            Either::Left((Ok(batch), _)) => {
                Some(format!("event: fires\ndata: {}\n\n", batch?.to_json()))
            }
            Either::Right(((), _)) => None,
        }
    }
}
