//! The remote handlers of one registry, kept in step with who is there.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use hooks_runtime::HookRegistry;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::{Handle, HandlerInfo};

use super::entry::{RemoteEntry, Routing, Shape};
use super::tape::Tape;
use super::wanted::{Fits, Wanted};
use super::{Required, Services};
use crate::error::FleetError;
use crate::fleet::Caller;
use crate::presence::excerpt;
use crate::wire::{AnnouncedPoint, Announcement};

/// A handler by service, point and name.
pub(super) type Key = (String, &'static str, String);

/// What a registry shares, and the remote handlers that it has for that.
pub(crate) struct ShareState {
    hooks: HookRegistry,
    /// Where the host shares it.
    written: &'static Location<'static>,
    pub(super) own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
    services: Services,
    pub(super) required: Vec<Required>,
    tape: Tape,
    fits: Mutex<Fits>,
    entries: Mutex<Entries>,
    /// A change has been made.
    changed: Condvar,
}

/// The remote handlers that the registry has.
#[derive(Default)]
struct Entries {
    registered: BTreeMap<Key, Registered>,
    /// The thread that makes a change. It holds no lock meanwhile: what the registry tells of
    /// the change is the host's code.
    changing: Option<ThreadId>,
    /// Whether another change is due after that one.
    is_due: bool,
    /// How sharing has ended, if it has: nothing comes any more.
    end: Option<End>,
}

/// How sharing ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The handlers have left the registry.
    Stopped,
    /// They are there, and their calls fail.
    Closed,
}

#[derive(Clone)]
pub(super) struct Registered {
    pub(super) entry: Arc<RemoteEntry>,
    pub(super) shape: Shape,
    handle: Handle,
}

/// A handler that is about to be registered, or registered anew.
struct Coming {
    key: Key,
    entry: Arc<RemoteEntry>,
    shape: Shape,
}

/// A change that is being made, also where it is left by a panic.
struct Changing<'s>(&'s ShareState);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.lock().changing = None;
        self.0.changed.notify_all();
    }
}

impl ShareState {
    pub(crate) fn new(
        (hooks, written): (HookRegistry, &'static Location<'static>),
        own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
        services: Services,
        required: Vec<Required>,
        tape: Tape,
    ) -> Self {
        let (fits, entries, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        Self { hooks, written, own, services, required, tape, fits, entries, changed }
    }

    /// Whether processes of that service take part.
    pub(crate) fn admits(&self, service: &str) -> bool {
        self.services.any || self.services.named.contains(service)
    }

    /// Whether that handler is a remote one of this registry.
    pub(crate) fn owns(&self, service: &str, info: &HandlerInfo) -> bool {
        let key = (service.to_owned(), info.point, info.name.to_string());
        self.settled().registered.contains_key(&key)
    }

    pub(super) fn fits(&self) -> MutexGuard<'_, Fits> {
        self.fits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries while no other thread changes them. The thread that does may ask in the
    /// midst of it, from what the registry calls.
    fn settled(&self) -> MutexGuard<'_, Entries> {
        let own = thread::current().id();
        let by_other = |entries: &mut Entries| entries.changing.is_some_and(|by| by != own);
        let settled = self.changed.wait_while(self.lock(), by_other);
        settled.unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the registry have the handlers that are there. Those that come do so at one
    /// instant, and so do those that go. One that the registry refuses is noticed, and holds
    /// up no other; the error is that of one that is required.
    pub(crate) fn apply(
        &self,
        caller: &Arc<Caller>,
        present: impl Fn() -> Vec<Arc<Announcement>>,
    ) -> Result<(), FleetError> {
        loop {
            let mut entries = self.settled();
            if entries.end.is_some() {
                return Ok(());
            }
            if entries.changing.is_some() {
                // Asked for by what is called in the midst of a change: it comes after that.
                entries.is_due = true;
                return Ok(());
            }
            entries.changing = Some(thread::current().id());
            let mut registered = entries.registered.clone();
            drop(entries);
            let changing = Changing(self);
            // Asked for only now: the last change has the newest.
            let applied = self.change_to(caller, &present(), &mut registered);
            let mut entries = self.lock();
            entries.registered = registered;
            let (end, is_due) = (entries.end, std::mem::take(&mut entries.is_due));
            drop((entries, changing));
            // It has ended meanwhile: what has come since then goes too.
            match end {
                None if is_due => {}
                None => return applied,
                Some(end) => {
                    self.end(end);
                    return Ok(());
                }
            }
        }
    }

    fn change_to(
        &self,
        caller: &Arc<Caller>,
        present: &[Arc<Announcement>],
        entries: &mut BTreeMap<Key, Registered>,
    ) -> Result<(), FleetError> {
        let wanted = self.wanted(caller, present, entries);
        let is_gone = |key: &&Key| !wanted.contains_key(key);
        let gone: Vec<_> = entries.keys().filter(is_gone).cloned().collect();
        let mut coming = Vec::new();
        for (key, Wanted { shape, routing }) in wanted {
            // Where calls go, first: a handler that comes is served from its first call.
            match entries.get(&key) {
                Some(known) if known.shape == shape => known.entry.set_routing(routing),
                // A guard and a rewriter of one name are two: a fire under way, in which it has the
                // place of the one, does not call the other there.
                known => {
                    let same = known.filter(|known| known.shape.guard == shape.guard);
                    let entry = same.map_or_else(
                        || {
                            let (model, own) = &self.own[key.1];
                            let (point, kept) = ((key.1, *model), (own.durable, &self.tape));
                            Arc::new(RemoteEntry::new(caller, &key.0, point, &key.2, kept))
                        },
                        |known| Arc::clone(&known.entry),
                    );
                    entry.set_routing(routing);
                    coming.push(Coming { key, entry, shape });
                }
            }
        }
        let mut refused = Vec::new();
        if self.change(&coming, &gone, entries).is_err() {
            refused = self.change_one_by_one(coming, &gone, entries);
        }
        self.note_refused(caller, present, refused)
    }

    /// Registers them one after another, where the registry refuses the whole: what one process
    /// announces does not keep the handlers of others out of the order.
    fn change_one_by_one(
        &self,
        coming: Vec<Coming>,
        gone: &[Key],
        entries: &mut BTreeMap<Key, Registered>,
    ) -> Vec<(Key, FleetError)> {
        let mut refused = Vec::new();
        for mut coming in coming {
            let Err(error) = self.change(std::slice::from_ref(&coming), &[], entries) else {
                continue;
            };
            let why = format!("it is refused here: {error}");
            let routing = Routing { incompatible: Some(why), ..Routing::default() };
            if let Some(known) = entries.get(&coming.key) {
                // Its old place is not the one that is announced: nothing is called there.
                known.entry.set_routing(routing);
            } else if self.requires(&coming.key) {
                // It has a place all the same, at which every fire finds why it does not work.
                coming.entry.set_routing(routing);
                let limit = coming.shape.timeout.max(Duration::from_millis(1));
                // Its turn is nothing that could be refused.
                let turn = std::mem::take(&mut coming.shape.turn);
                coming.shape =
                    Shape { turn, ..Shape::unknown(&coming.key.0, &coming.key.2, limit) };
                if let Err(error) = self.change(std::slice::from_ref(&coming), &[], entries) {
                    refused.push((coming.key, error));
                }
                continue;
            }
            refused.push((coming.key, error));
        }
        // Nothing of these is refused.
        drop(self.change(&[], gone, entries));
        refused
    }

    /// Registers those that come and removes those that go, at one instant.
    fn change(
        &self,
        coming: &[Coming],
        gone: &[Key],
        entries: &mut BTreeMap<Key, Registered>,
    ) -> Result<(), FleetError> {
        if coming.is_empty() && gone.is_empty() {
            return Ok(());
        }
        // Only an entry of this share is replaced: never another one of the same name.
        let registration = |it: &Coming| {
            it.entry.registration(&it.shape, self.written, entries.contains_key(&it.key))
        };
        let registrations = coming.iter().map(registration).collect::<Result<Vec<_>, _>>()?;
        let leaving = gone.iter().filter_map(|key| Some(entries.get(key)?.handle.clone()));
        // Calls under way end by themselves: waiting for them here would hold up the others.
        let (handles, _removal) = self.hooks.exchange(leaving, registrations)?;
        entries.retain(|key, _| !gone.contains(key));
        for (Coming { key, entry, shape }, handle) in coming.iter().zip(handles) {
            let (entry, shape) = (Arc::clone(entry), shape.clone());
            entries.insert(key.clone(), Registered { entry, shape, handle });
        }
        Ok(())
    }

    fn requires(&self, (service, point, handler): &Key) -> bool {
        let is_it =
            |it: &Required| it.service == *service && it.point == *point && it.handler == *handler;
        self.required.iter().any(is_it)
    }

    fn note_refused(
        &self,
        caller: &Caller,
        present: &[Arc<Announcement>],
        refused: Vec<(Key, FleetError)>,
    ) -> Result<(), FleetError> {
        let mut of_required = Ok(());
        for (key, error) in refused {
            let (service, point, handler) = &key;
            let why = format!("`{}` at `{point}` is refused here: {error}", excerpt(handler));
            let brings = |it: &&Arc<Announcement>| {
                it.service == *service
                    && it.handlers.iter().any(|it| it.point == *point && it.handler == *handler)
            };
            for announcement in present.iter().filter(brings) {
                caller.strangers.note(service, &announcement.instance, &why);
            }
            if self.requires(&key) {
                of_required = Err(error);
            }
        }
        of_required
    }

    /// Removes all of them at one instant.
    pub(crate) fn clear(&self) {
        self.end(End::Stopped);
    }

    /// Keeps the handlers in the registry, and has their calls fail: nobody is heard of any
    /// more, and a handler that left would open its gate.
    pub(crate) fn close(&self) {
        self.end(End::Closed);
    }

    fn end(&self, end: End) {
        let mut entries = self.settled();
        // What has been stopped has nothing left to be closed.
        entries.end.get_or_insert(end);
        let known = match end {
            End::Stopped => std::mem::take(&mut entries.registered),
            End::Closed => entries.registered.clone(),
        };
        drop(entries);
        match end {
            End::Stopped => {
                drop(self.hooks.unregister(known.into_values().map(|entry| entry.handle)));
            }
            End::Closed => {
                for known in known.into_values() {
                    let routing = Routing { is_closed: true, ..Routing::default() };
                    known.entry.set_routing(routing);
                }
            }
        }
    }
}
