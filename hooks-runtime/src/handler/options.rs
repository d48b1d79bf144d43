//! The options of a handler.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::raw::ErasedCondition;
use crate::handler::target::Target;
use crate::plugin::tracker::CallTracker;
use crate::point::{FailurePolicy, SourceLocation};
use crate::registry::entry::{Entry, Phase};

/// How a handler got its name.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    Given(Arc<str>),
    ByPlace,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) name: Named,
    pub(crate) plugin: Option<Arc<str>>,
    pub(crate) priority: Option<i32>,
    /// What decides among handlers of that priority, in place of when it was registered.
    pub(crate) turn: Option<Arc<str>>,
    pub(crate) policy: Option<FailurePolicy>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) before: Vec<Arc<str>>,
    pub(crate) after: Vec<Arc<str>>,
    pub(crate) target: Option<Target>,
    pub(crate) phase: Phase,
    pub(crate) replace: bool,
    pub(crate) once: bool,
    pub(crate) pure: bool,
    /// The handler whose settings hold for it as well.
    pub(crate) part_of: Option<Arc<str>>,
    pub(crate) condition: Option<ErasedCondition>,
    /// The handlers that are waited for together with it, if it has no plugin.
    pub(crate) tracker: Option<Arc<CallTracker>>,
    pub(crate) location: SourceLocation,
}

impl Options {
    // Never inlined: it would be part of every registration.
    #[inline(never)]
    pub(crate) fn new(location: SourceLocation) -> Box<Self> {
        Box::new(Self {
            name: Named::ByPlace,
            plugin: None,
            priority: None,
            turn: None,
            policy: None,
            timeout: None,
            before: Vec::new(),
            after: Vec::new(),
            target: None,
            phase: Phase::Main,
            replace: false,
            once: false,
            pure: false,
            part_of: None,
            condition: None,
            tracker: None,
            location,
        })
    }

    /// The options of an annotated function of that name.
    #[inline(never)]
    pub(crate) fn named(name: &'static str, location: SourceLocation) -> Box<Self> {
        let mut options = Self::new(location);
        options.name = Named::Given(name.into());
        options
    }

    /// Adds a condition: of several, all must be met.
    pub(crate) fn add_condition(&mut self, condition: ErasedCondition) {
        self.condition = Some(match self.condition.take() {
            Some(before) => before.and(condition),
            None => condition,
        });
    }

    /// Whether a replacement of `old` asks for another place than that one's.
    pub(crate) fn moves(&self, old: &Entry) -> bool {
        self.priority.is_some_and(|priority| priority != old.priority)
            || self.turn.is_some() && self.turn != old.turn
            || !self.before.is_empty()
            || !self.after.is_empty()
    }
}

/// The methods that set the options, for every builder that has some in a field
/// `options`.
macro_rules! option_methods {
    () => {
        /// The handler's name; without one it is named for its place in the source.
        pub fn name(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.name = $crate::handler::options::Named::Given(name.into());
            self
        }

        /// The plugin that owns it; without one it is built-in.
        pub fn plugin(mut self, id: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.plugin = Some(id.into());
            self
        }

        /// Its place: the lower number first, 0 by default.
        pub fn priority(mut self, priority: i32) -> Self {
            self.options.priority = Some(priority);
            self
        }

        /// Its turn among handlers of the same priority, in place of when it was
        /// registered: those that have one follow those that have none, in the order of
        /// these texts.
        ///
        /// For handlers that come and go by themselves, in several registries that are to
        /// agree on the order:
        ///
        /// ```
        /// # use hooks_runtime::{HookRegistry, hook_points, on};
        /// # hook_points! { pub void Started { service: String } }
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let hooks = HookRegistry::new();
        /// for place in ["west", "east"] {
        ///     let lamp = on::<Started>().name(place).turn(place);
        ///     hooks.register(lamp.handler(|_: &StartedPayload| println!("on")))?;
        /// }
        /// hooks.register(on::<Started>().name("host").handler(|_: &StartedPayload| ()))?;
        /// let names: Vec<_> = hooks.handlers_at::<Started>().into_iter().map(|it| it.name).collect();
        /// assert_eq!(names.iter().map(|it| &**it).collect::<Vec<_>>(), ["host", "east", "west"]);
        /// # Ok(()) }
        /// ```
        pub fn turn(mut self, turn: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.turn = Some(turn.into());
            self
        }

        /// How long a fire waits for its answer. Without one by then it has failed;
        /// an answer that is there counts, however late, and is reported as late.
        pub fn timeout(mut self, limit: std::time::Duration) -> Self {
            self.options.timeout = Some(limit);
            self
        }

        /// What its failure means. It may only be stricter than the point's own.
        pub fn on_failure(mut self, policy: $crate::FailurePolicy) -> Self {
            self.options.policy = Some(policy);
            self
        }

        /// Runs before the handler of that name: the one of the same owner, else the
        /// built-in one. `"plugin/handler"` is the handler of that plugin,
        /// `"plugin/*"` all handlers of it.
        ///
        /// Where a built-in handler asks, the one that must come later waits for the
        /// other, whatever its priority: with `first` at 50 before `host` at 0, `host`
        /// moves behind `first`, and so behind one at 10. Where a plugin's handler
        /// asks, it moves itself, to the nearest place that its constraints allow, and
        /// the order of all others stays.
        pub fn before(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.before.push(name.into());
            self
        }

        /// Runs after the handler of that name, which is found as for
        /// [`before`](Self::before).
        pub fn after(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.after.push(name.into());
            self
        }

        /// Takes part only in runs for the type `T`.
        pub fn target<T: 'static>(mut self) -> Self {
            self.options.target = Some($crate::handler::Target::of::<T>());
            self
        }

        /// Takes part only in runs for what has that name.
        pub fn target_named(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.target = Some($crate::handler::Target::named(name));
            self
        }

        /// Takes the place of the owner's handler of the same name, if there is one:
        /// its priority, its constraints and its turn among equals. One that asks for
        /// another priority or turn, or for `before` or `after`, is ordered as if it were
        /// new.
        ///
        /// ```
        /// # use hooks_runtime::{HookRegistry, hook_points, on};
        /// # hook_points! { pub modifying Theming { page: u32 } -> { colour: String } }
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let hooks = HookRegistry::new();
        /// let paint = |colour: &'static str| move |_: &ThemingPayload| ThemingResult { colour: Some(colour.into()) };
        /// hooks.register(on::<Theming>().name("paint").handler(paint("blue")))?;
        /// hooks.register(on::<Theming>().name("paint").replace().handler(paint("red")))?;
        /// let theme = hooks.fire_modifying::<Theming>(&ThemingPayload { page: 1 }).await?;
        /// assert_eq!(theme.colour.as_deref(), Some("red"));
        /// # Ok(()) }
        /// ```
        pub fn replace(mut self) -> Self {
            self.options.replace = true;
            self
        }

        /// Is removed with its first call, whatever comes of that. Fires that come
        /// to it meanwhile skip it.
        ///
        /// ```
        /// # use hooks_runtime::{HookRegistry, hook_points, on};
        /// # hook_points! { pub void Started { service: String } }
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let hooks = HookRegistry::new();
        /// hooks.register(on::<Started>().once().handler(|_: &StartedPayload| println!("welcome")))?;
        /// hooks.fire_void::<Started>(&StartedPayload { service: "shop".into() }).await?;
        /// assert!(!hooks.has_handlers::<Started>());
        /// # Ok(()) }
        /// ```
        pub fn once(mut self) -> Self {
            self.options.once = true;
            self
        }

        /// Declares that it has no side effects: what it does is to answer, and nobody
        /// could tell from anything else whether it was called. Such a handler may run
        /// in shadow and in a replay. The registry takes the author's word for it, and
        /// calls the handler in a fire as any other.
        ///
        /// ```
        /// # use hooks_runtime::{HookRegistry, hook_points, on};
        /// # hook_points! { pub claiming Route(String) -> u32; }
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let hooks = HookRegistry::new();
        /// let desk = |message: &String| message.starts_with("invoice").then_some(4);
        /// hooks.register(on::<Route>().name("billing").pure().handler(desk))?;
        /// assert!(hooks.handlers_at::<Route>()[0].pure);
        /// # Ok(()) }
        /// ```
        pub fn pure(mut self) -> Self {
            self.options.pure = true;
            self
        }

        /// Declares that it is a part of the owner's handler of that name at the same
        /// point: what an operator sets for that one holds for this one too, and a sample
        /// has the same fires for both. It keeps its own name, its own place in the order
        /// and its own row in reports, and can be set apart by its own name. A breaker
        /// and a rate limit count the calls of each by itself.
        ///
        /// ```
        /// # use std::time::Duration;
        /// # use hooks_runtime::{HookRegistry, Judgement, Verdict, hook_points, on};
        /// # hook_points! { pub gating Mailing { text: String } }
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let hooks = HookRegistry::new();
        /// // One filter, which looks at a mail twice: as it comes, and as others left it.
        /// hooks.register([
        ///     on::<Mailing>().name("filter").handler(|_: &MailingPayload| Verdict::Pass),
        ///     on::<Mailing>().name("filter, at the end").part_of("filter")
        ///         .guard(|_: &MailingPayload| Judgement::reject("not like that")),
        /// ])?;
        /// let operator = hooks.operator();
        /// let setting = operator.disable("mailing:filter").break_glass("it rejects all mails");
        /// setting.until(Duration::from_secs(600)).apply()?;
        /// let gate = hooks.fire_gating::<Mailing>(MailingPayload { text: "hello".into() }).await?;
        /// assert!(gate.into_result().is_ok());
        /// # Ok(()) }
        /// ```
        pub fn part_of(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.part_of = Some(name.into());
            self
        }
    };
}

pub(crate) use option_methods;
