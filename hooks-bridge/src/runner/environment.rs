//! The variables that a command sees.

use std::ffi::{OsStr, OsString};

/// Which variables of the host's own environment commands see.
///
/// Nothing else is passed on: keys and tokens in the host's environment stay there. The
/// variables of the dialect, and those that an entry sets, are added by the bridge.
///
/// ```
/// use hooks_bridge::runner::Environment;
///
/// let environment = Environment::default().allow("CARGO_HOME");
/// let variables = environment.variables([("CLAUDE_PROJECT_DIR".into(), "/srv/shop".into())]);
/// assert!(variables.iter().any(|(name, _)| name == "PATH"));
/// assert_eq!(variables.last().unwrap().1, "/srv/shop");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    names: Vec<OsString>,
}

/// What programs need to run as they do in a terminal, and nothing that is secret.
const USUAL: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TMPDIR",
    "TZ",
    "XDG_CONFIG_HOME",
];

impl Default for Environment {
    fn default() -> Self {
        Self { names: USUAL.map(OsString::from).to_vec() }
    }
}

impl Environment {
    /// Passes on no variable at all.
    ///
    /// ```
    /// use hooks_bridge::runner::Environment;
    ///
    /// assert!(Environment::empty().variables([]).is_empty());
    /// ```
    pub const fn empty() -> Self {
        Self { names: Vec::new() }
    }

    /// Passes on this variable too, where it is set.
    ///
    /// The example of [`Environment`] allows one.
    #[must_use]
    pub fn allow(mut self, name: impl Into<OsString>) -> Self {
        self.names.push(name.into());
        self
    }

    /// What a command sees: the allowed variables that are set, and `more`, which win.
    ///
    /// The example of [`Environment`] has them.
    pub fn variables(
        &self,
        more: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let more: Vec<_> = more.into_iter().collect();
        let added = |name: &OsStr| more.iter().any(|(other, _)| other == name);
        let passed = self.names.iter().filter(|name| !added(name));
        let mut all: Vec<_> =
            passed.filter_map(|name| Some((name.clone(), std::env::var_os(name)?))).collect();
        all.extend(more);
        all
    }
}
