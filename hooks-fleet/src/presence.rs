//! Who is there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError, Weak};

use tokio::time::{Instant, sleep_until};

use crate::carrier::{CarrierError, Presence, Watch};
use crate::fleet::Inner;
use crate::wire::{Announcement, VERSION};

/// The most strangers that are kept.
const MAX_STRANGERS: usize = 64;

/// A process that was heard of and does not take part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stranger {
    /// The service that it says it is of.
    pub service: String,
    /// The process.
    pub instance: String,
    /// Why it does not take part.
    pub why: String,
}

/// The processes that are there, as far as this one knows.
#[derive(Default)]
pub(crate) struct Table {
    present: BTreeMap<(String, String), (Announcement, Instant)>,
}

/// Those that take no part, the newest last.
#[derive(Default)]
pub(crate) struct Strangers(Mutex<VecDeque<Stranger>>);

impl Table {
    /// The announcements, in the order of services and instances.
    pub(crate) fn present(&self) -> Vec<Announcement> {
        self.present.values().map(|(announcement, _)| announcement.clone()).collect()
    }

    /// Whether that changes anything.
    fn here(&mut self, announcement: Announcement, now: Instant) -> bool {
        let key = (announcement.service.clone(), announcement.instance.clone());
        match self.present.get_mut(&key) {
            Some((known, seen)) if *known == announcement => {
                *seen = now;
                false
            }
            _ => {
                self.present.insert(key, (announcement, now));
                true
            }
        }
    }

    fn gone(&mut self, service: String, instance: String) -> bool {
        self.present.remove(&(service, instance)).is_some()
    }

    /// Those that have been silent since before then.
    fn silent(&self, since: Instant) -> Vec<(String, String)> {
        let silent = self.present.iter().filter(|(_, (_, seen))| *seen < since);
        silent.map(|(key, _)| key.clone()).collect()
    }

    /// When the one that was heard of longest ago was heard of.
    fn oldest(&self) -> Option<Instant> {
        self.present.values().map(|(_, seen)| *seen).min()
    }

    fn seen(&mut self, key: &(String, String), now: Instant) {
        if let Some((_, seen)) = self.present.get_mut(key) {
            *seen = now;
        }
    }
}

impl Strangers {
    pub(crate) fn list(&self) -> Vec<Stranger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Keeps a stranger, and says so, the first time.
    pub(crate) fn note(&self, service: &str, instance: &str, why: &str) {
        let (service, instance) = (excerpt(service), excerpt(instance));
        let stranger = Stranger { service, instance, why: why.to_owned() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&stranger) {
            return;
        }
        if known.len() == MAX_STRANGERS {
            known.pop_front();
        }
        known.push_back(stranger.clone());
        drop(known);
        let Stranger { service, instance, why } = stranger;
        tracing::warn!(service, instance, why, "a process takes no part in this fleet");
    }
}

/// What others say of themselves, short enough to be printed.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(64).collect()
}

/// Follows who is there, as long as the fleet is.
pub(crate) async fn follow(fleet: Weak<Inner>, mut heard: Box<dyn Watch>) {
    loop {
        let Some(wake) = fleet.upgrade().map(|fleet| next_look(&fleet)) else { return };
        let presence = tokio::select! {
            presence = heard.next() => match presence {
                Some(presence) => Some(presence),
                None => return,
            },
            () = sleep_until(wake) => None,
        };
        let Some(fleet) = fleet.upgrade() else { return };
        match presence {
            Some(Presence::Here(announcement)) => {
                if announcement.v != VERSION {
                    let why = format!("it speaks version {} of the contract", announcement.v);
                    let Announcement { service, instance, .. } = announcement;
                    fleet.caller.strangers.note(&service, &instance, &why);
                    continue;
                }
                let changed = fleet.table().here(announcement, Instant::now());
                // Before all are known that were there at first, nothing is shared yet.
                if changed && *fleet.changes.borrow() > 0 {
                    fleet.apply();
                }
            }
            Some(Presence::Gone(service, instance)) => {
                if fleet.table().gone(service, instance) {
                    fleet.apply();
                }
            }
            Some(Presence::Current) => fleet.apply(),
            None => forget_silent(&fleet).await,
        }
    }
}

/// When those that are silent are looked at.
fn next_look(fleet: &Inner) -> Instant {
    let forget_after = fleet.caller.options.forget_after;
    let oldest = fleet.table().oldest().unwrap_or_else(Instant::now);
    oldest + forget_after + std::time::Duration::from_millis(1)
}

/// Asks those that have been silent for too long, and forgets those that are certainly not
/// there. One that cannot be reached is kept: its handlers fail, and no gate opens because this
/// process is cut off.
async fn forget_silent(fleet: &Inner) {
    let carrier = &fleet.caller.carrier;
    let Some(since) = Instant::now().checked_sub(fleet.caller.options.forget_after) else { return };
    let silent = fleet.table().silent(since);
    let mut changed = false;
    for key in silent {
        match carrier.ping(&key.0, &key.1).await {
            Err(CarrierError::Absent) => changed |= fleet.table().gone(key.0, key.1),
            _ => fleet.table().seen(&key, Instant::now()),
        }
    }
    if changed {
        fleet.apply();
    }
}
