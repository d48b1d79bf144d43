//! One client, with a connection that it keeps.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Request;

/// What came of one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) took: Duration,
    /// Whether the order was large enough for a discount.
    pub(crate) large: bool,
    /// The discount; `None` where the order failed or is not what was asked for.
    pub(crate) discount: Option<u64>,
}

pub(crate) struct Client {
    agent: Agent,
    address: SocketAddr,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        Self { agent, address }
    }

    /// Sends an order: every other one is large.
    pub(crate) fn order(&self, number: usize) -> Sample {
        let large = number.is_multiple_of(2);
        let quantity = if large { 10 } else { 1 };
        let order = json!({ "item": "lamp", "quantity": quantity });
        let began = Instant::now();
        let answer = self.send("POST", "/orders", "alpha", order.to_string());
        let took = began.elapsed();
        let discount = answer.and_then(|(status, text)| {
            let order: Value = serde_json::from_str(&text).ok()?;
            let discount = order["discount_percent"].as_u64()?;
            let total = quantity * 1200 * (100 - discount) / 100;
            let right = status == 201 && order["total_cents"] == total && (large || discount == 0);
            (right && order["warehouse"] == "harbour").then_some(discount)
        });
        Sample { took, large, discount }
    }

    /// Loads or unloads a plugin; returns the status.
    pub(crate) fn plugin(&self, method: &str, id: &str) -> u16 {
        let path = format!("/admin/plugins/{id}");
        self.send(method, &path, "omega", String::new()).map_or(0, |(status, _)| status)
    }

    fn send(&self, method: &str, path: &str, token: &str, body: String) -> Option<(u16, String)> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"))
            .body(body)
            .ok()?;
        let mut response = self.agent.run(request).ok()?;
        let text = response.body_mut().read_to_string().ok()?;
        Some((response.status().as_u16(), text))
    }
}
