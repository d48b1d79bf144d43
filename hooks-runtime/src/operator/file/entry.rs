//! One entry of a file: a target, what is set for it, and by whom, why and until when.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use toml::de::DeTable;

use crate::escape::escaped;
use crate::operator::error::OperatorError;
use crate::operator::file::error::FileMistake;
use crate::operator::file::parse::Parsed;
use crate::operator::file::problem::FileProblem;
use crate::operator::file::source::{Mistakes, Source};
use crate::operator::file::value::fields;
use crate::operator::setting::{Draft, End, Layer, Reason, Setting, SettingChange};
use crate::point::FailurePolicy;

/// What an entry can set.
const THINGS: &[&str] =
    &["mode", "time_limit", "on_failure", "sample", "rate_limit", "breaker", "force_breaker"];

/// All that can stand in an entry.
const KEYS: &[&str] = &[
    "target",
    "mode",
    "time_limit",
    "on_failure",
    "sample",
    "rate_limit",
    "breaker",
    "force_breaker",
    "by",
    "why",
    "until",
    "fail_closed",
    "break_glass",
    "even_if_none",
];

/// One setting of a file: an entry has one for each thing that it sets.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::{FileSetting, Mode, SettingChange, SettingsFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let text = "[[setting]]\ntarget = 'sent:notify'\nmode = 'disable'\nby = 'ops'\n";
/// let preview = hooks.operator().preview(&SettingsFile::parse(text))?;
/// let begins: Vec<&FileSetting> = preview.begins().collect();
/// assert_eq!((begins[0].line(), begins[0].target()), (3, "sent:notify"));
/// assert_eq!(begins[0].change(), &SettingChange::Mode(Mode::Disable));
/// assert_eq!((begins[0].by(), begins[0].why(), begins[0].until()), (Some("ops"), None, None));
/// assert!(!begins[0].fails_closed() && !begins[0].is_break_glass());
/// assert_eq!(begins[0].to_string(), "line 3: disable sent:notify by ops");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct FileSetting {
    pub(super) draft: Draft,
    /// The key of what it sets, with its line.
    thing: (&'static str, usize),
    pub(super) target_line: usize,
    fail_closed_line: Option<usize>,
    break_glass_line: Option<usize>,
    /// With the text of its end.
    until: Option<(usize, String)>,
    /// Whether all of its entry could be read.
    pub(super) is_whole: bool,
}

impl FileSetting {
    /// The line of the key that sets it.
    pub fn line(&self) -> usize {
        self.thing.1
    }

    /// Which handlers it is for.
    pub fn target(&self) -> &str {
        &self.draft.target
    }

    /// What it changes.
    pub fn change(&self) -> &SettingChange {
        &self.draft.change
    }

    /// Whether it makes its handlers fail closed as well.
    pub fn fails_closed(&self) -> bool {
        self.draft.fails_closed
    }

    /// Who set it.
    pub fn by(&self) -> Option<&str> {
        self.draft.by.as_deref()
    }

    /// Why it is set.
    pub fn why(&self) -> Option<&str> {
        self.draft.why.as_deref()
    }

    /// When it ends, if it does.
    pub fn until(&self) -> Option<SystemTime> {
        match self.draft.end {
            Some(End::At(at)) => Some(at),
            _ => None,
        }
    }

    /// Whether it loosens what is declared, in the form that says so.
    pub fn is_break_glass(&self) -> bool {
        self.draft.break_glass
    }

    /// Whether its time has passed.
    pub(super) fn is_over(&self) -> bool {
        self.draft.end.is_some_and(|end| end.time_left().is_none())
    }

    /// Whether it is what holds already.
    pub(super) fn is(&self, setting: &Setting) -> bool {
        let Draft { target, change, fails_closed, by, why, end, break_glass, .. } = &self.draft;
        setting.target() == target
            && setting.change() == change
            && setting.fails_closed() == *fails_closed
            && setting.by() == by.as_deref()
            && setting.why() == why.as_deref()
            && setting.end() == *end
            && setting.is_break_glass() == *break_glass
    }

    /// The same thing for the same target.
    pub(super) fn is_same_thing(&self, other: &Self) -> bool {
        self.target() == other.target() && self.change().aspect() == other.change().aspect()
    }

    /// The mistake of a setting that the operator refuses: the key that is to be changed.
    pub(super) fn refused(&self, error: OperatorError) -> FileMistake {
        let of_thing = || (self.thing.0, self.line());
        let (key, line) = match &error {
            OperatorError::BadTarget { .. } | OperatorError::NoMatch { .. } => {
                ("target", self.target_line)
            }
            OperatorError::TooFar | OperatorError::Ended => {
                self.until.as_ref().map_or_else(of_thing, |(line, _)| ("until", *line))
            }
            OperatorError::NoReason | OperatorError::NoEnd => {
                self.break_glass_line.map_or_else(of_thing, |line| ("break_glass", line))
            }
            OperatorError::Fixed { .. }
                if *self.change() != SettingChange::OnFailure(FailurePolicy::Closed) =>
            {
                self.fail_closed_line.map_or_else(of_thing, |line| ("fail_closed", line))
            }
            _ => of_thing(),
        };
        FileMistake { line, key: Some(key.to_owned()), problem: FileProblem::Refused(error) }
    }

    /// It is set before, in that line.
    pub(super) fn twice(&self, first: usize) -> FileMistake {
        let (key, line) = (Some(self.thing.0.to_owned()), self.line());
        FileMistake { line, key, problem: FileProblem::Twice { first } }
    }
}

/// As `line 3: disable sent:notify by ops, until 2027-01-31T18:00:00Z`.
impl fmt::Display for FileSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let glass = if self.is_break_glass() { "break-glass " } else { "" };
        let closed = if self.fails_closed() { ", fail-closed" } else { "" };
        let (line, change, target) = (self.line(), self.change(), escaped(self.target()));
        write!(f, "line {line}: {glass}{change}{closed} {target}")?;
        write!(f, "{}", Reason { by: self.by(), why: self.why() })?;
        match &self.until {
            Some((_, until)) => write!(f, ", until {until}"),
            None => Ok(()),
        }
    }
}

/// The target of an entry.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) may_name_none: bool,
}

/// Reads the entry in these lines.
pub(super) fn read<'s>(
    table: &'s DeTable<'s>,
    lines: &Range<usize>,
    source: &'s Source,
    parsed: &mut Parsed,
    mistakes: &mut Mistakes,
) {
    let (before, is_toml) = (mistakes.all.len(), !mistakes.is_unreadable(lines));
    let (mut target, mut things) = (None, Vec::new());
    let (mut by, mut why, mut until) = (None, None, None);
    let (mut fail_closed, mut break_glass, mut even_if_none) = (None, None, false);
    let all = fields(table, None, source);
    for field in &all {
        let line = field.line;
        match field.name {
            "target" => target = field.text(mistakes).map(|text| (text.to_owned(), line)),
            "by" => by = field.words(mistakes).map(Arc::from),
            "why" => why = field.words(mistakes).map(Arc::from),
            "until" => until = field.end(mistakes).map(|(end, text)| (end, line, text)),
            "fail_closed" => fail_closed = field.truth(mistakes).filter(|it| *it).map(|_| line),
            "break_glass" => break_glass = field.truth(mistakes).filter(|it| *it).map(|_| line),
            "even_if_none" => even_if_none = field.truth(mistakes).unwrap_or(false),
            name => match THINGS.iter().find(|thing| **thing == name) {
                Some(thing) => {
                    things.extend(field.change(mistakes).map(|change| (*thing, line, change)));
                }
                None => field.unknown(KEYS, mistakes),
            },
        }
    }
    let has = |keys: &[&str]| all.iter().any(|field| keys.contains(&field.name));
    // What is missing may be a line that could not be read, or a key that is misspelt.
    let is_all_known = is_toml && all.iter().all(|field| KEYS.contains(&field.name));
    if is_all_known && !has(&["target"]) {
        let expected = "an entry says for which handlers it is, as \
                        `target = \"placed:mail/confirm\"`";
        let problem = FileProblem::Missing { key: "target", expected };
        mistakes.add(lines.start, None, problem);
    }
    if is_all_known && !has(THINGS) {
        mistakes.add(lines.start, None, FileProblem::SetsNothing { known: THINGS });
    }
    let is_whole = is_toml && mistakes.all.len() == before;
    let Some((target, target_line)) = target else { return };
    if things.is_empty() {
        let target = Target { text: target, line: target_line, may_name_none: even_if_none };
        return parsed.targets.push(target);
    }
    let setting = |(key, line, change)| FileSetting {
        draft: Draft {
            target: target.clone(),
            change,
            fails_closed: fail_closed.is_some(),
            by: by.clone(),
            why: why.clone(),
            end: until.as_ref().map(|(end, ..)| *end),
            layer: Layer::File,
            break_glass: break_glass.is_some(),
            may_name_none: even_if_none,
        },
        thing: (key, line),
        target_line,
        fail_closed_line: fail_closed,
        break_glass_line: break_glass,
        until: until.as_ref().map(|(_, line, text)| (*line, text.clone())),
        is_whole,
    };
    parsed.settings.extend(things.into_iter().map(setting));
}
