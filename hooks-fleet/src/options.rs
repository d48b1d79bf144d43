//! What a process says when it joins a fleet.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::point::HookPoint;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::calls::RemoteCall;
use crate::values::Values;

/// Who a process is, which points it knows, and how patient it is.
///
/// ```
/// use std::time::Duration;
/// use hooks_fleet::FleetOptions;
/// use hooks_runtime::hook_points;
///
/// hook_points! {
///     #![hook(json = "camelCase", schema, catalogue = pub fn points)]
///     /// A page was printed.
///     pub void Printed { page: u32 }
/// }
///
/// let options = FleetOptions::new("press", points())
///     .version("2.1.0")
///     .timeout(Duration::from_secs(2))
///     .durable::<Printed>();
/// # assert!(format!("{options:?}").contains("press"));
/// ```
#[derive(Clone)]
#[must_use = "give it to `Fleet::connect` or `Fleet::local`"]
pub struct FleetOptions {
    pub(crate) service: String,
    pub(crate) version: String,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) durable: BTreeSet<&'static str>,
    pub(crate) timeout: Duration,
    pub(crate) attempts: u32,
    pub(crate) max_in_flight: usize,
    pub(crate) max_reply: usize,
    pub(crate) announce_every: Duration,
    pub(crate) forget_after: Duration,
    pub(crate) linger: Duration,
    pub(crate) deliveries: u32,
    pub(crate) back_off: Vec<Duration>,
    pub(crate) values: Values,
    pub(crate) observer: Option<Observer>,
    pub(crate) headers: bool,
}

/// More permits than that cannot be waited for at once.
const MAX_IN_FLIGHT: usize = 1 << 20;

/// Who hears of every call.
pub(crate) type Observer = Arc<dyn Fn(&RemoteCall) + Send + Sync>;

impl FleetOptions {
    /// A process of the service of that name, which is a plugin id: at the processes that
    /// fire, it owns the handlers of this one. The catalogue has the points that are shared or
    /// served; blocks of points are put together by [`Catalogue::merge`].
    pub fn new(service: impl Into<String>, catalogue: Catalogue) -> Self {
        Self {
            service: service.into(),
            version: String::new(),
            catalogue: Arc::new(catalogue),
            durable: BTreeSet::new(),
            timeout: Duration::from_secs(10),
            attempts: 2,
            max_in_flight: 256,
            max_reply: 1 << 20,
            announce_every: Duration::from_secs(5),
            forget_after: Duration::from_secs(15),
            linger: Duration::from_millis(250),
            deliveries: 5,
            back_off: [1, 5, 30, 120].map(Duration::from_secs).to_vec(),
            values: Values::default(),
            observer: None,
            headers: false,
        }
    }

    /// The version of the service, for people.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Fires of this void point are handed to a durable stream, and its remote handlers are
    /// not awaited. All processes say so, or none.
    pub fn durable<P: HookPoint>(mut self) -> Self {
        self.durable.insert(P::NAME);
        self
    }

    /// How long a call of a handler takes at most, where the handler has announced no limit of
    /// its own: 10 seconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// How often a call is tried at most: 2. A second attempt is made only where nothing ran,
    /// or where the handler is declared idempotent, and only while there is time.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// How many calls this process serves at once: 256. More are refused as overloaded.
    pub fn max_in_flight(mut self, calls: usize) -> Self {
        self.max_in_flight = calls.clamp(1, MAX_IN_FLIGHT);
        self
    }

    /// The largest reply that is read, in bytes: 1 MiB.
    pub fn max_reply(mut self, bytes: usize) -> Self {
        self.max_reply = bytes;
        self
    }

    /// How often this process says that it is there, every 5 seconds, and after which silence
    /// another one is asked whether it is, 15 seconds. Over NATS it is said at least three times in
    /// the time that the server keeps it.
    pub fn presence(mut self, every: Duration, forget_after: Duration) -> Self {
        let shortest = Duration::from_millis(1);
        (self.announce_every, self.forget_after) =
            (every.max(shortest), forget_after.max(shortest));
        self
    }

    /// How long a process that leaves goes on serving those who have not heard of it: 250 ms.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// How often a durable message is delivered at most, 5 times, and how long is waited
    /// before each further delivery: 1 s, 5 s, 30 s, 2 min. The last one counts for all
    /// that follow.
    ///
    /// A delivery to a process whose version the message does not fit counts too. While two
    /// versions are there, either may get it: the waits together must last longer than such a
    /// time does, and each version that does not fit costs about every second delivery.
    pub fn deliveries(mut self, attempts: u32, back_off: impl Into<Vec<Duration>>) -> Self {
        (self.deliveries, self.back_off) = (attempts.max(1), back_off.into());
        self
    }

    /// Lets the value of type `T` of a scope travel with the calls of remote handlers, under
    /// that name: a handler finds it in its context, as any value of its scope. Both sides say
    /// so; a process that does not leaves it out, and one that cannot read it refuses the call.
    /// A [`TraceContext`](crate::TraceContext) travels without being declared.
    ///
    /// What travels is said by whoever may call: a handler that decides by it trusts them all.
    ///
    /// ```
    /// # use hooks_fleet::{FleetOptions, LocalNetwork, Fleet};
    /// # use hooks_runtime::{Gate, HookContext, HookRegistry, Judgement, hook_points, on};
    /// # hook_points! {
    /// #     #![hook(json = "camelCase", schema, catalogue = pub fn points)]
    /// #     /// Before a command is run.
    /// #     pub gating Running { line: String }
    /// # }
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Tenant(String);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let network = LocalNetwork::new();
    /// let options = |service| FleetOptions::new(service, points()).value::<Tenant>("tenant");
    /// let policy = HookRegistry::new();
    /// policy.register(on::<Running>().name("paid").guard(|_: &RunningPayload, cx: &HookContext| {
    ///     match cx.get::<Tenant>() {
    ///         Some(Tenant(name)) if name == "north" => Judgement::Pass,
    ///         _ => Judgement::reject("who pays?"),
    ///     }
    /// }))?;
    /// # let serving = Fleet::local(&network, options("policy"))?.serve::<Running>(&policy).start().await?;
    /// let hooks = HookRegistry::new();
    /// # let fleet = Fleet::local(&network, options("agent"))?;
    /// # let sharing = fleet.share::<Running>(&hooks).from("policy").start().await?;
    /// let command = || RunningPayload { line: "ls".into() };
    /// assert!(matches!(hooks.fire_gating::<Running>(command()).await?, Gate::Rejected(_)));
    /// let north = hooks.with(Tenant("north".into()));
    /// assert!(matches!(north.fire_gating::<Running>(command()).await?, Gate::Passed(_)));
    /// # Ok(()) }
    /// ```
    pub fn value<T>(mut self, name: impl Into<String>) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.values.declare::<T>(name.into());
        self
    }

    /// Repeats in headers what a request says of its call, point, schema, attempt and time: for
    /// what looks at messages on the way. Those of a trace are always there, and a durable
    /// message has all of them. Without this a call is faster.
    pub fn repeat_in_headers(mut self) -> Self {
        self.headers = true;
        self
    }

    /// Is told of every call of a remote handler, when it has ended. Its panic changes nothing
    /// for the call.
    pub fn observe(mut self, observer: impl Fn(&RemoteCall) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// How long is waited after that attempt of a delivery.
    pub(crate) fn back_off(&self, attempt: u32) -> Duration {
        let at = (attempt.max(1) - 1) as usize;
        self.back_off.get(at).or(self.back_off.last()).copied().unwrap_or_default()
    }
}

impl fmt::Debug for FleetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetOptions")
            .field("service", &self.service)
            .field("version", &self.version)
            .field("durable", &self.durable)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
