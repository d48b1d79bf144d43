//! What is registered, in the order in which it runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::escape::escaped;
use crate::flow::{FlowPoint, StageKind};
use crate::handler::target::Target;
use crate::operator::rules::HandlerRules;
use crate::operator::store::SettingStore;
use crate::operator::target;
use crate::operator::{BreakerState, Mode, Setting, SettingId, TransitionCounts};
use crate::point::{FailurePolicy, HookPoint, ModelKind, SourceLocation};
use crate::registry::audit::DropReason;
use crate::registry::entry::{Entry, Owner, Phase};
use crate::registry::handler_counters::{FailureCounts, SkipCounts};
use crate::registry::order::{self, Relation};
use crate::registry::store::{PointStore, Sequence, Store};
use crate::registry::{HookRegistry, Inner};
use crate::report::ContributionCounts;
use crate::sync::MutexGuard;
use crate::timer::now;

/// A registered handler, as of the call that returned this.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Ticked { second: u64 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Ticked>().name("clock").priority(3).handler(|_: &TickedPayload| ()))?;
/// hooks.fire_void::<Ticked>(&TickedPayload { second: 1 }).await?;
/// let clock = &hooks.handlers_at::<Ticked>()[0];
/// assert_eq!((&*clock.name, clock.point, clock.priority), ("clock", "ticked", 3));
/// assert_eq!((clock.calls, clock.failures, clock.guard), (1, 0, false));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the handler")]
#[non_exhaustive]
pub struct HandlerInfo {
    /// The wire name of its point.
    pub point: &'static str,
    /// The model of its point.
    pub model: ModelKind,
    /// The wire name of the flow, for a handler of a stage.
    pub flow: Option<&'static str>,
    /// The stage, for a handler of a stage.
    pub stage: Option<StageKind>,
    /// Its name.
    pub name: Arc<str>,
    /// Who registered it.
    pub owner: Owner,
    /// Its priority: the lower number first.
    pub priority: i32,
    /// Whether it is a guard of a gating point.
    pub guard: bool,
    /// What its failure means for the fire, as declared; `Operator::explain` has what an
    /// operator made of it.
    pub policy: FailurePolicy,
    /// How long a fire waits for its answer, as declared.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "timeout_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    pub timeout: Option<Duration>,
    /// The type or name it is bound to.
    pub target: Option<Target>,
    /// Where it is written.
    pub location: SourceLocation,
    /// How often it was called. Fires under way are counted when they end.
    pub calls: u64,
    /// How often it failed, also where a breaker or a rate limit kept it from being called.
    pub failures: u64,
    /// How often it failed, by cause.
    pub failures_by: FailureCounts,
    /// How many calls of it are pending now: those that returned to their fire without an
    /// answer and have not ended. A call that runs on a thread for the first time is not
    /// pending yet.
    pub in_flight: u64,
    /// How often it answered after its time limit.
    pub overruns: u64,
    /// Whether it has a condition.
    pub conditional: bool,
    /// Whether it is removed with its first call.
    pub once: bool,
    /// Whether it is declared to have no side effects, so that it may run in shadow and
    /// in a replay.
    pub pure: bool,
    /// The handler of the same owner that it is a part of: what an operator sets for that
    /// one holds for it too.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub part_of: Option<Arc<str>>,
    /// How often it was not called, by reason.
    pub skips: SkipCounts,
    /// The mode that an operator has set, or the normal one.
    pub mode: Mode,
    /// What it decided in shadow, to no effect, by kind.
    pub shadow: ContributionCounts,
    /// How many of its failures were in shadow.
    pub shadow_failures: u64,
    /// The state of its circuit breaker, where an operator gave it one.
    pub breaker: Option<BreakerState>,
    /// Whether that breaker only counts, and calls go on.
    pub breaker_is_shadow: bool,
    /// How often that breaker has opened, become half-open and closed, since its setting
    /// began.
    pub breaker_transitions: TransitionCounts,
    /// The settings of an operator that count for it, in the order in which they do:
    /// `Operator::setting` has each.
    pub settings: Vec<SettingId>,
}

/// Why a handler has its place in the order.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Saved>().name("index").handler(|_: &SavedPayload| ()))?;
/// hooks.register(on::<Saved>().name("trim").before("index").handler(|_: &SavedPayload| ()))?;
/// let order = hooks.explain_order::<Saved>();
/// assert_eq!((&*order[0].handler, &*order[1].handler), ("trim", "index"));
/// assert_eq!(
///     order[1].reason,
///     "priority 0; after `trim`, that one asks for it; registered as number 1 of that priority",
/// );
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OrderReason {
    /// The handler's name.
    pub handler: Arc<str>,
    /// Who registered it.
    pub owner: Owner,
    /// Why it has this place, as a sentence.
    pub reason: String,
}

impl HandlerInfo {
    /// How an operator names it: `point:plugin/handler`, or `point:handler` where it is
    /// built-in.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Ticked { second: u64 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Ticked>().name("clock").plugin("wall").handler(|_: &TickedPayload| ()))?;
    /// let address = hooks.handlers()[0].address();
    /// assert_eq!(address, "ticked:wall/clock");
    /// hooks.operator().disable(address).apply()?;
    /// # Ok(()) }
    /// ```
    pub fn address(&self) -> String {
        target::of(self.point, self.owner.plugin(), &self.name)
    }
}

impl Inner {
    /// What a list of handlers is made from. The clock is asked before the lock is taken:
    /// a timer is code of the host.
    fn listing(&self) -> (Instant, MutexGuard<'_, Store>) {
        (now(&*self.config.timer), self.store())
    }
}

impl HookRegistry {
    /// All handlers: point by point in the order of their wire names, each
    /// point's in the order in which they run.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 }  pub void Closed { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().handler(|_: &SavedPayload| ()))?;
    /// hooks.register(on::<Closed>().handler(|_: &ClosedPayload| ()))?;
    /// let points: Vec<_> = hooks.handlers().iter().map(|handler| handler.point).collect();
    /// assert_eq!(points, ["closed", "saved"]);
    /// # Ok(()) }
    /// ```
    pub fn handlers(&self) -> Vec<HandlerInfo> {
        self.handlers_where(|_| true)
    }

    /// The handlers of `P`, in the very order in which a fire walks them.
    ///
    /// The example of [`HandlerInfo`] looks at one.
    pub fn handlers_at<P: HookPoint>(&self) -> Vec<HandlerInfo> {
        let (at, store) = self.inner.listing();
        let point = store.points().get(&P::descriptor().index());
        point.map_or_else(Vec::new, |point| infos(&store, point, at))
    }

    /// The handlers of all stages of the flow `F`, stage by stage.
    ///
    /// The example of [`FlowPoint`] looks at the stages of one.
    pub fn handlers_of_flow<F: FlowPoint>(&self) -> Vec<HandlerInfo> {
        let (at, store) = self.inner.listing();
        let stages = StageKind::ALL.map(|stage| F::stages().get(stage).index());
        let stages = stages.iter().filter_map(|index| store.points().get(index));
        stages.flat_map(|point| infos(&store, point, at)).collect()
    }

    /// The handlers of one owner: a plugin's by its id, `"built-in"` for those of the
    /// host, which no plugin can be called. An [`Owner`] is fine too.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # use hooks_runtime::registry::Owner;
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().handler(|_: &SavedPayload| ()))?;
    /// hooks.register(on::<Saved>().plugin("audit").handler(|_: &SavedPayload| ()))?;
    /// assert_eq!(hooks.handlers_of("audit").len(), 1);
    /// assert_eq!(hooks.handlers_of(Owner::BuiltIn).len(), hooks.handlers_of("built-in").len());
    /// # Ok(()) }
    /// ```
    pub fn handlers_of(&self, owner: impl AsRef<str>) -> Vec<HandlerInfo> {
        let owner = owner.as_ref();
        self.handlers_where(|info| info.owner.as_ref() == owner)
    }

    /// The handlers that are bound to this target.
    ///
    /// The example of [`Target`] asks for them.
    pub fn handlers_for(&self, target: &Target) -> Vec<HandlerInfo> {
        self.handlers_where(|info| info.target.as_ref() == Some(target))
    }

    fn handlers_where(&self, wanted: impl Fn(&HandlerInfo) -> bool) -> Vec<HandlerInfo> {
        let (at, store) = self.inner.listing();
        let points = store.sorted_points().into_iter();
        points.flat_map(|(_, point)| infos(&store, point, at)).filter(wanted).collect()
    }

    /// For each handler of `P`, in order, why it has its place.
    ///
    /// The example of [`OrderReason`] explains one.
    pub fn explain_order<P: HookPoint>(&self) -> Vec<OrderReason> {
        let store = self.inner.store();
        let point = store.points().get(&P::descriptor().index());
        point.map_or_else(Vec::new, explained)
    }

    /// As [`explain_order`](Self::explain_order), of the point or stage of that wire name;
    /// `None` where no point of that name has had a handler here.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().name("index").handler(|_: &SavedPayload| ()))?;
    /// assert_eq!(hooks.explain_order_of("saved"), Some(hooks.explain_order::<Saved>()));
    /// assert_eq!(hooks.explain_order_of("shaved"), None);
    /// # Ok(()) }
    /// ```
    pub fn explain_order_of(&self, point: &str) -> Option<Vec<OrderReason>> {
        let store = self.inner.store();
        store.points().values().find(|known| known.descriptor.name() == point).map(explained)
    }
}

fn explained(point: &PointStore) -> Vec<OrderReason> {
    let reasons = point.order.iter().zip(reasons(&point.order));
    let explained = reasons.map(|(entry, reason)| OrderReason {
        handler: Arc::clone(&entry.name),
        owner: entry.owner(),
        reason,
    });
    explained.collect()
}

fn infos(store: &Store, point: &PointStore, now: Instant) -> Vec<HandlerInfo> {
    let calls = point.calls();
    calls.map(|(entry, calls)| info(point, (entry, calls), &store.settings, now)).collect()
}

fn info(
    point: &PointStore,
    (entry, calls): (&Entry, u64),
    settings: &SettingStore,
    now: Instant,
) -> HandlerInfo {
    let rules = settings.holding(entry, now);
    let breaker = rules.as_ref().and_then(|rules| rules.breaker());
    let (shadow, shadow_failures) = entry.counters.shadow();
    // Read once, so that the two agree.
    let failures = entry.counters.failures();
    HandlerInfo {
        point: point.descriptor.name(),
        model: point.descriptor.model(),
        flow: point.descriptor.flow(),
        stage: point.descriptor.stage(),
        name: Arc::clone(&entry.name),
        owner: entry.owner(),
        priority: entry.priority,
        guard: entry.phase == Phase::Guard,
        policy: entry.policy,
        timeout: entry.timeout,
        target: entry.target.clone(),
        location: entry.location,
        calls,
        failures: failures.total(),
        failures_by: failures,
        in_flight: entry.handler.pending_calls(),
        overruns: entry.counters.overruns(),
        conditional: entry.handler.is_conditional(),
        once: entry.once.is_some(),
        pure: entry.pure,
        part_of: entry.part_of.clone(),
        skips: entry.counters.skips(),
        mode: rules.as_ref().map_or(Mode::Enforce, |rules| rules.mode),
        shadow,
        shadow_failures,
        breaker: rules.as_ref().and_then(|rules| rules.breaker_state(now)),
        breaker_is_shadow: rules.as_ref().is_some_and(HandlerRules::has_shadow_breaker),
        breaker_transitions: breaker.map(|breaker| breaker.transitions()).unwrap_or_default(),
        settings: rules
            .map_or_else(Vec::new, |rules| rules.settings.iter().map(Setting::id).collect()),
    }
}

/// What put each handler at its place: its key, and the constraints that
/// touch it.
fn reasons(order: &Sequence) -> Vec<String> {
    let dropped: HashMap<_, _> =
        order.dropped().iter().map(|(entry, conflict)| (entry.id, conflict)).collect();
    // For each handler the others that it runs before or after, in order.
    let mut relative: Vec<Vec<(usize, String)>> = vec![Vec::new(); order.len()];
    let relations = order::relations(order).into_iter();
    let kept = relations.filter(|relation| !dropped.contains_key(&order[relation.asker].id));
    for Relation { first, then, asker } in kept {
        let (before, behind) = (escaped(&order[first].name), escaped(&order[then].name));
        // A plugin's constraint moves its own handler, never another.
        if order[asker].plugin.is_none() || asker == then {
            let asks = if asker == then { "it asks for that" } else { "that one asks for it" };
            relative[then].push((first, format!("after `{before}`, {asks}")));
        } else {
            relative[first].push((then, format!("before `{behind}`, it asks for that")));
        }
    }
    let number = numbers(order);
    let reasons = order.iter().zip(relative).map(|(entry, mut relative)| {
        let mut parts = vec![format!("priority {}", entry.priority)];
        if entry.phase == Phase::Guard {
            parts.push("a guard, so after every rewriter".to_owned());
        }
        if let Some(conflict) = dropped.get(&entry.id) {
            let constraints = order::constraints(entry).collect::<Vec<_>>().join(", ");
            let reason = DropReason::from(*conflict);
            parts.push(format!("not {constraints}, as it asks for: {reason}"));
        }
        relative.sort();
        relative.dedup();
        parts.extend(relative.into_iter().map(|(_, reason)| reason));
        parts.push(match &entry.turn {
            Some(turn) => format!("its turn is `{}`", escaped(turn)),
            None => format!("registered as number {} of that priority", number[&entry.seq]),
        });
        parts.join("; ")
    });
    reasons.collect()
}

/// Which registration of its phase and priority each handler is, by its turn.
fn numbers(order: &[Arc<Entry>]) -> HashMap<u64, usize> {
    let mut keys: Vec<_> = order.iter().map(|entry| order::key(entry)).collect();
    keys.sort_unstable();
    let equals = keys.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1));
    equals.flat_map(|equals| equals.iter().zip(1..)).map(|(key, number)| (key.3, number)).collect()
}
