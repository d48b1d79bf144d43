//! The checked name of a plugin.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::escape::{excerpt, is_plain};
use crate::readable::readable_debug;
use crate::registry::order::Wanted;

/// The longest plugin id, in bytes.
const MAX_PLUGIN_ID: usize = 64;

/// The id of a plugin: 1 to 64 ASCII letters, digits, `-`, `_` or `.`.
///
/// It starts and ends with a letter or digit, has no `..`, and does not look
/// like `built-in`, so it is safe in logs and file names and no plugin can pass
/// for the host.
///
/// ```
/// use hooks_runtime::PluginId;
///
/// let id = PluginId::new("audit.v2")?;
/// assert_eq!((id.as_str(), id.to_string()), ("audit.v2", "audit.v2".to_owned()));
/// # Ok::<_, hooks_runtime::plugin::PluginIdError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginId(Arc<str>);

impl PluginId {
    /// Checks `id`.
    pub fn new(id: &str) -> Result<Self, PluginIdError> {
        let problem = if id.is_empty() {
            Some("it is empty")
        } else if id.len() > MAX_PLUGIN_ID {
            Some("it is longer than 64 bytes")
        } else if !id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        {
            Some("it has a character that is not allowed")
        } else if !starts_and_ends_plainly(id) {
            Some("it starts or ends with a separator")
        } else if id.contains("..") {
            Some("it contains `..`")
        } else if looks_built_in(id) {
            Some("it reads like `built-in`, which is reserved for the host")
        } else {
            None
        };
        match problem {
            None => Ok(Self(id.into())),
            Some(problem) => Err(PluginIdError { id: excerpt(id), problem }),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn starts_and_ends_plainly(id: &str) -> bool {
    let plain = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
    plain(id.bytes().next()) && plain(id.bytes().last())
}

/// Folds letters that look alike before comparing.
fn looks_built_in(id: &str) -> bool {
    let folded: String = id
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|b| match b.to_ascii_lowercase() {
            b'1' | b'l' | b'i' => 'i',
            b'8' | b'b' => 'b',
            b'7' | b't' => 't',
            b'u' | b'v' => 'u',
            other => char::from(other),
        })
        .collect();
    folded == "buiitin"
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PluginId({})", self.0)
    }
}

impl AsRef<str> for PluginId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Hashes and compares like its text.
impl Borrow<str> for PluginId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl TryFrom<&str> for PluginId {
    type Error = PluginIdError;

    fn try_from(id: &str) -> Result<Self, PluginIdError> {
        Self::new(id)
    }
}

/// A text that cannot be a plugin id.
///
/// ```
/// use hooks_runtime::PluginId;
///
/// let error = PluginId::new("built-in").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`built-in` cannot be a plugin id: it reads like `built-in`, which is reserved for the host; \
///      an id is 1 to 64 ASCII letters, digits, `-`, `_` or `.`, and starts and ends with a letter \
///      or digit",
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "`{id}` cannot be a plugin id: {problem}; an id is 1 to 64 ASCII letters, digits, `-`, `_` or \
     `.`, and starts and ends with a letter or digit"
)]
pub struct PluginIdError {
    id: String,
    problem: &'static str,
}

readable_debug! { struct PluginIdError { id, problem } }

/// A text that cannot be used, shortened and escaped, and what is wrong with it.
pub(crate) type BadText = (String, &'static str);

/// The longest name, in bytes.
const MAX_NAME: usize = 200;

/// A handler's name, checked: printable, at most 200 bytes, and without what
/// has a meaning in constraints.
pub(crate) fn check_handler_name(name: &str) -> Result<(), BadText> {
    check_text(name)?;
    // A name that reads like a place in the source is always matched whole.
    if !matches!(Wanted::parse(name), Wanted::Name(_)) {
        Err((excerpt(name), "it contains `/`, which stands between a plugin and its handler"))
    } else if name == "*" {
        Err((excerpt(name), "`*` stands for all handlers of a plugin"))
    } else {
        Ok(())
    }
}

/// What `before` and `after` name, checked: a handler's name, with or without
/// its plugin's id before it.
pub(crate) fn check_constraint(text: &str) -> Result<(), BadText> {
    let (plugin, handler) = match Wanted::parse(text) {
        Wanted::Of(plugin, handler) => (plugin, handler),
        Wanted::All(plugin) => (plugin, plugin),
        Wanted::Name(name) => return check_handler_name(name),
    };
    let parts = check_text(plugin).and_then(|()| check_text(handler));
    parts.map_err(|(_, problem)| (excerpt(text), problem))
}

/// The name of a target, checked as that of a handler, except that it may be a
/// path.
pub(crate) fn check_target_name(name: &str) -> Result<(), BadText> {
    check_text(name)
}

fn check_text(text: &str) -> Result<(), BadText> {
    let problem = if text.is_empty() {
        "it is empty"
    } else if text.len() > MAX_NAME {
        "it is longer than 200 bytes"
    } else if text.trim() != text {
        "it starts or ends with white space"
    } else if !text.chars().all(is_plain) {
        "it has control or invisible characters"
    } else {
        return Ok(());
    };
    Err((excerpt(text), problem))
}

#[cfg(test)]
mod tests {
    use super::PluginId;

    #[test]
    fn l16_ids_that_pass_for_the_host_are_refused() {
        for id in ["built-in", "BuiltIn", "bui1t_in", "built.in", "BUlLT-lN", "8ui1t-in"] {
            assert!(PluginId::new(id).is_err(), "{id}");
        }
        for id in ["builtin-tools", "calendar", "a", "x.y-z_0"] {
            assert!(PluginId::new(id).is_ok(), "{id}");
        }
    }
}
