//! Sessions: who talks with whom, and what was said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};

use hooks_points::Personality;
use tokio::sync::Mutex;

use super::history::{Line, Message};
use super::{Agent, Turn};

/// One conversation.
#[derive(Debug)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// The key by which it is found again: `platform:chat`.
    pub key: String,
    /// The platform it is on.
    pub platform: String,
    /// Who the agent is in it.
    pub personality: Personality,
    /// What was said.
    pub history: Vec<Line>,
    /// How many turns it has had.
    pub turns: u64,
}

/// All sessions. A turn holds the lock of its session from begin to end, so
/// two messages of one chat never get into each other's way.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Lock<HashMap<String, Arc<Mutex<Session>>>>);

impl Sessions {
    pub(crate) fn find(&self, key: &str) -> Option<Arc<Mutex<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn insert(&self, session: Session) -> Arc<Mutex<Session>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = session.key.clone();
        Arc::clone(all.entry(key).or_insert_with(|| Arc::new(Mutex::new(session))))
    }
}

impl Agent {
    /// The session of that key, a new one if there is none.
    pub(crate) fn session(&self, platform: &str, key: &str) -> Arc<Mutex<Session>> {
        self.sessions.find(key).unwrap_or_else(|| {
            let personality = self.personalities.first().clone();
            self.sessions.insert(self.new_session(platform, key, personality))
        })
    }

    /// A session that is not resumed.
    pub(crate) fn new_session(
        &self,
        platform: &str,
        key: &str,
        personality: Personality,
    ) -> Session {
        Session {
            id: self.ids.session(),
            key: key.to_owned(),
            platform: platform.to_owned(),
            personality,
            history: Vec::new(),
            turns: 0,
        }
    }

    /// Adds to the history of a session.
    pub(crate) fn record(&self, session: &mut Session, message: Message) {
        let (id, timestamp) = (self.ids.message(), self.clock.timestamp());
        session.history.push(Line { id, timestamp, message });
    }

    /// The turn that a session is about to have.
    pub(crate) fn turn_in(&self, session: &Session) -> Turn {
        self.turn_of(&session.personality)
    }
}
