//! What ends a turn early.

use hooks_runtime::FireError;
use thiserror::Error;

use super::gateway::ChannelError;
use super::model::ModelError;

/// What ends a turn early. A refusal is none of these: it is an answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A handler that fails closed failed.
    #[error(transparent)]
    Hook(#[from] FireError),
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The channel did not take the answer.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The model asks for tools without end.
    #[error("the model still asks for tools after {0} rounds")]
    TooManyRounds(usize),
    /// A personality that is not declared.
    #[error("there is no personality `{wanted}`; there are: {known}")]
    NoSuchPersonality {
        /// The one that was asked for.
        wanted: String,
        /// Those there are.
        known: String,
    },
    /// An agent without a personality.
    #[error("an agent needs a personality: give it at least one")]
    NoPersonality,
}
