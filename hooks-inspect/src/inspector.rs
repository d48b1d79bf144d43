//! What a page is made of.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use futures::FutureExt as _;
use hooks_runtime::HookRegistry;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::observe::Statistics;
use hooks_runtime::operator::Operator;

use crate::api;
use crate::failures::Failures;
use crate::guard::Guard;
use crate::served::{ServeError, Served, serve};
use crate::shared::{Changes, Ending, Group, Shared};
use crate::timeline::Timeline;
use crate::token::Token;

/// A live page for a running registry, to be [mounted](Self::router) or
/// [served](Self::serve).
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! {
/// #     #![hook(catalogue = pub fn points)]
/// #     /// A message was sent.
/// #     pub void Sent { to: String }
/// # }
/// use hooks_inspect::{Failures, Inspector, Token};
/// use hooks_runtime::observe::Statistics;
///
/// let (statistics, failures) = (Statistics::new(), Failures::new());
/// let hooks = HookRegistry::builder()
///     .observer(statistics.clone())
///     .observer(failures.clone())
///     .build();
/// let inspector = Inspector::new(&hooks)
///     .title("mail")
///     .catalogue("mail", points())
///     .statistics(statistics)
///     .failures(failures)
///     .operator(hooks.operator(), Token::generate());
/// let app: axum::Router = axum::Router::new().nest("/hooks", inspector.router());
/// # let _ = app;
/// ```
#[derive(Debug)]
#[must_use = "an inspector shows nothing before it is mounted or served"]
pub struct Inspector {
    hooks: HookRegistry,
    title: String,
    groups: Vec<Group>,
    statistics: Option<Statistics>,
    failures: Option<Failures>,
    changes: Option<Changes>,
    guard: Guard,
    streams: usize,
    ending: Option<Ending>,
}

/// How many streams of events are open at once unless it is said.
const STREAMS: usize = 16;

impl Inspector {
    /// A page that only reads.
    ///
    /// The example of [`Inspector`] makes one.
    pub fn new(hooks: &HookRegistry) -> Self {
        Self {
            hooks: hooks.clone(),
            title: "hooks".to_owned(),
            groups: Vec::new(),
            statistics: None,
            failures: None,
            changes: None,
            guard: Guard::default(),
            streams: STREAMS,
            ending: None,
        }
    }

    /// What the page calls the host.
    ///
    /// The example of [`Inspector`] has a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The points of a catalogue, as a group of the page with that name: with their doc
    /// comments, and also those without handlers. Points in no catalogue are in the group
    /// `other`.
    ///
    /// The example of [`Inspector`] has one group.
    pub fn catalogue(mut self, group: impl Into<String>, catalogue: Catalogue) -> Self {
        self.groups.push(Group { name: group.into(), catalogue });
        self
    }

    /// Where the page takes latencies from: an observer of the registry.
    ///
    /// The example of [`Inspector`] gives one.
    pub fn statistics(mut self, statistics: Statistics) -> Self {
        self.statistics = Some(statistics);
        self
    }

    /// Where the page takes failures from: an observer of the registry. Without it, the
    /// page has the failures of the fires that it saw itself.
    ///
    /// The example of [`Failures`] gives one.
    pub fn failures(mut self, failures: Failures) -> Self {
        self.failures = Some(failures);
        self
    }

    /// The page may change settings, where it shows this token. Without this it only reads.
    ///
    /// The example of [`Inspector`] allows it.
    pub fn operator(mut self, operator: Operator, token: Token) -> Self {
        self.changes = Some(Changes { operator, token });
        self
    }

    /// A name by which browsers reach the page, without a port: by default only those of
    /// this machine, `localhost` and its addresses, are answered. That a request names a
    /// host that is known keeps pages of others from reaching this one by a name of theirs
    /// that leads here.
    ///
    /// ```
    /// # let hooks = hooks_runtime::HookRegistry::new();
    /// use hooks_inspect::Inspector;
    ///
    /// // Behind a proxy that authenticates, on this machine.
    /// let inspector = Inspector::new(&hooks).allow_host("hooks.example.com");
    /// # let _ = inspector;
    /// ```
    pub fn allow_host(mut self, name: impl AsRef<str>) -> Self {
        self.guard.allow_host(name.as_ref());
        self
    }

    /// **Dangerous**: answers other machines too. Everything that can reach the address can
    /// then read names, counters and error texts, and the token travels in the clear unless
    /// a proxy adds TLS. Hosts that are names must be [allowed](Self::allow_host) as well.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = hooks_runtime::HookRegistry::new();
    /// use hooks_inspect::Inspector;
    ///
    /// let refused = Inspector::new(&hooks).serve("0.0.0.0:0".parse()?).await;
    /// assert!(refused.is_err());
    /// let served = Inspector::new(&hooks).allow_remote().serve("0.0.0.0:0".parse()?).await?;
    /// # let _ = served;
    /// # Ok(()) }
    /// ```
    pub fn allow_remote(mut self) -> Self {
        self.guard.allow_remote();
        self
    }

    /// How many streams of events may be open at once, 16 by default: each page that is
    /// open has one.
    ///
    /// ```
    /// # let hooks = hooks_runtime::HookRegistry::new();
    /// use hooks_inspect::Inspector;
    ///
    /// let inspector = Inspector::new(&hooks).streams(2);
    /// # let _ = inspector;
    /// ```
    pub fn streams(mut self, most: usize) -> Self {
        self.streams = most;
        self
    }

    /// The streams of events end when this is ready: a host that waits for its connections
    /// before it ends gives what it waits for here as well.
    ///
    /// ```
    /// # let hooks = hooks_runtime::HookRegistry::new();
    /// use hooks_inspect::Inspector;
    /// use tokio::sync::oneshot;
    ///
    /// let (stop, stopped) = oneshot::channel::<()>();
    /// let inspector = Inspector::new(&hooks).ending(async { drop(stopped.await) });
    /// # let _ = (inspector, stop);
    /// ```
    pub fn ending(mut self, ended: impl Future<Output = ()> + Send + 'static) -> Self {
        self.ending = Some(ended.boxed().shared());
        self
    }

    /// The routes, to be mounted in a host's own: `Router::new().nest("/hooks", …)`.
    ///
    /// A host that serves other machines should have its server know the addresses of its
    /// clients (`into_make_service_with_connect_info::<SocketAddr>()`): then only clients
    /// on this machine are answered. Where they are not known, the name of the host in the
    /// request decides alone, and what is not a browser can claim any.
    ///
    /// The example of [`Inspector`] mounts them.
    pub fn router(self) -> Router {
        api::router(Arc::new(self.shared()))
    }

    /// Serves the page alone at this address, with port 0 at any free port. An address that
    /// other machines can reach is refused, unless that is [allowed](Self::allow_remote).
    ///
    /// The example of [`Served`] serves one.
    pub async fn serve(self, address: SocketAddr) -> Result<Served, ServeError> {
        serve(self, address).await
    }

    pub(crate) fn serves_remote(&self) -> bool {
        self.guard.is_remote()
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.changes.as_ref().map(|changes| &changes.token)
    }

    /// The end that was asked for, or none.
    pub(crate) fn take_ending(&mut self) -> Option<Ending> {
        self.ending.take()
    }

    fn shared(self) -> Shared {
        let is_observed = self.failures.is_some();
        let failures = self.failures.unwrap_or_default();
        let of_pages = (!is_observed).then(|| failures.clone());
        Shared {
            timeline: Timeline::new(&self.hooks, self.streams, of_pages),
            hooks: self.hooks,
            title: self.title,
            groups: self.groups,
            statistics: self.statistics,
            failures,
            changes: self.changes,
            guard: self.guard,
            ending: self.ending.unwrap_or_else(|| futures::future::pending().boxed().shared()),
        }
    }
}
