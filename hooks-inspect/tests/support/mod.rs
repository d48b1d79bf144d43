//! A small host, and requests to its page.
#![allow(dead_code, reason = "each test uses its part of this")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use hooks_inspect::{Failures, Inspector, Token};
use hooks_runtime::observe::Statistics;
use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Judgement, RegisterError, hook_points,
    on,
};
use serde_json::Value;
use tower::ServiceExt as _;

pub(crate) mod declared {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub(crate) fn points)]

        /// An order came in.
        pub(crate) void Ordered { item: String }
        /// May this be paid?
        pub(crate) gating Paying { cents: u32 }
        /// One delivery, stage by stage.
        #[hook(name = "van:deliver")]
        pub(crate) flow Delivering(u32) -> u32;
        /// Was never fired.
        pub(crate) void Forgotten { item: String }
    }
}
pub(crate) use declared::*;

hook_points! {
    /// In no catalogue.
    pub(crate) void Undeclared { n: u32 }
}

pub(crate) const TOKEN: &str = "a-token-for-the-tests";

/// What is shown of a host.
pub(crate) struct Host {
    pub(crate) hooks: HookRegistry,
    pub(crate) statistics: Statistics,
    pub(crate) failures: Failures,
}

impl Host {
    pub(crate) fn new() -> Self {
        let (statistics, failures) = (Statistics::new(), Failures::new());
        let hooks =
            HookRegistry::builder().observer(statistics.clone()).observer(failures.clone()).build();
        register(&hooks).expect("they fit");
        Self { hooks, statistics, failures }
    }

    /// A page that only reads.
    pub(crate) fn reading(&self) -> Inspector {
        Inspector::new(&self.hooks)
            .title("shop")
            .catalogue("shop", points())
            .statistics(self.statistics.clone())
            .failures(self.failures.clone())
    }

    /// A page that may change settings.
    pub(crate) fn inspector(&self) -> Inspector {
        self.reading().operator(self.hooks.operator(), Token::new(TOKEN).expect("long enough"))
    }

    pub(crate) fn app(&self) -> App {
        App(self.inspector().router())
    }

    /// Fires once what is ordered.
    pub(crate) async fn order(&self, item: &str) {
        let ordered = OrderedPayload { item: item.to_owned() };
        self.hooks.fire_void::<Ordered>(&ordered).await.expect("it fails open");
    }
}

fn register(hooks: &HookRegistry) -> Result<(), RegisterError> {
    hooks.register([
        on::<Ordered>().name("count").plugin("stats").handler(|_: &OrderedPayload| ()),
        on::<Ordered>().name("mail").plugin("post").after("stats/count").handler(
            |ordered: &OrderedPayload| match &*ordered.item {
                "lamp" => Ok(()),
                item => Err(format!("no address for {item}")),
            },
        ),
        on::<Paying>().name("limit").guard(|paying: &PayingPayload, cx: &HookContext| {
            cx.note("limit", "100");
            if paying.cents < 100 { Judgement::Pass } else { Judgement::reject("too much") }
        }),
        on::<BeforeExecute<Delivering>>()
            .name("route")
            .handler(|_: &mut FlowContext<Delivering>| ()),
        on::<Undeclared>().name("spare").handler(|_: &UndeclaredPayload| ()),
    ])?;
    Ok(())
}

/// The routes of a page.
pub(crate) struct App(pub(crate) Router);

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The word for what was refused, and the status.
    #[track_caller]
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["error"].as_str().expect("an error").to_owned())
    }
}

impl App {
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.0.clone().oneshot(request).await.expect("routes do not fail");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a body");
        let body = String::from_utf8(body.into()).expect("UTF-8");
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path).body(Body::empty()).expect("a request")).await
    }

    /// A change as the page sends it.
    pub(crate) async fn change(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(changing(method, path).body(body.into()).expect("a request")).await
    }
}

/// A request to this machine.
pub(crate) fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1:4000")
}

/// A request that may change something.
pub(crate) fn changing(method: &str, path: &str) -> axum::http::request::Builder {
    request(method, path)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/json")
}
