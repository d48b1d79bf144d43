//! Who is there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use hooks_runtime::report::escaped;
use tokio::time::{Instant, sleep_until};

use crate::admission;
use crate::carrier::{CarrierError, Presence, Watch};
use crate::fleet::Inner;
use crate::log::logged;
use crate::wire::Announcement;

/// The most processes of one service that are known.
const MAX_PROCESSES: usize = 1_000;

/// A process by its service and its instance.
type Key = (String, String);

/// The most strangers that are kept.
const MAX_STRANGERS: usize = 64;

/// A process that was heard of and does not take part, or not with all of its handlers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stranger {
    /// The service that it says it is of.
    pub service: String,
    /// The process.
    pub instance: String,
    /// Why it does not take part, or which of its handlers do not.
    pub why: String,
}

/// The processes that are there, as far as this one knows.
#[derive(Default)]
pub(crate) struct Table {
    present: BTreeMap<Key, (Arc<Announcement>, Instant)>,
}

/// Those that take no part, the newest last.
#[derive(Default)]
pub(crate) struct Strangers(Mutex<VecDeque<Stranger>>);

impl Table {
    /// The announcements, in the order of services and instances.
    pub(crate) fn present(&self) -> Vec<Arc<Announcement>> {
        self.present.values().map(|(announcement, _)| Arc::clone(announcement)).collect()
    }

    /// Whether that changes anything, or why it is not kept.
    fn here(&mut self, announcement: Announcement, now: Instant) -> Result<bool, String> {
        let key = (announcement.service.clone(), announcement.instance.clone());
        match self.present.get_mut(&key) {
            Some((known, seen)) if **known == announcement => {
                *seen = now;
                return Ok(false);
            }
            Some(known) => *known = (Arc::new(announcement), now),
            None => {
                let of_service = self.present.keys().filter(|(service, _)| *service == key.0);
                if of_service.count() >= MAX_PROCESSES {
                    return Err(format!("{MAX_PROCESSES} processes of its service are there"));
                }
                self.present.insert(key, (Arc::new(announcement), now));
            }
        }
        Ok(true)
    }

    fn gone(&mut self, service: String, instance: String) -> bool {
        self.present.remove(&(service, instance)).is_some()
    }

    /// Those that have been silent since before then.
    fn silent(&self, since: Instant) -> Vec<Key> {
        let silent = self.present.iter().filter(|(_, (_, seen))| *seen < since);
        silent.map(|(key, _)| key.clone()).collect()
    }

    /// When the one that was heard of longest ago was heard of.
    fn oldest(&self) -> Option<Instant> {
        self.present.values().map(|(_, seen)| *seen).min()
    }

    fn seen(&mut self, key: &Key, now: Instant) {
        if let Some((_, seen)) = self.present.get_mut(key) {
            *seen = now;
        }
    }

    /// Forgets one, unless it was heard of since then.
    fn forget(&mut self, key: &Key, since: Instant) -> bool {
        let is_silent = self.present.get(key).is_some_and(|(_, seen)| *seen < since);
        is_silent && self.present.remove(key).is_some()
    }
}

impl Strangers {
    pub(crate) fn list(&self) -> Vec<Stranger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Keeps a stranger, and says so, the first time.
    pub(crate) fn note(&self, service: &str, instance: &str, why: &str) {
        let (service, instance) = (excerpt(service), excerpt(instance));
        let stranger = Stranger { service, instance, why: line(why) };
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
        logged(|| {
            tracing::warn!(
                service,
                instance,
                why,
                "a process does not take part in this fleet, or not wholly"
            );
        });
    }
}

/// The longest name of others, and the longest text, that is kept to be printed.
const NAME: usize = 64;
const TEXT: usize = 500;

/// What others call themselves, short enough to be printed, and on one line.
pub(crate) fn excerpt(text: &str) -> String {
    shortened(text, NAME)
}

/// What is wrong with what others say, which may repeat as much of it as they like.
pub(crate) fn line(text: &str) -> String {
    shortened(text, TEXT)
}

fn shortened(text: &str, longest: usize) -> String {
    // No more of it is looked at than is kept: each letter is written as one at least.
    let begin: String = text.chars().take(longest).collect();
    escaped(&begin).to_string().chars().take(longest).collect()
}

/// Those that were asked whether they are there, and whether they certainly are not.
type Asked = BoxFuture<'static, Vec<(Key, bool)>>;

/// Follows who is there, as long as the fleet is.
pub(crate) async fn follow(fleet: Weak<Inner>, mut heard: Box<dyn Watch>) {
    // What is heard meanwhile counts at once: one that does not answer holds up no other.
    let mut asking: Option<(Instant, Asked)> = None;
    loop {
        let Some(wake) = fleet.upgrade().map(|fleet| next_look(&fleet)) else { return };
        let is_asking = asking.is_some();
        let answered = async {
            match &mut asking {
                Some((since, asked)) => (*since, asked.await),
                None => std::future::pending().await,
            }
        };
        let word = tokio::select! {
            presence = heard.next() => match presence {
                Some(presence) => Heard::Presence(presence),
                None => return,
            },
            (since, answers) = answered => Heard::Answers(since, answers),
            () = sleep_until(wake), if !is_asking => Heard::Nothing,
        };
        let Some(fleet) = fleet.upgrade() else { return };
        match word {
            Heard::Presence(presence) => hear(&fleet, presence),
            Heard::Answers(since, answers) => {
                asking = None;
                forget(&fleet, since, answers);
            }
            Heard::Nothing => asking = Some((Instant::now(), ask_silent(&fleet))),
        }
    }
}

enum Heard {
    Presence(Presence),
    Answers(Instant, Vec<(Key, bool)>),
    /// Nothing, for as long as one may be silent.
    Nothing,
}

fn hear(fleet: &Inner, presence: Presence) {
    match presence {
        Presence::Here(announcement) => {
            let (service, instance) = (announcement.service.clone(), announcement.instance.clone());
            let kept = match admission::problem(&announcement) {
                None => fleet.table().here(announcement, Instant::now()),
                Some(why) => Err(why),
            };
            match kept {
                // Before all are known that were there at first, nothing is shared yet.
                Ok(true) if *fleet.changes.borrow() > 0 => fleet.apply(),
                Ok(_) => {}
                Err(why) => fleet.caller.strangers.note(&service, &instance, &why),
            }
        }
        Presence::Gone(service, instance) => {
            let was_there = fleet.table().gone(service, instance);
            // As above: it may have gone while the others are still told.
            if was_there && *fleet.changes.borrow() > 0 {
                fleet.apply();
            }
        }
        Presence::Refused(service, instance, why) => {
            fleet.caller.strangers.note(&service, &instance, &why);
        }
        Presence::Current => fleet.apply(),
    }
}

/// When those that are silent are looked at.
fn next_look(fleet: &Inner) -> Instant {
    let forget_after = fleet.caller.options.forget_after;
    let oldest = fleet.table().oldest().unwrap_or_else(Instant::now);
    later(oldest, forget_after.saturating_add(Duration::from_millis(1)))
}

/// Asks those that have been silent for too long.
fn ask_silent(fleet: &Inner) -> Asked {
    let since = Instant::now().checked_sub(fleet.caller.options.forget_after);
    let silent = since.map(|since| fleet.table().silent(since)).unwrap_or_default();
    let caller = Arc::clone(&fleet.caller);
    async move {
        let asks = silent.into_iter().map(|key| async {
            let is_gone = caller.carrier.ping(&key.0, &key.1).await == Err(CarrierError::Absent);
            (key, is_gone)
        });
        join_all(asks).await
    }
    .boxed()
}

/// Forgets those that are certainly not there. One that cannot be reached is kept: its handlers
/// fail, and no gate opens because this process is cut off.
fn forget(fleet: &Inner, since: Instant, answers: Vec<(Key, bool)>) {
    let mut changed = false;
    for (key, is_gone) in answers {
        if is_gone {
            changed |= fleet.table().forget(&key, since);
        } else {
            fleet.table().seen(&key, Instant::now());
        }
    }
    if changed {
        fleet.apply();
    }
}

/// That much later, or as late as there is a time for.
pub(crate) fn later(instant: Instant, by: Duration) -> Instant {
    const FOREVER: Duration = Duration::from_hours(24 * 365 * 30);
    instant.checked_add(by).unwrap_or_else(|| instant + FOREVER)
}
