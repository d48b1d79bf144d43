//! Why a flow has no output.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::engine::containment::shown;
use crate::error::{BoxError, FireError};
use crate::escape::escaped;
use crate::flow::StageKind;
use crate::readable::readable_debug;
use crate::registry::entry::Owner;

/// Why a flow has no output.
///
/// What caused it is its [`source`](StdError::source): the operation's own
/// error, what the validation said, what a handler aborted with, or the error
/// of a handler that failed closed. A host gets its own error back with
/// [`downcast`](Self::downcast):
///
/// ```
/// # use hooks_runtime::{FlowError, HookRegistry, hook_points};
/// # hook_points! {
/// #     /// One look-up, stage by stage.
/// #     pub flow Lookup(String) -> String;
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let hooks = HookRegistry::new();
/// use std::io::{Error, ErrorKind};
///
/// let lookup = async |_| Err(Error::from(ErrorKind::NotFound));
/// let found = hooks.flow::<Lookup>().run("lamp".to_owned(), lookup).await;
/// match found.map_err(FlowError::downcast::<Error>) {
///     Ok(found) => println!("{found}"),
///     Err(Ok(own)) => assert_eq!(own.kind(), ErrorKind::NotFound),
///     Err(Err(of_the_flow)) => panic!("{of_the_flow}"),
/// }
/// # }
/// ```
#[non_exhaustive]
pub enum FlowError {
    /// The operation failed, with this error.
    Operation(BoxError),
    /// The operation panicked.
    Panicked {
        /// The wire name of the flow.
        flow: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// The flow's own validation refused the input.
    Invalid {
        /// The wire name of the flow.
        flow: &'static str,
        /// The error of the validation.
        error: BoxError,
    },
    /// A handler aborted the flow.
    Aborted {
        /// The wire name of the flow.
        flow: &'static str,
        /// The stage in which it was aborted.
        stage: StageKind,
        /// The handler that aborted it.
        handler: Arc<str>,
        /// Whose handler that is.
        owner: Owner,
        /// The error that the handler aborted with.
        error: BoxError,
    },
    /// A handler failed, or the flow is nested too deep.
    Fire(FireError),
}

impl FlowError {
    /// Whether the operation itself failed: with an error or by a panic.
    pub(super) fn is_of_the_operation(&self) -> bool {
        matches!(self, Self::Operation(_) | Self::Panicked { .. })
    }

    /// The operation's own error, if it is an `E`.
    ///
    /// ```
    /// # use hooks_runtime::{FlowContext, OnError, hook_handler, hook_points};
    /// # hook_points! {
    /// #     /// One look-up, stage by stage.
    /// #     pub flow Lookup(String) -> String;
    /// # }
    /// use std::io::{Error, ErrorKind};
    ///
    /// #[hook_handler(OnError<Lookup>)]
    /// fn count(flow: &mut FlowContext<Lookup>) {
    ///     match flow.error().and_then(|error| error.downcast_ref::<Error>()) {
    ///         Some(own) if own.kind() == ErrorKind::NotFound => println!("not found"),
    ///         Some(own) => println!("the disk: {own}"),
    ///         None => println!("not an error of the disk: {:?}", flow.error()),
    ///     }
    /// }
    /// ```
    ///
    /// Only [`Operation`](Self::Operation) is considered: an error of a handler
    /// or of the validation is never taken for the operation's, whatever its
    /// type. Those are reached through [`source`](StdError::source).
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        match self {
            Self::Operation(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The operation's own error, by value, if it is an `E`; otherwise this
    /// error again. It looks where [`downcast_ref`](Self::downcast_ref) does.
    ///
    /// An operation that fails with a `String` or a `&str` has no error type of
    /// its own to ask for: match on [`Operation`](Self::Operation) for its text.
    ///
    /// # Errors
    ///
    /// This error, unchanged, where it does not hold an `E` of the operation.
    pub fn downcast<E: StdError + 'static>(self) -> Result<E, Self> {
        match self {
            Self::Operation(error) => error.downcast().map(|error| *error).map_err(Self::Operation),
            other => Err(other),
        }
    }
}

/// The texts of the errors in it are the user's code, which may panic.
impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(error) => write!(f, "{}", escaped(&shown(error))),
            Self::Panicked { flow, message } => {
                write!(f, "the operation of `{flow}` panicked: {}", escaped(message))
            }
            Self::Invalid { flow, error } => {
                write!(f, "the input of `{flow}` is not valid: {}", escaped(&shown(error)))
            }
            Self::Aborted { flow, stage, handler, owner, error } => {
                let (handler, text) = (escaped(handler), shown(error));
                let error = escaped(&text);
                write!(f, "`{flow}` was aborted in {stage} by `{handler}` ({owner}): {error}")
            }
            Self::Fire(error) => f.write_str(&shown(error)),
        }
    }
}

impl StdError for FlowError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Operation(error) | Self::Invalid { error, .. } | Self::Aborted { error, .. } => {
                Some(&**error)
            }
            // It prints as that error, so its source is that error's.
            Self::Fire(error) => error.source(),
            Self::Panicked { .. } => None,
        }
    }
}

readable_debug! {
    enum FlowError {
        Operation(error),
        Panicked { flow, message },
        Invalid { flow, error },
        Aborted { flow, stage, handler, owner, error },
        Fire(error),
    }
}
