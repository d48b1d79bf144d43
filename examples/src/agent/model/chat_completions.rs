//! A model behind HTTP: any server that speaks the chat-completions shape.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use ureq::Agent as Client;

use super::chat_wire::{Body, Completion};
use super::{Model, ModelError, Reply, Request};

/// How long a round trip may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// A model behind HTTP.
#[derive(Clone)]
pub struct ChatCompletions {
    client: Client,
    url: String,
    model: String,
    key: Option<String>,
}

impl ChatCompletions {
    /// The model of that name at a server, such as `http://localhost:8080/v1`.
    /// The key, if there is one, goes into the header `authorization`.
    pub fn new(base: &str, model: &str, key: Option<String>) -> Self {
        let config = Client::config_builder()
            .timeout_global(Some(PATIENCE))
            // The body of an error says more than its number.
            .http_status_as_error(false)
            .build();
        Self {
            client: config.new_agent(),
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            model: model.to_owned(),
            key,
        }
    }

    fn round_trip(&self, body: String) -> Result<Reply, ModelError> {
        let mut request = self.client.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(|error| self.failed(error))?;
        let text = response.body_mut().read_to_string().map_err(|error| self.failed(error))?;
        if !response.status().is_success() {
            return Err(self.failed(format_args!("{}: {text}", response.status())));
        }
        let completion: Completion =
            serde_json::from_str(&text).map_err(|error| self.failed(error))?;
        completion.reply().map_err(|problem| self.failed(problem))
    }

    fn failed(&self, problem: impl fmt::Display) -> ModelError {
        ModelError(format!("{}: {problem}", self.url))
    }
}

impl Model for ChatCompletions {
    fn name(&self) -> &str {
        &self.model
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let body = serde_json::to_string(&Body::new(&self.model, request))
                .map_err(|error| self.failed(error))?;
            let model = self.clone();
            let blocking = tokio::task::spawn_blocking(move || model.round_trip(body));
            blocking.await.map_err(|error| self.failed(error))?
        })
    }
}

impl fmt::Debug for ChatCompletions {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatCompletions")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
