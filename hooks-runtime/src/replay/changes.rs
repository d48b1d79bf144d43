//! What a replay is to do otherwise than the registry.

use super::error::ReplayError;
use crate::operator::OperatorError;
use crate::operator::target::Pattern;
use crate::registry::HookRegistry;
use crate::registry::entry::Entry;

/// The changes of a replay, as they were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    pub(super) without: Vec<String>,
    pub(super) tighten: Vec<String>,
    pub(super) lift: Vec<String>,
    pub(super) call: Vec<String>,
}

/// The changes, with their targets read.
pub(super) struct Checked {
    without: Vec<Pattern>,
    call: Vec<Pattern>,
    tighten: Vec<String>,
    lift: Vec<String>,
}

impl Changes {
    /// Checks that each names handlers that are there.
    pub(super) fn checked(
        &self,
        entries: &[std::sync::Arc<Entry>],
    ) -> Result<Checked, ReplayError> {
        let check = |targets: &[String], whole: fn(&str) -> String| {
            targets.iter().map(|target| named(target, &whole(target), entries)).collect()
        };
        let texts = |patterns: Vec<Pattern>| patterns.iter().map(ToString::to_string).collect();
        let tighten: Result<Vec<_>, ReplayError> = check(&self.tighten, of_handler);
        let lift: Result<Vec<_>, ReplayError> = check(&self.lift, of_handler);
        Ok(Checked {
            without: check(&self.without, of_plugin)?,
            call: check(&self.call, of_handler)?,
            tighten: texts(tighten?),
            lift: texts(lift?),
        })
    }
}

/// The target of all handlers of a plugin, where only its id was given.
fn of_plugin(target: &str) -> String {
    if target.contains(':') || target.contains('/') {
        of_handler(target)
    } else {
        format!("*:{target}/*")
    }
}

/// The target of a handler at all points, where no point was given.
fn of_handler(target: &str) -> String {
    if target.contains(':') { target.to_owned() } else { format!("*:{target}") }
}

/// The handlers that were named. Errors have the target as it was `given`, and what was likely
/// meant in the same form.
fn named(
    given: &str,
    whole: &str,
    entries: &[std::sync::Arc<Entry>],
) -> Result<Pattern, ReplayError> {
    let target = given.to_owned();
    let pattern = match Pattern::parse(whole) {
        Ok(pattern) => pattern,
        Err(problem) => return Err(OperatorError::BadTarget { target, problem }.into()),
    };
    if entries.iter().any(|entry| pattern.matches(entry)) {
        return Ok(pattern);
    }
    let (front, back) = whole.split_once(given).unwrap_or_default();
    let nearest = pattern.nearest(entries).map(|nearest| {
        let short = nearest.strip_prefix(front).and_then(|rest| rest.strip_suffix(back));
        short.map_or(nearest.clone(), str::to_owned)
    });
    Err(OperatorError::NoMatch { target, nearest }.into())
}

impl Checked {
    /// Whether a handler is left out.
    pub(super) fn leaves_out(&self, entry: &Entry) -> bool {
        self.without.iter().any(|pattern| pattern.matches(entry))
    }

    /// Whether a handler is called, whatever it does.
    pub(super) fn calls(&self, entry: &Entry) -> bool {
        self.call.iter().any(|pattern| pattern.matches(entry))
    }

    /// Sets for the handlers of a copy what is to be otherwise.
    pub(super) fn set(&self, copy: &HookRegistry) -> Result<(), ReplayError> {
        let operator = copy.operator();
        let tighten = self.tighten.iter().map(|target| operator.fail_closed(target));
        let lift = self.lift.iter().map(|target| operator.enforce(target));
        for setting in tighten.chain(lift) {
            match setting.by("replay").apply() {
                // They are there, but not in this copy.
                Ok(_) | Err(OperatorError::NoMatch { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
