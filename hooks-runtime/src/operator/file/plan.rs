//! What a file changes: worked out first, for a preview as for a load, then published whole.

use std::time::Instant;

use crate::operator::apply::{MOST, Prepared, check, parse};
use crate::operator::error::OperatorError;
use crate::operator::file::SettingsFile;
use crate::operator::file::entry::{FileSetting, Target};
use crate::operator::file::error::{FileError, FileMistake};
use crate::operator::file::outcome::{Changes, Loaded, Row};
use crate::operator::file::parse::Parsed;
use crate::operator::setting::{Layer, Setting, SettingEnd};
use crate::operator::shown;
use crate::operator::target::Pattern;
use crate::registry::Inner;
use crate::registry::store::Store;
use crate::sync::MutexGuard;
use crate::timer::now;

/// How many targets that name no handler are compared with all that there are.
const MOST_NEAREST: usize = 100;

/// A setting of a file that has not ended, with what the operator knows of it.
type Candidate<'f> = (&'f FileSetting, Prepared);

impl Inner {
    /// What a file would change.
    pub(super) fn preview_file(&self, file: &SettingsFile) -> Result<Changes, FileError> {
        let (plan, _store) = self.plan(file)?;
        Ok(plan.changes)
    }

    /// Puts the settings of a file in the place of those of the file before.
    pub(super) fn load_file(&self, file: &SettingsFile) -> Result<Loaded, FileError> {
        let timer = &self.config.timer;
        let at = now(&**timer);
        let (plan, mut store) = self.plan(file)?;
        let Plan { changes, new } = plan;
        if changes.changes_nothing() {
            return Ok(Loaded { changes, begun: Vec::new() });
        }
        let (mut new, mut begun) = (new.into_iter(), Vec::new());
        let mut settings = Vec::new();
        for row in &changes.rows {
            match row {
                Row::Begins(_) => {
                    let Some(prepared) = new.next() else { continue };
                    let setting = prepared.setting(store.settings.next_id(), timer);
                    begun.push(setting.clone());
                    settings.push(setting);
                }
                Row::Stays(_, setting) => settings.push(setting.clone()),
                Row::Over(_) => {}
            }
        }
        let touched: Vec<_> = settings.iter().chain(&changes.ends).cloned().collect();
        store.settings.replace(Layer::File, settings, at);
        let points = store.points_matching(&touched.iter().collect::<Vec<_>>());
        let commit = self.publish_settings(&mut store, points.into_iter());
        drop(store);
        drop(commit);
        for setting in &changes.ends {
            shown::ended(setting, SettingEnd::LeftFile, self);
        }
        for setting in &begun {
            shown::began(setting, self);
        }
        Ok(Loaded { changes, begun })
    }

    /// Checks a file, and compares it with what holds. The lock is still held, so that what
    /// was checked is what is published.
    fn plan(&self, file: &SettingsFile) -> Result<(Plan, MutexGuard<'_, Store>), FileError> {
        self.end_settings();
        let Parsed { settings, targets, mistakes } = &file.parsed;
        let mut mistakes = mistakes.clone();
        let candidates = self.candidates(settings, &mut mistakes);
        let targets = patterns(targets, &mut mistakes);
        let store = self.store();
        let mut nameless = check_all(&candidates, &store, &mut mistakes);
        nameless.extend(targets.into_iter().filter(|(it, _)| store.matching(it).is_empty()));
        if mistakes.is_empty() && nameless.is_empty() {
            let plan = Plan::new(settings, candidates, &store);
            return Ok((plan, store));
        }
        // What was meant is worked out without the lock.
        let entries = store.entries();
        drop(store);
        for (number, (target, line)) in nameless.into_iter().enumerate() {
            let nearest = (number < MOST_NEAREST).then(|| target.nearest(&entries)).flatten();
            let error = OperatorError::NoMatch { target: target.to_string(), nearest };
            mistakes.push(FileMistake::of_target(line, error));
        }
        Err(FileError::of(file.name.as_deref(), mistakes))
    }

    /// The settings that have not ended, with all checked that needs no handler.
    fn candidates<'f>(
        &self,
        settings: &'f [FileSetting],
        mistakes: &mut Vec<FileMistake>,
    ) -> Vec<Candidate<'f>> {
        let at = now(&*self.config.timer);
        let mut seen: Vec<&FileSetting> = Vec::new();
        let mut candidates = Vec::new();
        for setting in settings.iter().filter(|setting| !setting.is_over()) {
            if seen.len() == MOST {
                mistakes.push(setting.refused(OperatorError::TooMany { most: MOST }));
                break;
            }
            if let Some(first) = seen.iter().find(|first| setting.is_same_thing(first)) {
                mistakes.push(setting.twice(first.line()));
            }
            seen.push(setting);
            match prepared(setting, at) {
                Ok(prepared) => candidates.push((setting, prepared)),
                // In between.
                Err(OperatorError::Ended) => {}
                Err(error) => mistakes.push(setting.refused(error)),
            }
        }
        candidates
    }
}

fn prepared(setting: &FileSetting, at: Instant) -> Result<Prepared, OperatorError> {
    let mut draft = setting.draft.clone();
    if setting.is_whole {
        return Prepared::new(draft, at);
    }
    // What could not be read may be the form that it lacks: only what is wrong with any
    // form is a mistake of its own.
    draft.break_glass = false;
    let mut prepared = Prepared::new(draft, at)?;
    prepared.draft.break_glass = true;
    Ok(prepared)
}

/// The targets that have to name handlers, with their lines. Each entry here has another
/// mistake, so that more of them would not be listed.
fn patterns(targets: &[Target], mistakes: &mut Vec<FileMistake>) -> Vec<(Pattern, usize)> {
    let mut patterns = Vec::new();
    for target in targets.iter().filter(|target| !target.may_name_none).take(MOST) {
        match parse(&target.text) {
            Ok(pattern) => patterns.push((pattern, target.line)),
            Err(error) => mistakes.push(FileMistake::of_target(target.line, error)),
        }
    }
    patterns
}

/// Checks the settings against the handlers that they name. Returned are the targets that
/// name none, with their lines.
fn check_all(
    candidates: &[Candidate<'_>],
    store: &Store,
    mistakes: &mut Vec<FileMistake>,
) -> Vec<(Pattern, usize)> {
    let others = store.settings.all().iter().filter(|setting| setting.layer() != Layer::File);
    if let Some((setting, _)) = candidates.get(MOST - others.count().min(MOST)) {
        mistakes.push(setting.refused(OperatorError::TooMany { most: MOST }));
    }
    let mut nameless = Vec::new();
    for (setting, prepared) in candidates {
        let matching = store.matching(&prepared.pattern);
        if !prepared.has_target(&matching) {
            nameless.push((prepared.pattern.clone(), setting.target_line));
        } else if let Err(error) = check(&prepared.draft, &matching) {
            mistakes.push(setting.refused(error));
        }
    }
    nameless
}

/// What a file changes, with the settings that begin.
struct Plan {
    changes: Changes,
    new: Vec<Prepared>,
}

impl Plan {
    fn new(settings: &[FileSetting], candidates: Vec<Candidate<'_>>, store: &Store) -> Self {
        let of_file = store.settings.all().iter().filter(|it| it.layer() == Layer::File);
        let mut old: Vec<(usize, &Setting)> = of_file.enumerate().collect();
        let (mut places, mut rows, mut new) = (Vec::new(), Vec::new(), Vec::new());
        let mut candidates = candidates.into_iter().peekable();
        for setting in settings {
            // One that is no candidate has ended: the time was looked at once.
            let is_next = |(next, _): &Candidate<'_>| std::ptr::eq(*next, setting);
            let Some((_, prepared)) = candidates.next_if(is_next) else {
                rows.push(Row::Over(setting.clone()));
                continue;
            };
            let same = old.iter().position(|(_, old)| setting.is(old));
            if let Some((place, stays)) = same.map(|same| old.remove(same)) {
                places.push(place);
                rows.push(Row::Stays(setting.clone(), stays.clone()));
            } else {
                rows.push(Row::Begins(setting.clone()));
                new.push(prepared);
            }
        }
        let ends = old.into_iter().map(|(_, setting)| setting.clone()).collect();
        let is_reordered = !places.is_sorted();
        Self { changes: Changes { rows, ends, is_reordered }, new }
    }
}
