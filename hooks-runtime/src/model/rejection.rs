//! A rejection at a gating point: by whom, and why.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::engine::containment::shown_reason;
use crate::escape::escaped;
use crate::registry::entry::Owner;

/// A rejection: by whom, and why.
///
/// `R` is the type of reason that the point declares, text where it declares none.
/// [`reason`](Reasoned::reason) is a `&R`, and a `&str` where `R` is text. Any type
/// that is `Display`, `Send`, `Sync` and `'static` can be declared; in a block with
/// JSON it is `Serialize` and `DeserializeOwned` too. People read its `Display`, in
/// reports and in the log, and programs that fire by name its serde form.
///
/// ```
/// use std::fmt;
///
/// use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, handlers, hook_handler, hook_points};
///
/// pub struct Request { path: String, admin: bool }
///
/// #[derive(Debug, PartialEq)]
/// pub enum Denied { Forbidden, NotFound }
///
/// impl fmt::Display for Denied {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str(match self {
///             Self::Forbidden => "for admins only",
///             Self::NotFound => "there is no such page",
///         })
///     }
/// }
///
/// hook_points! {
///     /// May this request be served?
///     pub gating Authorize(Request) -> Denied;
/// }
///
/// #[hook_handler(Authorize)]
/// fn normalise(request: &Request) -> Verdict<Request, Denied> {
///     if request.path.is_empty() {
///         return Verdict::Reject(Denied::NotFound);
///     }
///     Verdict::Replace(Request { path: request.path.to_lowercase(), ..*request })
/// }
///
/// #[hook_handler(Authorize, guard)]
/// fn admins_only(request: &Request) -> Judgement<Denied> {
///     if request.admin || request.path != "/admin" {
///         Judgement::Pass
///     } else {
///         Judgement::Reject(Denied::Forbidden)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::new();
/// hooks.register(handlers![normalise, admins_only])?;
/// let request = Request { path: "/Admin".into(), admin: false };
/// match hooks.fire_gating::<Authorize>(request).await? {
///     Gate::Passed(request) => panic!("{} is served", request.path),
///     Gate::Rejected(rejection) => assert_eq!(rejection.reason(), &Denied::Forbidden),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection<R = String> {
    point: &'static str,
    handler: Arc<str>,
    owner: Owner,
    reason: Reasoned<R>,
}

/// The part of a [`Rejection`] that depends on the type of its reason.
///
/// The example of [`Rejection`] has a reason of a type of its own.
// A method of its own type and not of `Rejection<R>`, because that of
// `Rejection<String>` returns a `&str`, and two of one name exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoned<R>(R);

impl<R> Reasoned<R> {
    /// Why.
    ///
    /// The example of [`Rejection`] compares one.
    pub fn reason(&self) -> &R {
        &self.0
    }
}

impl<R> Deref for Rejection<R> {
    type Target = Reasoned<R>;

    fn deref(&self) -> &Reasoned<R> {
        &self.reason
    }
}

impl Rejection {
    /// Why, where the reason is text.
    pub fn reason(&self) -> &str {
        &self.reason.0
    }
}

impl<R> Rejection<R> {
    pub(crate) fn new(point: &'static str, handler: Arc<str>, owner: Owner, reason: R) -> Self {
        Self { point, handler, owner, reason: Reasoned(reason) }
    }

    /// The same with another reason.
    #[cfg(feature = "json")]
    pub(crate) fn try_map<T, E>(
        self,
        reason: impl FnOnce(R) -> Result<T, E>,
    ) -> Result<Rejection<T>, E> {
        let Self { point, handler, owner, reason: Reasoned(why) } = self;
        Ok(Rejection { point, handler, owner, reason: Reasoned(reason(why)?) })
    }

    /// Why, to be kept.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
    /// # use hooks_runtime::registry::Owner;
    /// # hook_points! { pub gating Merging { branch: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let checks = on::<Merging>().name("checks");
    /// hooks.register(checks.guard(|_: &MergingPayload| Judgement::reject("a test fails")))?;
    /// let merging = MergingPayload { branch: "main".into() };
    /// let rejection = hooks.fire_gating::<Merging>(merging).await?.into_result().unwrap_err();
    /// assert_eq!((rejection.point(), rejection.handler()), ("merging", "checks"));
    /// assert_eq!(rejection.owner(), &Owner::BuiltIn);
    /// assert_eq!(rejection.into_reason(), "a test fails");
    /// # Ok(()) }
    /// ```
    pub fn into_reason(self) -> R {
        self.reason.0
    }

    /// The name of the handler that rejected.
    ///
    /// The example of [`into_reason`](Self::into_reason) has it.
    pub fn handler(&self) -> &str {
        &self.handler
    }

    /// Who registered that handler.
    ///
    /// The example of [`into_reason`](Self::into_reason) has it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The wire name of the point.
    ///
    /// The example of [`into_reason`](Self::into_reason) has it.
    pub fn point(&self) -> &'static str {
        self.point
    }
}

impl<R: fmt::Display> fmt::Display for Rejection<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, handler, owner, reason: Reasoned(reason) } = self;
        let (handler, reason) = (escaped(handler), shown_reason(reason));
        write!(f, "rejected at `{point}` by `{handler}` ({owner}): {}", escaped(&reason))
    }
}

impl<R: fmt::Debug + fmt::Display> Error for Rejection<R> {}

/// What can be the reason of a rejection: everything that has a text for people.
///
/// The example of [`Rejection`] declares one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the reason of a rejection, because it has no `Display`",
    label = "write `impl Display for {Self}`",
    note = "reports, observers and the log show the reason of a rejection as text"
)]
pub trait Reason: fmt::Display {}

#[diagnostic::do_not_recommend]
impl<R: fmt::Display> Reason for R {}

/// What reports show of a reason.
pub fn displayed<R: Reason>(reason: &R) -> &dyn fmt::Display {
    reason
}
