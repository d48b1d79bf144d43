//! The host: a small agent that fires the points of `hooks-points` where they
//! belong.
//!
//! Read [`Agent::receive`] for the way of one message, `rounds.rs` for a turn
//! and `calls.rs` for its tool calls. The host knows no plugin by name.

mod background;
mod call_flow;
mod calls;
mod clock;
mod error;
mod gateway;
mod goals;
mod history;
mod ids;
mod model;
mod personalities;
mod prompt;
mod rounds;
mod sandbox;
mod session;
mod subagents;
mod tickets;
mod tools;
mod trace;
mod turn;

use std::fmt;
use std::sync::Arc;

use hooks_points::Personality;
use hooks_runtime::HookRegistry;

pub use clock::{Clock, FixedClock, SystemClock};
pub use error::AgentError;
pub use gateway::{Channel, ChannelError, Inbox, Inlet, LocalChannel, line};
pub use goals::{Goal, GoalEnd};
pub use history::{Line, Message};
pub use model::{ChatCompletions, Model, ModelError, Reply, Request, ScriptedModel, Step, call};
pub use sandbox::Sandbox;
pub use session::Session;
pub use tickets::{Ticket, TicketStatus};
pub use tools::{
    AskPerson, CompleteTicket, ListDirectory, ReadFile, RunCommand, SpawnSubagent, StartProcess,
    Tool, ToolContext, UnloadPlugin, definition, text_argument,
};
pub(crate) use trace::full_name;
pub use trace::{Change, Entry, Event, Fired, Outcome, Record, Report, Speaker};
pub use turn::Turn;

use background::Jobs;
use ids::Ids;
use personalities::Personalities;
use session::Sessions;
use tickets::Board;

/// What an agent is made of.
#[derive(Debug)]
pub struct Setup {
    /// Where its plugins are registered.
    pub hooks: HookRegistry,
    /// Who answers.
    pub model: Box<dyn Model>,
    /// The time of day.
    pub clock: Box<dyn Clock>,
    /// The directory its tools work in.
    pub sandbox: Sandbox,
    /// What the model may call.
    pub tools: Vec<Box<dyn Tool>>,
    /// Whom it can be; sessions begin as the first.
    pub personalities: Vec<Personality>,
    /// Where its answers go.
    pub channels: Vec<Arc<dyn Channel>>,
    /// The tickets on its board.
    pub tickets: Vec<Ticket>,
}

/// The host.
pub struct Agent {
    hooks: HookRegistry,
    model: Box<dyn Model>,
    clock: Box<dyn Clock>,
    sandbox: Sandbox,
    tools: Vec<Box<dyn Tool>>,
    personalities: Personalities,
    channels: Vec<Arc<dyn Channel>>,
    board: Board,
    sessions: Sessions,
    jobs: Jobs,
    ids: Ids,
}

impl Agent {
    /// An agent of these parts. There has to be a personality.
    pub fn new(setup: Setup) -> Result<Self, AgentError> {
        Ok(Self {
            hooks: setup.hooks,
            model: setup.model,
            clock: setup.clock,
            sandbox: setup.sandbox,
            tools: setup.tools,
            personalities: Personalities::new(setup.personalities)?,
            channels: setup.channels,
            board: Board::new(setup.tickets),
            sessions: Sessions::default(),
            jobs: Jobs::default(),
            ids: Ids::default(),
        })
    }

    /// Where its plugins are registered.
    pub fn hooks(&self) -> &HookRegistry {
        &self.hooks
    }

    /// What a session has said and heard so far, if there is one of that key:
    /// `platform:chat`.
    pub async fn history(&self, session_key: &str) -> Option<Vec<Line>> {
        let session = self.sessions.find(session_key)?;
        let history = session.lock().await.history.clone();
        Some(history)
    }

    /// How a ticket stands.
    pub fn ticket(&self, id: &str) -> Option<Ticket> {
        self.board.get(id)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("model", &self.model).finish_non_exhaustive()
    }
}
