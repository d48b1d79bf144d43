//! What a host allows a plugin to register.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use crate::point::{ModelKind, PointDescriptor};
use crate::readable::readable_debug;

/// What a host allows one plugin to register. No limits by default.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// use hooks_runtime::plugin::Quota;
/// use hooks_runtime::point::ModelKind;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let guest = Quota::new()
///     .max_handlers(1)
///     .points(["saved"])
///     .without(ModelKind::Gating)
///     .priorities(0..=100);
/// hooks.set_quota("guest", guest)?;
/// let count = |priority| on::<Saved>().plugin("guest").priority(priority).handler(|_: &SavedPayload| ());
/// assert!(hooks.register(count(-1)).is_err());
/// hooks.register(count(0))?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "give it to `set_quota`"]
pub struct Quota {
    handlers: Option<usize>,
    points: Option<Vec<String>>,
    refused_models: Vec<ModelKind>,
    priorities: Option<RangeInclusive<i32>>,
}

impl Quota {
    /// No limit yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most this many handlers in all.
    pub fn max_handlers(mut self, count: usize) -> Self {
        self.handlers = Some(count);
        self
    }

    /// Only at the points of these wire names. A flow's name stands for all of
    /// its stages.
    pub fn points<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.points = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Not at points of this model: a host may reserve claiming or gating for
    /// itself.
    pub fn without(mut self, model: ModelKind) -> Self {
        self.refused_models.push(model);
        self
    }

    /// Only with a priority in this range, and without a constraint that leads
    /// out of it: none may put a handler before one of another owner with a
    /// lower priority than the range has, or after one with a higher.
    pub fn priorities(mut self, range: RangeInclusive<i32>) -> Self {
        self.priorities = Some(range);
        self
    }

    /// Whether nothing is limited.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn allowed_priorities(&self) -> Option<RangeInclusive<i32>> {
        self.priorities.clone()
    }

    /// Whether a handler may be registered, next to `others` of its plugin.
    pub(crate) fn check(
        &self,
        point: &PointDescriptor,
        priority: i32,
        others: usize,
    ) -> Result<(), Refusal> {
        if let Some(most) = self.handlers
            && others >= most
        {
            return Err(Refusal::TooMany { most });
        }
        // A plugin that may not use flows may not use their stages.
        let is_refused = |model: &&ModelKind| {
            **model == point.model() || (**model == ModelKind::Flow && point.stage().is_some())
        };
        if let Some(&model) = self.refused_models.iter().find(is_refused) {
            return Err(Refusal::Model { model });
        }
        if let Some(names) = &self.points
            && !names.iter().any(|name| name == point.name() || Some(&**name) == point.flow())
        {
            return Err(Refusal::Point { allowed: names.clone() });
        }
        match &self.priorities {
            Some(range) if !range.contains(&priority) => {
                Err(Refusal::Priority { lowest: *range.start(), highest: *range.end(), priority })
            }
            _ => Ok(()),
        }
    }
}

/// Which limit a registration would have broken.
///
/// ```
/// # use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};
/// # use hooks_runtime::plugin::{Quota, Refusal};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.set_quota("guest", Quota::new().max_handlers(0))?;
/// let count = on::<Saved>().plugin("guest").name("count").handler(|_: &SavedPayload| ());
/// let Err(RegisterError::Refused { refusal, .. }) = hooks.register(count) else { panic!() };
/// assert_eq!(refusal, Refusal::TooMany { most: 0 });
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The plugin has as many handlers as it may have.
    TooMany {
        /// How many that is.
        most: usize,
    },
    /// The plugin may not use points of this model.
    Model {
        /// The model.
        model: ModelKind,
    },
    /// The plugin may not use this point.
    Point {
        /// The points that it may use.
        allowed: Vec<String>,
    },
    /// The plugin may not use this priority.
    Priority {
        /// The lowest number it may use.
        lowest: i32,
        /// The highest.
        highest: i32,
        /// The one that it asked for.
        priority: i32,
    },
    /// A constraint would lead out of the priorities that the plugin may use.
    Constraint {
        /// The constraints of the handler.
        constraints: String,
        /// The lowest number the plugin may use.
        lowest: i32,
        /// The highest.
        highest: i32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { most: 1 } => f.write_str("it may have at most 1 handler"),
            Self::TooMany { most } => write!(f, "it may have at most {most} handlers"),
            Self::Model { model } => write!(f, "it may not use {model} points"),
            Self::Point { allowed } => {
                write!(f, "it may use only these points: {}", allowed.join(", "))
            }
            Self::Priority { lowest, highest, priority } => {
                write!(f, "priority {priority} is not between {lowest} and {highest}")
            }
            Self::Constraint { constraints, lowest, highest } => write!(
                f,
                "{constraints} would put it past handlers of others whose priority is not between \
                 {lowest} and {highest}"
            ),
        }
    }
}

impl Error for Refusal {}

readable_debug! {
    enum Refusal {
        TooMany { most },
        Model { model },
        Point { allowed },
        Priority { lowest, highest, priority },
        Constraint { constraints, lowest, highest },
    }
}
