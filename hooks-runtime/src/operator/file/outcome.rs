//! What a file changed, or would change.

use std::fmt;

use crate::operator::file::entry::FileSetting;
use crate::operator::setting::Setting;

/// What a file comes to, compared with the settings of the file before.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    /// In the order of the file.
    pub(super) rows: Vec<Row>,
    /// What the file has no longer.
    pub(super) ends: Vec<Setting>,
    /// Whether those that stay count in another order among themselves.
    pub(super) is_reordered: bool,
}

/// What becomes of a setting in the file.
#[derive(Clone, Debug)]
pub(super) enum Row {
    Begins(FileSetting),
    Stays(FileSetting, Setting),
    /// Its time has passed.
    Over(FileSetting),
}

impl Changes {
    pub(super) fn changes_nothing(&self) -> bool {
        let begins = self.rows.iter().any(|row| matches!(row, Row::Begins(_)));
        !begins && self.ends.is_empty() && !self.is_reordered
    }

    fn begins(&self) -> impl Iterator<Item = &FileSetting> {
        self.rows.iter().filter_map(|row| match row {
            Row::Begins(setting) => Some(setting),
            _ => None,
        })
    }

    fn stays(&self) -> impl Iterator<Item = &Setting> {
        self.rows.iter().filter_map(|row| match row {
            Row::Stays(_, setting) => Some(setting),
            _ => None,
        })
    }

    fn over(&self) -> impl Iterator<Item = &FileSetting> {
        self.rows.iter().filter_map(|row| match row {
            Row::Over(setting) => Some(setting),
            _ => None,
        })
    }
}

/// A line for each setting: `+` begins, `=` stays, `x` has ended already, `-` ends; `~` is a
/// change of order.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter().map(|row| match row {
            Row::Begins(setting) => format!("+ {setting}"),
            Row::Stays(setting, _) => format!("= {setting}"),
            Row::Over(setting) => format!("x {setting}, which has passed"),
        });
        let order =
            self.is_reordered.then(|| "~ those that stay count in another order".to_owned());
        let ends = self.ends.iter().map(|setting| format!("- {setting}"));
        let mut lines = rows.chain(ends).chain(order).peekable();
        if lines.peek().is_none() {
            return f.write_str("no settings");
        }
        for (number, line) in lines.enumerate() {
            let between = if number == 0 { "" } else { "\n" };
            write!(f, "{between}{line}")?;
        }
        Ok(())
    }
}

/// What a [load](crate::operator::Operator::load) of a file would change.
///
/// It prints a line for each setting: `+` would begin, `=` stays as it is, `x` has ended
/// already, `-` would end, because the file has it no longer, and `~` says that settings
/// which stay would count in another order.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::{Preview, SettingsFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let operator = hooks.operator();
/// let slow = "[[setting]]\ntarget = 'sent:notify'\ntime_limit = '50ms'\n";
/// operator.load(&SettingsFile::parse(slow))?;
/// let rare = "[[setting]]\ntarget = 'sent:notify'\nsample = 0.1\nby = 'ops'\n";
/// let preview: Preview = operator.preview(&SettingsFile::parse(rare))?;
/// assert_eq!(
///     preview.to_string(),
///     "+ line 3: sample 10 % sent:notify by ops\n- time limit 50ms sent:notify",
/// );
/// assert!(!preview.changes_nothing() && !preview.is_reordered());
/// let lists = (preview.begins().count(), preview.stays().count(), preview.ends().count());
/// assert_eq!((lists, preview.over().count()), ((1, 0, 1), 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Preview(pub(super) Changes);

impl Preview {
    /// What would begin, in the order of the file.
    pub fn begins(&self) -> impl Iterator<Item = &FileSetting> {
        self.0.begins()
    }

    /// What stays as it is, with all that it has counted.
    pub fn stays(&self) -> impl Iterator<Item = &Setting> {
        self.0.stays()
    }

    /// What would end, because the file has it no longer.
    pub fn ends(&self) -> impl Iterator<Item = &Setting> {
        self.0.ends.iter()
    }

    /// What is in the file and has ended already.
    pub fn over(&self) -> impl Iterator<Item = &FileSetting> {
        self.0.over()
    }

    /// Whether settings that stay would count in another order.
    pub fn is_reordered(&self) -> bool {
        self.0.is_reordered
    }

    /// Whether a load would change nothing.
    pub fn changes_nothing(&self) -> bool {
        self.0.changes_nothing()
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a [load](crate::operator::Operator::load) of a file has changed.
///
/// It prints as its [`Preview`] did.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::{Layer, Loaded, SettingsFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let operator = hooks.operator();
/// let file = SettingsFile::parse("[[setting]]\ntarget = 'sent:notify'\nmode = 'disable'\n");
/// let loaded: Loaded = operator.load(&file)?;
/// assert_eq!(loaded.to_string(), "+ line 3: disable sent:notify");
/// assert_eq!(loaded.begins().next().unwrap().layer(), Layer::File);
///
/// let again = operator.load(&file)?;
/// assert!(again.changes_nothing() && !again.is_reordered());
/// assert_eq!(again.stays().next(), loaded.begins().next()); // the same setting
/// assert_eq!((again.ends().count(), again.over().count()), (0, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Loaded {
    pub(super) changes: Changes,
    pub(super) begun: Vec<Setting>,
}

impl Loaded {
    /// What begins, in the order of the file.
    pub fn begins(&self) -> impl Iterator<Item = &Setting> {
        self.begun.iter()
    }

    /// What stays as it was, with all that it has counted.
    pub fn stays(&self) -> impl Iterator<Item = &Setting> {
        self.changes.stays()
    }

    /// What has ended, because the file has it no longer.
    pub fn ends(&self) -> impl Iterator<Item = &Setting> {
        self.changes.ends.iter()
    }

    /// What is in the file and had ended already.
    pub fn over(&self) -> impl Iterator<Item = &FileSetting> {
        self.changes.over()
    }

    /// Whether settings that stay count in another order now.
    pub fn is_reordered(&self) -> bool {
        self.changes.is_reordered
    }

    /// Whether nothing was changed.
    pub fn changes_nothing(&self) -> bool {
        self.changes.changes_nothing()
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.fmt(f)
    }
}
