//! The service on a real socket, and a client for it.
#![allow(dead_code, reason = "each test uses its part of this")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hooks_service::configuration::Configuration;
use hooks_service::service::{Service, ShutdownError};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use ureq::Agent;
use ureq::http::Request;

/// A service that listens on a port of its own.
pub(crate) struct Running {
    pub(crate) service: Arc<Service>,
    pub(crate) address: SocketAddr,
    pub(crate) runtime: Runtime,
    /// What the plugin `journal` writes.
    journal: PathBuf,
    serving: JoinHandle<Result<(), ShutdownError>>,
    shutdown: oneshot::Sender<()>,
    agent: Agent,
    _folder: TempDir,
}

/// An answer: its status, the id of its request, and its body.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) request_id: Option<String>,
    pub(crate) body: Value,
}

impl Running {
    /// The service as its own configuration has it, but for the file, the port and what
    /// `change` changes.
    pub(crate) fn start(change: impl FnOnce(String) -> String) -> Self {
        let folder = TempDir::new().expect("a folder");
        let journal = folder.path().join("orders.jsonl");
        let text = include_str!("../../service.toml")
            .replace("127.0.0.1:8080", "127.0.0.1:0")
            .replace("target/orders.jsonl", &journal.display().to_string());
        let configuration = Configuration::from_toml(&change(text)).expect("a configuration");
        let runtime = Runtime::new().expect("a runtime");
        let (service, listener) = runtime.block_on(async {
            let listener = TcpListener::bind(configuration.listen).await.expect("a port");
            (Service::launch(configuration).await.expect("a service"), listener)
        });
        let address = listener.local_addr().expect("an address");
        let (shutdown, asked) = oneshot::channel();
        let serving = Arc::clone(&service).serve(listener, async { drop(asked.await) });
        let serving = runtime.spawn(serving);
        // A connection for each request: the server closes one whose body it did not read.
        let agent = Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
        let agent = agent.build().new_agent();
        Self { service, address, runtime, journal, serving, shutdown, agent, _folder: folder }
    }

    /// Sends a request, as the caller with that token.
    pub(crate) fn send(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let request = request.body(text).expect("a request");
        let mut response = self.agent.run(request).expect("an answer");
        let request_id = response.headers().get("x-request-id");
        let request_id = request_id.map(|id| id.to_str().expect("text").to_owned());
        let text = response.body_mut().read_to_string().expect("a body");
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Answer { status: response.status().as_u16(), request_id, body }
    }

    /// As a customer.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "alpha", &Value::Null)
    }

    /// As a customer.
    pub(crate) fn order(&self, order: &Value) -> Answer {
        self.send("POST", "/orders", "alpha", order)
    }

    /// Asks the service to end, and waits for that; returns what is in the journal then.
    pub(crate) fn end(self) -> Result<String, ShutdownError> {
        drop(self.shutdown);
        self.runtime.block_on(self.serving).expect("the server does not panic")?;
        Ok(std::fs::read_to_string(self.journal).expect("a journal"))
    }
}
