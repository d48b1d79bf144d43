//! The scripted day again and again, in one registry, with a live page beside it.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::future::BoxFuture;
use hooks_inspect::{Failures, Inspector, Served, Token};
use hooks_points::catalogue;
use hooks_runtime::HookRegistry;
use hooks_runtime::observe::Statistics;

use crate::agent::{Model, ModelError, Reply, Request, ScriptedModel};
use crate::day;
use crate::house::House;

type Failure = Box<dyn Error + Send + Sync>;

/// An agent with a live page: what an operator sets there holds from day to day.
#[derive(Debug)]
pub struct Inspected {
    hooks: HookRegistry,
    served: Served,
    pause: Duration,
    /// From the second day on.
    house: Option<House>,
}

impl Inspected {
    /// Opens the page at this port of this machine, 0 for any that is free. The model
    /// pauses before each answer.
    pub async fn open(port: u16, pause: Duration) -> Result<Self, Failure> {
        let (statistics, failures) = (Statistics::new(), Failures::new());
        let hooks =
            HookRegistry::builder().observer(statistics.clone()).observer(failures.clone()).build();
        let served = Inspector::new(&hooks)
            .title("agent")
            .catalogue("agent", catalogue::agent())
            .catalogue("gateway", catalogue::gateway())
            .catalogue("lifecycle", catalogue::lifecycle())
            .catalogue("mcp", catalogue::mcp())
            .statistics(statistics)
            .failures(failures)
            .operator(hooks.operator(), Token::generate())
            .serve(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .await?;
        Ok(Self { hooks, served, pause, house: None })
    }

    /// The address of the page, with its token.
    pub fn address(&self) -> &str {
        self.served.address()
    }

    /// The registry of every day.
    pub fn hooks(&self) -> &HookRegistry {
        &self.hooks
    }

    /// Lives through a day.
    pub async fn day(&mut self) -> Result<(), Failure> {
        let model = Box::new(Paced { model: day::script(), pause: self.pause });
        let house = match self.house.take() {
            None => House::in_registry(self.hooks.clone(), model, day::date())?,
            Some(house) => house.again(model, day::date())?,
        };
        let house = self.house.insert(house);
        Ok(day::live(house, drop).await?)
    }
}

/// A model that takes its time.
#[derive(Debug)]
struct Paced {
    model: ScriptedModel,
    pause: Duration,
}

impl Model for Paced {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(self.pause).await;
            self.model.complete(request).await
        })
    }
}
