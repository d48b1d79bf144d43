//! The lines of an operator's settings and of circuit breakers.

use serde::{Deserialize, Serialize};

use crate::operator::{BreakerState, Layer, SettingEnd};

/// A setting of an operator began or ended. The `generation` of the line is the first with
/// that change.
///
/// The example of [`RecordedSetting`] has a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SettingLine {
    /// What happened to it.
    pub change: SettingChanged,
    /// The setting.
    pub setting: RecordedSetting,
}

/// What happened to a setting.
///
/// ```
/// use hooks_runtime::operator::SettingEnd;
/// use hooks_runtime::record::SettingChanged;
///
/// let cleared = SettingChanged::Ended { end: SettingEnd::Cleared };
/// assert_ne!(cleared, SettingChanged::Began);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SettingChanged {
    /// It began to hold.
    Began,
    /// It has ended.
    Ended {
        /// How.
        end: SettingEnd,
    },
    /// It does not apply to this handler, which came later.
    Withheld {
        /// The handler, as an operator names it.
        handler: String,
    },
}

/// A setting of an operator, as it was recorded.
///
/// ```
/// use hooks_runtime::record::RecordedSetting;
///
/// let text = r#"{"id":3,"target":"send:spam","setting":"shadow","value":"shadow","fail_closed":false,
///     "by":"ops","why":"try it","ends_in_ns":null,"layer":"live","break_glass":true}"#;
/// # let read = |text| -> RecordedSetting {
/// #     let text = format!(r#"{{"v":1,"run":"","seq":0,"generation":0,"at_ns":0,"kind":"setting","change":{{"kind":"began"}},"setting":{text}}}"#);
/// #     let hooks_runtime::record::LineKind::Setting(line) = hooks_runtime::record::Line::parse(&text).unwrap().kind else { panic!() };
/// #     line.setting
/// # };
/// let setting = read(text);
/// assert_eq!((setting.id, &*setting.setting, setting.by.as_deref()), (3, "shadow", Some("ops")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecordedSetting {
    /// Its number.
    pub id: u64,
    /// Which handlers it is for.
    pub target: String,
    /// The method of the operator that makes it: `shadow`, `time_limit`, …
    pub setting: String,
    /// What it sets, in a few words.
    pub value: String,
    /// Whether its handlers fail closed with it.
    pub fail_closed: bool,
    /// Who set it.
    pub by: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// How long it was still to hold when the line was made.
    pub ends_in_ns: Option<u64>,
    /// Where it comes from.
    pub layer: Layer,
    /// Whether it is of the break-glass form.
    pub break_glass: bool,
}

/// The circuit breaker of a handler has changed.
///
/// ```
/// use hooks_runtime::operator::BreakerState;
/// use hooks_runtime::record::{Line, LineKind};
///
/// let text = r#"{"v":1,"run":"r1","seq":7,"generation":2,"at_ns":5,"kind":"breaker","handler":"send:spam","from":"closed","to":"open","shadow":false}"#;
/// let LineKind::Breaker(breaker) = Line::parse(text).unwrap().kind else { panic!("a breaker") };
/// assert_eq!((&*breaker.handler, breaker.to), ("send:spam", BreakerState::Open));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BreakerLine {
    /// The handler, as an operator names it.
    pub handler: String,
    /// The state before.
    pub from: BreakerState,
    /// The state after.
    pub to: BreakerState,
    /// Whether it only counts.
    pub shadow: bool,
}
