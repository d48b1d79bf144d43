//! How a setting is applied, cleared and ended: checked first, then published whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::operator::check::{self, Need};
use crate::operator::error::OperatorError;
use crate::operator::setting::{Draft, Setting, SettingChange, SettingEnd, SettingId};
use crate::operator::shown::{self, breaker_changed};
use crate::operator::target::{Pattern, address};
use crate::registry::Inner;
use crate::registry::entry::Entry;
use crate::registry::store::Store;
use crate::sync::MutexGuard;
use crate::timer::{Timer, now};

/// The longest that a setting holds which has an end.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// How many settings a registry has at most: each change looks at all of them.
pub(super) const MOST: usize = 500;

/// The error of a target that names no handler. What was meant is worked out without the
/// lock.
pub(super) fn no_match(target: &Pattern, store: MutexGuard<'_, Store>) -> OperatorError {
    let entries = store.entries();
    drop(store);
    OperatorError::NoMatch { target: target.to_string(), nearest: target.nearest(&entries) }
}

/// Whether a text says anything.
pub(super) fn is_readable(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

pub(super) fn parse(target: &str) -> Result<Pattern, OperatorError> {
    let bad = |problem| OperatorError::BadTarget { target: target.to_owned(), problem };
    Pattern::parse(target).map_err(bad)
}

/// A setting whose own values are right. Which handlers it names, and whether it may apply
/// to them, is known behind the lock.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) pattern: Pattern,
    pub(super) draft: Draft,
    ends: Option<Instant>,
}

impl Prepared {
    /// Checks the values of a draft: all that needs no handler.
    pub(super) fn new(draft: Draft, now: Instant) -> Result<Self, OperatorError> {
        if draft.break_glass {
            if !draft.why.as_deref().is_some_and(is_readable) {
                return Err(OperatorError::NoReason);
            }
            if draft.end.is_none() {
                return Err(OperatorError::NoEnd);
            }
        }
        draft.validate()?;
        let pattern = parse(&draft.target)?;
        let left = draft.end.map(|end| end.time_left().ok_or(OperatorError::Ended)).transpose()?;
        if left.is_some_and(|left| left > LONGEST) {
            return Err(OperatorError::TooFar);
        }
        let end = |left| now.checked_add(left).ok_or(OperatorError::TooFar);
        Ok(Self { pattern, ends: left.map(end).transpose()?, draft })
    }

    /// Whether it names a handler, or need not.
    pub(super) fn has_target(&self, matching: &[(usize, Arc<Entry>)]) -> bool {
        !matching.is_empty() || self.draft.may_name_none
    }

    pub(super) fn setting(self, id: SettingId, timer: &Arc<dyn Timer>) -> Setting {
        Setting::new(id, self.pattern, self.draft, self.ends, timer)
    }
}

/// Whether a setting may apply to all of the handlers.
pub(super) fn check(draft: &Draft, matching: &[(usize, Arc<Entry>)]) -> Result<(), OperatorError> {
    let mut refused = None;
    for (_, entry) in matching {
        match (check::need(entry, &draft.change, draft.fails_closed), &mut refused) {
            (Need::Nothing, _) => {}
            (Need::BreakGlass { .. }, _) if draft.break_glass => {}
            (Need::BreakGlass { .. }, Some(OperatorError::NeedsBreakGlass { more, .. })) => {
                *more += 1;
            }
            (Need::BreakGlass { effect, or_fail_closed }, refused) => {
                *refused = Some(OperatorError::NeedsBreakGlass {
                    setting: draft.change.verb(),
                    handler: address(entry),
                    more: 0,
                    effect,
                    form: form(draft),
                    or_fail_closed,
                });
            }
            (Need::Refused(error), _) => return Err(error),
        }
    }
    if let Some(error) = refused {
        return Err(error);
    }
    if let SettingChange::TimeLimit(asked) = draft.change
        && let Some((_, entry)) = matching.first()
        && let Some(own) = entry.timeout
        && matching.iter().all(|(_, entry)| entry.timeout.is_some_and(|own| own <= asked))
    {
        return Err(OperatorError::NotShorter { handler: address(entry), own, asked });
    }
    Ok(())
}

/// The call that a draft comes from, as an operator would write it.
fn form(draft: &Draft) -> String {
    let more = match draft.change {
        SettingChange::Mode(_) | SettingChange::OnFailure(_) => "",
        _ => ", …",
    };
    format!("{}({:?}{more})", draft.change.verb(), draft.target)
}

impl Inner {
    /// The break-glass settings that hold now, for a report.
    pub(crate) fn holding_break_glass(&self) -> Vec<Setting> {
        let at = || now(&*self.config.timer);
        let (holding, is_any_over) = self.break_glass.holding(at);
        if is_any_over {
            self.end_settings();
        }
        holding
    }

    pub(super) fn apply_setting(&self, draft: Draft) -> Result<Setting, OperatorError> {
        let timer = &self.config.timer;
        let at = now(&**timer);
        let new = Prepared::new(draft, at)?;
        self.end_settings();
        let (setting, commit) = {
            let mut store = self.store();
            let matching = store.matching(&new.pattern);
            if !new.has_target(&matching) {
                return Err(no_match(&new.pattern, store));
            }
            if store.settings.all().len() == MOST {
                return Err(OperatorError::TooMany { most: MOST });
            }
            check(&new.draft, &matching)?;
            let setting = new.setting(store.settings.next_id(), timer);
            store.settings.add(setting.clone(), at);
            let commit =
                self.publish_settings(&mut store, matching.iter().map(|(index, _)| *index));
            (setting, commit)
        };
        drop(commit);
        shown::began(&setting, self);
        Ok(setting)
    }

    pub(super) fn clear_setting(&self, id: SettingId) -> Result<Setting, OperatorError> {
        self.end_settings();
        let (setting, commit) = {
            let mut store = self.store();
            let cleared = store.settings.remove(id);
            let setting = cleared.ok_or(OperatorError::NoSetting { id })?;
            let points = store.points_matching(&[&setting]);
            (setting, self.publish_settings(&mut store, points.into_iter()))
        };
        drop(commit);
        shown::ended(&setting, SettingEnd::Cleared, self);
        Ok(setting)
    }

    /// Takes out the settings that have ended, and says so. Called before each change, and
    /// by the first fire that sees it: nothing here has a thread of its own.
    #[cold]
    pub(crate) fn end_settings(&self) {
        let at = now(&*self.config.timer);
        let (ended, commit) = {
            let mut store = self.store();
            let ended = store.settings.take_ended(at);
            if ended.is_empty() {
                return;
            }
            let points = store.points_matching(&ended.iter().collect::<Vec<_>>());
            let commit = self.publish_settings(&mut store, points.into_iter());
            (ended, commit)
        };
        drop(commit);
        for setting in &ended {
            shown::ended(setting, SettingEnd::Passed, self);
        }
    }

    pub(super) fn reset_breakers(&self, target: &str) -> Result<usize, OperatorError> {
        let pattern = parse(target)?;
        let at = now(&*self.config.timer);
        let reset: Vec<_> = {
            let store = self.store();
            let matching = store.matching(&pattern);
            if matching.is_empty() {
                return Err(no_match(&pattern, store));
            }
            let breakers = matching.into_iter().filter_map(|(_, entry)| {
                let breaker = Arc::clone(store.settings.holding(&entry, at)?.breaker()?);
                Some((entry, breaker))
            });
            breakers.collect()
        };
        for (entry, breaker) in &reset {
            if let Some(transition) = breaker.reset(at) {
                let is_shadow = breaker.is_shadow();
                breaker_changed(entry, transition, is_shadow, self);
            }
        }
        Ok(reset.len())
    }
}
