//! Whether a handler is called, and whether what it decides counts.

use std::fmt;

/// Whether a handler is called, and whether what it decides has an effect.
///
/// ```
/// use hooks_runtime::operator::Mode;
///
/// assert_eq!(Mode::default(), Mode::Enforce);
/// assert_eq!(Mode::Shadow.as_str(), "shadow");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Mode {
    /// It is called, and what it decides counts.
    #[default]
    Enforce,
    /// It is not called.
    Disable,
    /// It is called with the real payload; what it decides is recorded and has no
    /// effect, and its failures do not either.
    Shadow,
    /// As `Shadow`, for guards; a rejection that had no effect is a warning in the
    /// report of the fire.
    Warn,
}

impl Mode {
    /// One word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Disable => "disable",
            Self::Shadow => "shadow",
            Self::Warn => "warn",
        }
    }

    /// Whether a handler is called without an effect.
    pub(crate) fn is_shadow(self) -> bool {
        matches!(self, Self::Shadow | Self::Warn)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
