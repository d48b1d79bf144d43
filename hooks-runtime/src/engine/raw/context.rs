//! What a handler may know of the fire that calls it.
//!
//! # Why this is sound
//!
//! [`HookContext`] has no lifetime, so that a handler's signature is plain
//! `&HookContext`. Its pointers are to the fire, the entry and the accumulator
//! of one call, and it is made and kept by that call only: as a local, or beside
//! the handler's future (`call.rs`). A handler gets `&HookContext` for the
//! lifetime of the call. It must accept any lifetime, so it can keep the
//! reference nowhere but in its own future, which is dropped before any of them.
//! The context is neither `Clone` nor replaceable through a shared reference, and
//! each accessor ties what it returns to the borrow of the context.
#![allow(unsafe_code)]

use std::any::{Any, TypeId};
use std::fmt;
use std::ptr::{self, NonNull};
use std::time::Duration;

use crate::engine::fire::FireInfo;
use crate::observe::notes;
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, ModelKind};
use crate::registry::entry::{Entry, Owner};

/// What a handler may know of the fire that calls it.
///
/// Take it as a second parameter: `async fn h(payload: &P, cx: &HookContext)`.
///
/// ```
/// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
/// # use hooks_runtime::point::ModelKind;
/// # hook_points! {
/// #     /// An order was placed.
/// #     pub void Ordered { item: String }
/// #     /// A mail is to be sent.
/// #     pub void Mailed { text: String }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let confirm = on::<Ordered>().name("confirm").plugin("mails");
/// hooks.register(confirm.handler(async |order: &OrderedPayload, cx: &HookContext| {
///     assert_eq!((cx.point(), cx.model()), ("ordered", ModelKind::Void));
///     assert_eq!((cx.handler(), cx.owner().as_ref()), ("confirm", "mails"));
///     // In the same scope as the fire that called it.
///     cx.hooks().fire_void::<Mailed>(&MailedPayload { text: order.item.clone() }).await
/// }))?;
/// hooks.fire_void::<Ordered>(&OrderedPayload { item: "lamp".into() }).await?;
/// # Ok(()) }
/// ```
pub struct HookContext {
    fire: NonNull<FireInfo<'static>>,
    entry: NonNull<Entry>,
    merged: Option<NonNull<dyn Any + Send + Sync>>,
    in_shadow: bool,
    /// In place of the handler's own.
    limit: Option<Duration>,
}

// SAFETY: it stands for shared references to what is `Sync`.
unsafe impl Send for HookContext {}
// SAFETY: as above.
unsafe impl Sync for HookContext {}

/// Tells one fire from all others that are under way; see [`HookContext::fire_key`].
///
/// The example of [`HookContext::fire_key`] compares two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FireKey(usize);

impl HookContext {
    #[inline]
    pub(super) fn new(
        fire: NonNull<FireInfo<'static>>,
        entry: NonNull<Entry>,
        merged: Option<NonNull<dyn Any + Send + Sync>>,
    ) -> Self {
        Self { fire, entry, merged, in_shadow: false, limit: None }
    }

    /// What an operator has set for the call.
    pub(super) fn set_rules(&mut self, in_shadow: bool, limit: Option<Duration>) {
        self.in_shadow = in_shadow;
        self.limit = limit;
    }

    /// A reference that lasts as long as the input of the call: a handler is
    /// given both for one and the same lifetime.
    ///
    /// # Safety
    /// The handler's future is dropped before `self` and before what the context
    /// points to, and `self` does not move until then.
    #[inline]
    pub(super) unsafe fn lend<'s>(&self) -> &'s Self {
        // SAFETY: passed on to the caller.
        unsafe { &*ptr::from_ref(self) }
    }

    /// The fire, no longer than this context is borrowed.
    fn fire(&self) -> &FireInfo<'_> {
        // SAFETY: see the module's text.
        unsafe { self.fire.as_ref() }
    }

    fn entry(&self) -> &Entry {
        // SAFETY: as above.
        unsafe { self.entry.as_ref() }
    }

    /// The wire name of the point that was fired.
    pub fn point(&self) -> &'static str {
        self.fire().point.name()
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.fire().point.model()
    }

    /// The name of the handler that is called.
    pub fn handler(&self) -> &str {
        &self.entry().name
    }

    /// Who registered the handler.
    pub fn owner(&self) -> Owner {
        self.entry().owner()
    }

    /// The hooks as this fire sees them: what is fired through them keeps the
    /// scope of this fire, whichever plugin asks.
    pub fn hooks(&self) -> &ScopedHooks {
        self.fire().hooks.for_handlers()
    }

    /// Tells this fire from all others that are under way: one value for all of its
    /// handlers, rewriters and guards alike. A later fire may have it again.
    ///
    /// Handlers that share a state find in it what belongs to this fire. What a fire that
    /// was dropped left there is the next one's to clear, so a first handler does that.
    ///
    /// ```
    /// # use std::sync::{Arc, Mutex};
    /// # use hooks_runtime::{HookContext, HookRegistry, Judgement, Verdict, hook_points, on};
    /// # hook_points! { pub gating Editing { page: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let began = Arc::new(Mutex::new(None));
    /// let at_begin = Arc::clone(&began);
    /// hooks.register(on::<Editing>().handler(move |_: &EditingPayload, cx: &HookContext| {
    ///     *at_begin.lock().unwrap() = Some(cx.fire_key());
    ///     Verdict::Pass
    /// }))?;
    /// hooks.register(on::<Editing>().guard(move |_: &EditingPayload, cx: &HookContext| {
    ///     assert_eq!(*began.lock().unwrap(), Some(cx.fire_key()));
    ///     Judgement::Pass
    /// }))?;
    /// let gate = hooks.fire_gating::<Editing>(EditingPayload { page: 1 }).await?;
    /// # assert!(gate.into_result().is_ok());
    /// # Ok(()) }
    /// ```
    pub fn fire_key(&self) -> FireKey {
        // Where the fire is pinned: no two that are under way share it.
        FireKey(self.fire.as_ptr().addr())
    }

    /// Whether this call has no effect: an operator has the handler run in shadow, and what
    /// it decides is recorded only.
    ///
    /// A handler that tells others of its decision in another way than by its answer asks
    /// this first.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Routing { path: String } -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let route = |_: &RoutingPayload, cx: &HookContext| -> Option<String> {
    ///     if !cx.is_in_shadow() {
    ///         // Tell the others.
    ///     }
    ///     Some(if cx.is_in_shadow() { "tried" } else { "taken" }.to_owned())
    /// };
    /// hooks.register(on::<Routing>().name("new").handler(route))?;
    /// let fire = async || hooks.fire_claiming::<Routing>(&RoutingPayload { path: "/".into() }).await;
    /// assert_eq!(fire().await?.claimed().as_deref(), Some("taken"));
    /// hooks.operator().shadow("routing:new").apply()?;
    /// assert_eq!(fire().await?.claimed(), None);
    /// # Ok(()) }
    /// ```
    pub fn is_in_shadow(&self) -> bool {
        self.in_shadow
    }

    /// How long the fire waits for this call, from its first poll on: the handler's own time
    /// limit, or a shorter one that an operator has set. `None` where it waits for ever.
    ///
    /// A handler that must end something in order, as a child process, does so before.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Patience { of: String } -> Option<Duration>; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let shell = on::<Patience>().name("shell").timeout(Duration::from_secs(60));
    /// hooks.register(shell.handler(|_: &PatiencePayload, cx: &HookContext| Some(cx.time_limit())))?;
    /// let fire = async || hooks.fire_claiming::<Patience>(&PatiencePayload { of: "sh".into() }).await;
    /// assert_eq!(fire().await?.claimed(), Some(Some(Duration::from_secs(60))));
    /// hooks.operator().time_limit("patience:shell", Duration::from_secs(2)).apply()?;
    /// assert_eq!(fire().await?.claimed(), Some(Some(Duration::from_secs(2))));
    /// # Ok(()) }
    /// ```
    pub fn time_limit(&self) -> Option<Duration> {
        self.limit.or(self.entry().timeout)
    }

    /// Adds a note to this call's row of the report: what the row cannot know, such as which
    /// process answered. One with the same key takes the place of an earlier one.
    ///
    /// Kept where the fire has a report or is traced; where not, the value is not even made. A
    /// note of a thread that does not run this call is not kept.
    ///
    /// ```
    /// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Pricing { item: String } -> u32; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Pricing>().name("list").handler(|_: &PricingPayload, cx: &HookContext| {
    ///     cx.note("edition", "2026-11");
    ///     Some(40)
    /// }))?;
    /// let payload = PricingPayload { item: "lamp".into() };
    /// let (_, report) = hooks.fire_claiming_reported::<Pricing>(&payload).await;
    /// let list = report.handler("list").unwrap();
    /// assert_eq!(list.note("edition"), Some("2026-11"));
    /// assert!(report.to_string().ends_with("claimed {edition: 2026-11}"));
    /// # Ok(()) }
    /// ```
    pub fn note(&self, key: &'static str, value: impl Into<String>) {
        notes::add((self.fire.as_ptr().addr(), self.entry.as_ptr().addr()), key, value);
    }

    /// What earlier handlers of a modifying fire of `P` have set so far.
    ///
    /// `None` in fires of any other point.
    ///
    /// ```
    /// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub modifying Tagging { page: u32 } -> { title: String, slug: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Tagging>().handler(|_: &TaggingPayload| TaggingResult {
    ///     title: Some("All lamps".into()),
    ///     slug: None,
    /// }))?;
    /// hooks.register(on::<Tagging>().handler(|_: &TaggingPayload, cx: &HookContext| {
    ///     let title = cx.merged::<Tagging>().and_then(|merged| merged.title.as_ref())?;
    ///     Some(TaggingResult { slug: Some(title.to_lowercase().replace(' ', "-")), title: None })
    /// }))?;
    /// let tagged = hooks.fire_modifying::<Tagging>(&TaggingPayload { page: 7 }).await?;
    /// assert_eq!(tagged.slug.as_deref(), Some("all-lamps"));
    /// # Ok(()) }
    /// ```
    pub fn merged<P: HookPoint>(&self) -> Option<&P::Result> {
        // Two points may have results of one type.
        if *self.fire().point_type != TypeId::of::<P>() {
            return None;
        }
        // SAFETY: see the module's text.
        unsafe { self.merged?.as_ref() }.downcast_ref()
    }
}

impl fmt::Debug for HookContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookContext")
            .field("point", &self.point())
            .field("handler", &self.handler())
            .finish_non_exhaustive()
    }
}
