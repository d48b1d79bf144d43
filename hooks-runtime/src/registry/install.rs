//! Plugins that join the registry, as one group.

use std::sync::Arc;

use crate::error::RegisterError;
use crate::plugin::any::PluginParts;
use crate::plugin::id::PluginId;
use crate::plugin::installation::Installed;
use crate::plugin::lifecycle::Stop;
use crate::plugin::record::PluginName;
use crate::plugin::tracker::CallTracker;
use crate::registry::Inner;
use crate::registry::handle::{Handle, Handles};
use crate::registry::store::{Batch, Replaces};

/// Why a group was refused, and because of which of its plugins, where it is one.
pub(crate) type InstallError = (Option<&'static str>, RegisterError);

/// A plugin of the group, without its handlers.
struct Member {
    parts: PluginParts,
    handlers: usize,
    /// What a built-in block is waited for by; a plugin's handlers have the
    /// plugin's.
    block: Arc<CallTracker>,
}

impl Inner {
    /// Installs plugins, whole or not at all. With [`Replaces::SameId`], the plugins
    /// of their ids are removed in the same instant.
    pub(crate) fn install(
        self: &Arc<Self>,
        plugins: Vec<PluginParts>,
        replaces: Replaces,
    ) -> Result<Vec<Installed>, InstallError> {
        let mut group = Vec::new();
        let mut members = Vec::with_capacity(plugins.len());
        for mut parts in plugins {
            let block = Arc::new(CallTracker::new());
            let registrations = std::mem::take(&mut parts.registrations);
            let handlers = registrations.len();
            group.extend(registrations.into_iter().map(|registration| match parts.id {
                Some(id) => registration.owned_by(id),
                None => registration.among(&block),
            }));
            members.push(Member { parts, handlers, block });
        }
        // Declared before the lock is taken, so dropped after it: see `Batch`.
        let mut batch = Batch::new(group);
        let (commit, records) = {
            let mut store = self.store();
            let mut records = Vec::with_capacity(members.len());
            for Member { parts, .. } in &members {
                if let (Some(id), true) = (parts.id, parts.start.is_some()) {
                    let needs_start = RegisterError::NeedsStart { plugin: id.to_owned() };
                    return Err((Some(id), needs_start));
                }
                let record = parts.id.map(|id| store.admit(id, parts.about, replaces, &mut batch));
                records.push(record.transpose().map_err(|error| (Some(parts.label()), error))?);
            }
            let change = store.register(&mut batch, &self.config);
            let change = change.map_err(|error| (at_fault(&members, &batch), error))?;
            for (member, record) in members.iter_mut().zip(&records) {
                if let Some(record) = record {
                    record.owes(self.owed_by(&mut member.parts, record.name()));
                }
            }
            (self.publish(&mut store, change), records)
        };
        commit.announce(self);
        let mut added = commit.change.added.iter();
        let installed = members.into_iter().zip(records).map(|(member, record)| {
            let own = added.by_ref().take(member.handlers);
            let handles = own.map(|(index, entry)| Handle::new(self, *index, entry)).collect();
            let tracker = record.as_ref().map_or(member.block, |it| Arc::clone(it.tracker()));
            let plugin = record.map(|record| (record.id().clone(), record.generation()));
            Installed::new(self, Handles(handles), plugin, tracker)
        });
        Ok(installed.collect())
    }

    /// Refuses plugins whose ids are taken, here or among themselves.
    pub(crate) fn check_free(&self, plugins: &[PluginParts]) -> Result<(), InstallError> {
        let mut batch = Batch::new(Vec::new());
        let mut store = self.store();
        for parts in plugins {
            if let Some(id) = parts.id {
                let admitted = store.admit(id, parts.about, Replaces::Nothing, &mut batch);
                admitted.map_err(|error| (Some(id), error))?;
            }
        }
        Ok(())
    }

    /// The stop of a plugin that has started.
    pub(crate) fn owe_stop(&self, parts: &mut PluginParts) -> Option<Arc<Stop>> {
        let id = PluginId::new(parts.id?).ok()?;
        let name = self.store().name(&id);
        self.owed_by(parts, &name)
    }

    fn owed_by(&self, parts: &mut PluginParts, name: &Arc<PluginName>) -> Option<Arc<Stop>> {
        let new = |step| Stop::new(Arc::clone(name), step, &self.config.observers);
        parts.owed.take().or_else(|| parts.stop.take().map(new))
    }
}

/// The plugin whose registration was refused. An order that is refused is that of
/// several, and its error names them.
fn at_fault(members: &[Member], batch: &Batch) -> Option<&'static str> {
    let mut place = batch.refused()?;
    members.iter().find_map(|Member { parts, handlers, .. }| {
        let is_it = place < *handlers;
        place = place.saturating_sub(*handlers);
        is_it.then(|| parts.label())
    })
}
