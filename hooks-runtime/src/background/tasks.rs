//! The fires of a registry that are under way in the background.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

use crate::engine::containment::drop_contained;
use crate::engine::raw::chain;
use crate::observe::Observer;
use crate::plugin::tracker::wake_all;
use crate::registry::Inner;
use crate::sync::{Mutex, MutexGuard};

/// The fires of one registry that are under way in the background.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next one.
    next: u64,
    /// Those under way, by number, with the id that they have on a chain of fires.
    active: BTreeMap<u64, usize>,
    waits: u64,
    /// The wakers of the waits, by the number of the wait.
    waiters: BTreeMap<u64, Waker>,
}

impl BackgroundTasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next one: all that were handed over so far have lower ones.
    pub(super) fn so_far(&self) -> u64 {
        self.state().next
    }

    /// How many with a lower number are under way.
    pub(super) fn active_before(&self, number: u64) -> usize {
        self.state().active.range(..number).count()
    }

    /// Whether this thread is polling one of them.
    pub(super) fn is_inside(&self) -> bool {
        let runs = chain::runs();
        !runs.is_empty() && self.state().active.values().any(|id| runs.contains(id))
    }

    /// A wait for them.
    pub(super) fn wait(&self) -> Wait<'_> {
        let mut state = self.state();
        state.waits += 1;
        Wait { tasks: self, number: state.waits }
    }
}

/// A fire that is counted as under way until this is dropped.
pub(super) struct Ticket {
    number: u64,
    registry: Arc<Inner>,
    /// What this points to is its own: its address is the id.
    id: Box<u64>,
}

impl Ticket {
    pub(super) fn take(registry: &Arc<Inner>) -> Self {
        Self::number(registry, &mut registry.background.state())
    }

    /// Unless so many are under way.
    pub(super) fn take_within(registry: &Arc<Inner>, limit: usize) -> Option<Self> {
        let mut state = registry.background.state();
        (state.active.len() < limit).then(|| Self::number(registry, &mut state))
    }

    fn number(registry: &Arc<Inner>, state: &mut State) -> Self {
        let number = state.next;
        let ticket = Self { number, registry: Arc::clone(registry), id: Box::new(number) };
        state.next += 1;
        state.active.insert(number, ticket.id());
        ticket
    }

    /// The id of the fire on a chain: no run of a flow has it, because that is an
    /// address as well.
    pub(super) fn id(&self) -> usize {
        std::ptr::from_ref(&*self.id).addr()
    }

    pub(super) fn observers(&self) -> &[Arc<dyn Observer>] {
        &self.registry.config.observers
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let waiters = {
            let mut state = self.registry.background.state();
            state.active.remove(&self.number);
            std::mem::take(&mut state.waiters)
        };
        // Outside the lock: a waker is the executor's code.
        wake_all(waiters);
    }
}

/// A wait for the fires in the background. Dropping it unregisters its waker.
pub(super) struct Wait<'t> {
    tasks: &'t BackgroundTasks,
    number: u64,
}

impl Wait<'_> {
    /// Registers `waker`, to be woken when one of them has ended.
    pub(super) fn register(&self, waker: &Waker) {
        // Cloned and dropped outside the lock: both are the executor's code.
        let new = waker.clone();
        let old = self.tasks.state().waiters.insert(self.number, new);
        drop_contained("a waker", old);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let waker = self.tasks.state().waiters.remove(&self.number);
        drop_contained("a waker", waker);
    }
}
