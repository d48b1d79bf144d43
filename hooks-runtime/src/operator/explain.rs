//! Why a handler has the settings that it has.

use std::fmt;
use std::time::{Duration, Instant};

use crate::escape::escaped;
use crate::operator::check::Need;
use crate::operator::setting::{Aspect, Layer, Reason, Setting, SettingChange, SettingId};
use crate::operator::store::{SettingStore, Standing};
use crate::operator::target::address;
use crate::registry::RegistryConfig;
use crate::registry::entry::Entry;

/// Every setting of a handler: its value, the layer that it comes from, by whom and why.
///
/// It prints as a table.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { #[hook(timeout = "2s")] pub void Sent { to: String } }
/// use hooks_runtime::operator::Layer;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("count").plugin("stats").handler(|_: &SentPayload| ()))?;
/// let operator = hooks.operator();
/// operator.time_limit("sent:stats/*", Duration::from_millis(50)).by("ops").apply()?;
/// let explanation = operator.explain("sent:stats/count")?;
/// let limit = explanation.get("time_limit").unwrap();
/// assert_eq!((&*limit.value, limit.layer, limit.by.as_deref()), ("50ms", Layer::Live, Some("ops")));
/// assert_eq!(explanation.get("mode").unwrap().layer, Layer::Declaration);
/// assert!(explanation.to_string().starts_with("sent:stats/count\n  mode"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The handler, as `point:plugin/handler`.
    pub handler: String,
    /// Of each setting first the value that counts, then those that do not.
    pub values: Vec<Explained>,
}

/// One value of a setting, and where it comes from.
///
/// The example of [`Explanation`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explained {
    /// The setting: `mode`, `on_failure`, `time_limit`, `sample`, `rate_limit`, `breaker`
    /// or `forced_breaker`.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// Where it comes from.
    pub layer: Layer,
    /// Who set it.
    pub by: Option<String>,
    /// Why; of what is declared, where.
    pub why: Option<String>,
    /// How long it still holds, if it has an end.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "ends_in_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    pub ends_in: Option<Duration>,
    /// The setting of an operator that it comes from.
    pub id: Option<SettingId>,
    /// What that setting names.
    pub target: Option<String>,
    /// Whether that is a break-glass setting.
    pub break_glass: bool,
    /// Why it does not count, where it does not.
    pub without_effect: Option<String>,
}

/// All that can be set, in the order of the table.
const ASPECTS: [(Aspect, &str); 7] = [
    (Aspect::Mode, "mode"),
    (Aspect::OnFailure, "on_failure"),
    (Aspect::TimeLimit, "time_limit"),
    (Aspect::Sample, "sample"),
    (Aspect::RateLimit, "rate_limit"),
    (Aspect::Breaker, "breaker"),
    (Aspect::ForcedBreaker, "forced_breaker"),
];

impl Explanation {
    pub(crate) fn of(
        entry: &Entry,
        settings: &SettingStore,
        config: &RegistryConfig,
        now: Instant,
    ) -> Self {
        let named: Vec<_> =
            settings.naming(entry).filter(|(setting, _)| setting.holds_at(now)).collect();
        let mut values = Vec::new();
        for (aspect, name) in ASPECTS {
            // The last one counts.
            let mut counting: Option<SettingId> = None;
            for (setting, standing) in named.iter().rev() {
                let Some(value) = value(setting, aspect) else { continue };
                let without_effect = match standing {
                    Standing::Withheld(need) => Some(withheld(need)),
                    Standing::Applies if is_longer(setting, entry) => {
                        Some("its own is shorter".to_owned())
                    }
                    Standing::Applies => counting.map(|id| format!("{id} counts")),
                };
                if without_effect.is_none() {
                    counting = Some(setting.id());
                }
                values.push(Explained::set(name, value, setting, without_effect, now));
            }
            if let Some(mut own) = declared(aspect, name, entry, config) {
                own.without_effect = counting.map(|id| format!("{id} counts"));
                values.push(own);
            }
        }
        Self { handler: address(entry), values }
    }

    /// The value of a setting that counts.
    pub fn get(&self, setting: &str) -> Option<&Explained> {
        let mut values = self.values.iter();
        values.find(|value| value.setting == setting && value.without_effect.is_none())
    }
}

impl Explained {
    fn set(
        name: &'static str,
        value: String,
        setting: &Setting,
        without_effect: Option<String>,
        now: Instant,
    ) -> Self {
        Self {
            setting: name,
            value,
            layer: setting.layer(),
            by: setting.by().map(str::to_owned),
            why: setting.why().map(str::to_owned),
            // Not by `ends_in`, which asks the clock: this is under the registry's lock.
            ends_in: setting.ends().map(|ends| ends.saturating_duration_since(now)),
            id: Some(setting.id()),
            target: Some(setting.target().to_owned()),
            break_glass: setting.is_break_glass(),
            without_effect,
        }
    }
}

/// The value that a setting has for that.
fn value(setting: &Setting, aspect: Aspect) -> Option<String> {
    if aspect == Aspect::OnFailure && setting.fails_closed() {
        return Some("fail-closed".to_owned());
    }
    let change = setting.change();
    (change.aspect() == aspect).then(|| match change {
        SettingChange::Mode(mode) => mode.to_string(),
        SettingChange::TimeLimit(limit) => format!("{limit:?}"),
        SettingChange::OnFailure(policy) => policy.to_string(),
        SettingChange::Sample(part) => part.to_string(),
        SettingChange::RateLimit(rate) => rate.to_string(),
        SettingChange::Breaker(breaker) => breaker.to_string(),
        SettingChange::ForceBreaker(state) => state.to_string(),
    })
}

/// Whether it is a time limit that is longer than the handler's own.
fn is_longer(setting: &Setting, entry: &Entry) -> bool {
    match setting.change() {
        SettingChange::TimeLimit(limit) => entry.timeout.is_some_and(|own| own <= *limit),
        _ => false,
    }
}

fn withheld(need: &Need) -> String {
    match need {
        Need::Nothing => String::new(),
        Need::BreakGlass { effect, .. } => {
            format!("withheld: it would {effect}, and is no break-glass setting")
        }
        Need::Refused(error) => format!("withheld: {error}"),
    }
}

/// The value that the handler has without settings.
fn declared(
    aspect: Aspect,
    name: &'static str,
    entry: &Entry,
    config: &RegistryConfig,
) -> Option<Explained> {
    let point = entry.point;
    let (value, layer) = match aspect {
        Aspect::Mode => ("enforce".to_owned(), Layer::Declaration),
        Aspect::OnFailure if entry.policy == point.policy() => {
            (entry.policy.to_string(), Layer::Declaration)
        }
        Aspect::OnFailure => (entry.policy.to_string(), Layer::Handler),
        Aspect::TimeLimit => {
            let layer = match entry.timeout {
                limit if limit == point.time_limit() => Layer::Declaration,
                limit if point.time_limit().is_none() && limit == config.timeout => Layer::Registry,
                _ => Layer::Handler,
            };
            let limit = entry.timeout.map_or_else(|| "none".to_owned(), |it| format!("{it:?}"));
            (limit, layer)
        }
        _ => return None,
    };
    let why = match layer {
        Layer::Declaration if aspect == Aspect::Mode => None,
        Layer::Declaration => Some(format!("declared at {}", point.location())),
        Layer::Handler => Some(format!("registered at {}", entry.location)),
        _ => None,
    };
    Some(Explained {
        setting: name,
        value,
        layer,
        by: None,
        why,
        ends_in: None,
        id: None,
        target: None,
        break_glass: false,
        without_effect: None,
    })
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escaped(&self.handler))?;
        let widest = |text: &dyn Fn(&Explained) -> usize| self.values.iter().map(text).max();
        let setting = widest(&|value| value.setting.len()).unwrap_or(0);
        let value_width = widest(&|value| value.value.chars().count()).unwrap_or(0);
        for row in &self.values {
            let Explained { setting: name, value, layer, by, why, ends_in, id, .. } = row;
            write!(f, "\n  {name:setting$}  {value:value_width$}  {layer}")?;
            if let Some(id) = id {
                write!(f, " {id}")?;
            }
            if row.break_glass {
                f.write_str(" break-glass")?;
            }
            if let Some(target) = &row.target {
                write!(f, " {}", escaped(target))?;
            }
            write!(f, "{}", Reason { by: by.as_deref(), why: why.as_deref() })?;
            if let Some(left) = ends_in {
                write!(f, ", ends in {left:.0?}")?;
            }
            if let Some(because) = &row.without_effect {
                write!(f, " (without effect: {})", escaped(because))?;
            }
        }
        Ok(())
    }
}
