//! Whom the agent can be, and what that means for its plugins.

use hooks_points::Personality;
use hooks_runtime::Plugins;

use super::{Agent, AgentError, Turn};

/// Whom the agent can be. There is at least one.
#[derive(Debug)]
pub(crate) struct Personalities(Vec<Personality>);

impl Personalities {
    pub(crate) fn new(all: Vec<Personality>) -> Result<Self, AgentError> {
        if all.is_empty() { Err(AgentError::NoPersonality) } else { Ok(Self(all)) }
    }

    pub(crate) fn first(&self) -> &Personality {
        &self.0[0]
    }

    pub(crate) fn get(&self, id: &str) -> Result<&Personality, AgentError> {
        self.0.iter().find(|personality| personality.id == id).ok_or_else(|| {
            let known: Vec<_> = self.0.iter().map(|known| known.id.as_str()).collect();
            AgentError::NoSuchPersonality { wanted: id.to_owned(), known: known.join(", ") }
        })
    }
}

impl Agent {
    /// Begins a turn of this personality: the plugins that it admits are
    /// worked out here, once, and every fire of the turn goes through them.
    pub(crate) fn turn_of(&self, personality: &Personality) -> Turn {
        // A personality that lists no plugins admits all of them: this house
        // trusts what it installed. Ethos decides the other way: its loop uses
        // `personality.plugins ?? []`, which is `Plugins::BuiltIn` here, so a
        // port of it has to write that, or it opens what was closed.
        let plugins = match &personality.plugins {
            Some(admitted) => Plugins::only(admitted),
            None => Plugins::All,
        };
        Turn::new(self.hooks.scope(plugins), personality.clone())
    }
}
