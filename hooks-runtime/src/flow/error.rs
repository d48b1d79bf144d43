//! Why a flow has no output.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::sync::Arc;

use thiserror::Error;

use crate::entry::Owner;
use crate::error::{BoxError, FireError};
use crate::escape::{escaped, escaped_display};
use crate::flow::StageKind;

/// Why a flow has no output. `E` is the operation's own error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FlowError<E: Debug + Display> {
    /// The operation failed.
    #[error("{}", escaped_display(.0))]
    Operation(E),
    /// The operation panicked.
    #[error("the operation of `{flow}` panicked: {}", escaped(.message))]
    Panicked {
        /// The wire name of the flow.
        flow: &'static str,
        /// What the panic said.
        message: String,
    },
    /// The flow's own validation refused the input.
    #[error("the input of `{flow}` is not valid: {}", escaped_display(.error))]
    Invalid {
        /// The wire name of the flow.
        flow: &'static str,
        /// What the validation said.
        #[source]
        error: BoxError,
    },
    /// A handler aborted the flow.
    #[error(
        "`{flow}` was aborted in {stage} by `{}` ({owner}): {}",
        escaped(.handler),
        escaped_display(.error)
    )]
    Aborted {
        /// The wire name of the flow.
        flow: &'static str,
        /// The stage in which it was aborted.
        stage: StageKind,
        /// The handler that aborted it.
        handler: Arc<str>,
        /// Whose handler that is.
        owner: Owner,
        /// What the handler said.
        #[source]
        error: BoxError,
    },
    /// A handler failed, or the flow is nested too deep.
    #[error(transparent)]
    Fire(FireError),
}

/// An error of a flow whose own type is forgotten, so that handlers can see it.
pub(crate) trait AnyFlowError: StdError + Send + Sync + 'static {
    /// The operation's own error, if that is what ended the flow.
    fn operation(&self) -> Option<&(dyn std::any::Any + Send + Sync)>;
    /// The error itself.
    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static);
    /// For getting the error back with its own type.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

impl<E: Debug + Display + Send + Sync + 'static> AnyFlowError for FlowError<E> {
    fn operation(&self) -> Option<&(dyn std::any::Any + Send + Sync)> {
        match self {
            Self::Operation(error) => Some(error),
            _ => None,
        }
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}
