//! A registry in the way of `IronClaw`'s lifecycle hooks, written for this
//! benchmark: one vector of all hooks behind a lock that is held through the
//! run, filtered for each event; the event cloned; every hook a boxed future
//! with a timer around it; the text before and after compared at the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::RwLock;

use crate::peers::BoxFuture;
use crate::points::{Message, work};

/// The places at which hooks run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Inbound,
    Outbound,
}

/// What a hook decides.
enum Decision {
    Continue,
    Rewrite(String),
    Reject(String),
}

trait Hook: Send + Sync {
    fn places(&self) -> &[Place];

    fn limit(&self) -> Duration;

    fn decide<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Decision, String>>;
}

/// A hook with nothing to say.
struct Quiet {
    places: Vec<Place>,
}

impl Hook for Quiet {
    fn places(&self) -> &[Place] {
        &self.places
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn decide<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Decision, String>> {
        Box::pin(async move {
            work(message.content.len() as u64);
            Ok(match message.content.as_str() {
                "" => Decision::Reject("it is empty".to_owned()),
                "?" => Decision::Rewrite("help".to_owned()),
                _ => Decision::Continue,
            })
        })
    }
}

/// The registry.
pub(crate) struct Lifecycle {
    hooks: RwLock<Vec<Arc<dyn Hook>>>,
}

impl Lifecycle {
    /// With so many hooks for inbound messages.
    pub(crate) fn new(count: usize) -> Self {
        let hook = |_| -> Arc<dyn Hook> {
            Arc::new(Quiet { places: vec![Place::Outbound, Place::Inbound] })
        };
        Self { hooks: RwLock::new((0..count).map(hook).collect()) }
    }

    /// Runs them. The text is there if one of them changed it.
    pub(crate) async fn run(&self, message: &Message) -> Result<Option<String>, String> {
        let hooks = self.hooks.read().await;
        let inbound: Vec<_> =
            hooks.iter().filter(|hook| hook.places().contains(&Place::Inbound)).collect();
        if inbound.is_empty() {
            return Ok(None);
        }
        let mut current = message.clone();
        for hook in inbound {
            match tokio::time::timeout(hook.limit(), hook.decide(&current)).await {
                Ok(Ok(Decision::Continue)) => {}
                Ok(Ok(Decision::Rewrite(text))) => current.content = text,
                Ok(Ok(Decision::Reject(reason)) | Err(reason)) => return Err(reason),
                Err(_) => return Err("a hook took too long".to_owned()),
            }
        }
        let (before, after) = (message.content.clone(), current.content.clone());
        Ok((before != after).then_some(after))
    }
}
