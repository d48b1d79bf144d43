//! The settings of a registry, behind its lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::operator::breaker::Breaker;
use crate::operator::check::{Need, need};
use crate::operator::rate::RateLimiter;
use crate::operator::rules::{HandlerRules, PointRules, State, spans};
#[cfg(feature = "config")]
use crate::operator::setting::Layer;
use crate::operator::setting::{Setting, SettingChange, SettingId};
use crate::operator::target::sampled_as;
#[cfg(feature = "replay")]
use crate::point::FailurePolicy;
use crate::registry::entry::Entry;

/// The settings that hold, in the order in which a later one counts before an earlier.
#[derive(Debug, Default)]
pub(crate) struct SettingStore {
    settings: Vec<Setting>,
    /// What a setting keeps of a handler.
    states: HashMap<(SettingId, u64), State>,
    newest: u64,
    /// When they last changed. Rules are worked out from here on: no clock is asked under
    /// the lock, as a timer is code of the host.
    changed: Option<Instant>,
}

/// Whether a setting that names a handler applies to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    Applies,
    /// It came after the setting, which does not have the form that it needs there.
    Withheld(Need),
}

impl SettingStore {
    pub(crate) fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    pub(crate) fn all(&self) -> &[Setting] {
        &self.settings
    }

    /// The number of the next setting.
    pub(crate) fn next_id(&mut self) -> SettingId {
        self.newest += 1;
        SettingId::new(self.newest)
    }

    pub(crate) fn add(&mut self, setting: Setting, now: Instant) {
        self.changed = Some(now);
        self.settings.push(setting);
        // Stable: of one layer the newest is the last, but for what a file has in its order.
        self.settings.sort_by_key(Setting::layer);
    }

    pub(crate) fn remove(&mut self, id: SettingId) -> Option<Setting> {
        let at = self.settings.iter().position(|setting| setting.id() == id)?;
        self.forget(id);
        Some(self.settings.remove(at))
    }

    /// Puts these in the place of all of that layer.
    #[cfg(feature = "config")]
    pub(crate) fn replace(&mut self, layer: Layer, settings: Vec<Setting>, now: Instant) {
        self.changed = Some(now);
        let is_replaced = |setting: &mut Setting| setting.layer() == layer;
        for old in self.settings.extract_if(.., is_replaced).collect::<Vec<_>>() {
            if !settings.contains(&old) {
                self.forget(old.id());
            }
        }
        self.settings.extend(settings);
        self.settings.sort_by_key(Setting::layer);
    }

    /// Takes out those that have ended.
    pub(crate) fn take_ended(&mut self, now: Instant) -> Vec<Setting> {
        self.changed = Some(now);
        let is_over = |setting: &mut Setting| !setting.holds_at(now);
        let ended: Vec<_> = self.settings.extract_if(.., is_over).collect();
        for setting in &ended {
            self.forget(setting.id());
        }
        ended
    }

    fn forget(&mut self, id: SettingId) {
        self.states.retain(|(setting, _), _| *setting != id);
    }

    /// The settings that hold at that time, for a copy of the registry: without what
    /// depends on how calls follow each other in time. What was to fail closed still does.
    #[cfg(feature = "replay")]
    pub(crate) fn copied(&self, now: Instant) -> Self {
        let holding = self.settings.iter().filter(|setting| setting.holds_at(now));
        let settings = holding.filter_map(|setting| match setting.change() {
            SettingChange::RateLimit(_) | SettingChange::Breaker(_) => {
                let closed = SettingChange::OnFailure(FailurePolicy::Closed);
                setting.fails_closed().then(|| setting.copied(closed))
            }
            change => Some(setting.copied(change.clone())),
        });
        let settings = settings.collect();
        Self { settings, states: HashMap::new(), newest: self.newest, changed: Some(now) }
    }

    /// Forgets what is kept of handlers that were removed.
    pub(crate) fn forget_handlers(&mut self, removed: &[Arc<Entry>]) {
        if !self.states.is_empty() {
            self.states.retain(|(_, handler), _| removed.iter().all(|entry| entry.id != *handler));
        }
    }

    /// The settings that name a handler, in order, with whether they apply to it.
    pub(crate) fn naming<'s>(
        &'s self,
        entry: &'s Entry,
    ) -> impl Iterator<Item = (&'s Setting, Standing)> {
        let named = self.settings.iter().filter(|setting| setting.pattern().matches(entry));
        named.map(|setting| {
            let standing = match need(entry, setting.change(), setting.fails_closed()) {
                Need::Nothing => Standing::Applies,
                Need::BreakGlass { .. } if setting.is_break_glass() => Standing::Applies,
                need => Standing::Withheld(need),
            };
            (setting, standing)
        })
    }

    /// The settings that name a handler and do not apply to it.
    pub(crate) fn withheld(&self, entry: &Entry) -> Vec<Setting> {
        let withheld = self.naming(entry).filter(|(_, standing)| *standing != Standing::Applies);
        withheld.map(|(setting, _)| setting.clone()).collect()
    }

    fn applying(&self, entry: &Entry) -> Vec<Setting> {
        let applying = self.naming(entry).filter(|(_, standing)| *standing == Standing::Applies);
        applying.map(|(setting, _)| setting.clone()).collect()
    }

    /// What holds for a handler at that time.
    pub(crate) fn holding(&self, entry: &Entry, now: Instant) -> Option<HandlerRules> {
        if self.is_empty() {
            return None;
        }
        let mut settings = self.applying(entry);
        settings.retain(|setting| setting.holds_at(now));
        HandlerRules::of(entry, &sampled_as(entry).into(), &settings, |setting| {
            self.states.get(&(setting.id(), entry.id)).cloned()
        })
    }

    /// What the settings come to for the handlers of a point.
    pub(crate) fn rules<'e>(
        &mut self,
        point: &str,
        entries: impl Iterator<Item = &'e Arc<Entry>>,
    ) -> Option<Arc<PointRules>> {
        let now = self.changed?;
        if !self.settings.iter().any(|setting| setting.pattern().may_name(point)) {
            return None;
        }
        let (mut handlers, mut all) = (HashMap::new(), 0);
        for entry in entries {
            all += 1;
            let settings = self.applying(entry);
            if settings.is_empty() {
                continue;
            }
            let address = Arc::from(sampled_as(entry));
            let ends = settings.iter().filter_map(Setting::ends).collect();
            let states = &mut self.states;
            let spans = spans(now, ends, |at| {
                let mut holding = settings.clone();
                holding.retain(|setting| setting.holds_at(at));
                HandlerRules::of(entry, &address, &holding, |setting| {
                    state(states, setting, entry.id, now)
                })
            });
            handlers.insert(entry.id, spans);
        }
        PointRules::new(handlers, all)
    }
}

/// What a setting keeps of a handler, made where it is new.
fn state(
    states: &mut HashMap<(SettingId, u64), State>,
    setting: &Setting,
    handler: u64,
    now: Instant,
) -> Option<State> {
    let key = (setting.id(), handler);
    if let Some(known) = states.get(&key) {
        return Some(known.clone());
    }
    let new = match setting.change() {
        SettingChange::RateLimit(limit) => State::Rate(Arc::new(RateLimiter::new(limit, now))),
        SettingChange::Breaker(settings) => State::Breaker(Arc::new(Breaker::new(settings, now))),
        _ => return None,
    };
    states.insert(key, new.clone());
    Some(new)
}
