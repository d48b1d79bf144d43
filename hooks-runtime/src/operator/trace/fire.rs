//! One fire that was traced.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::escape::escaped;
use crate::observe::ObservedFire;
use crate::point::ModelKind;
use crate::report::{Contribution, FireReport, HandlerStatus};

/// One fire that was traced.
///
/// ```
/// # use std::time::SystemTime;
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::point::ModelKind;
/// # hook_points! { pub claiming Route(u32) -> u32; }
/// use hooks_runtime::operator::{TraceFilter, TraceLimit};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let mut trace = hooks.operator().trace(TraceFilter::at::<Route>(), TraceLimit::count(1))?;
/// hooks.fire_claiming::<Route>(&7).await?;
/// let fire = trace.next().await.unwrap();
/// assert_eq!((fire.point(), fire.model(), fire.outcome()), ("route", ModelKind::Claiming, "unclaimed"));
/// assert_eq!((fire.depth(), fire.parent(), fire.run(), fire.error()), (0, None, None, None));
/// assert!(fire.report().handlers().is_empty());
/// assert!(fire.at() <= SystemTime::now() && fire.took().as_secs() < 60 && fire.id() > 0);
/// assert_eq!(fire.payload(), None); // neither `show` nor `capture` asked for it
/// # Ok(()) }
/// ```
///
/// With the feature `serde` it serialises: times in nanoseconds, `at` since the Unix epoch.
#[derive(Clone, Debug)]
pub struct TracedFire(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    fire: ObservedFire,
    outcome: &'static str,
    error: Option<String>,
    at: SystemTime,
    took: Duration,
    payload: Option<TracedPayload>,
    report: Arc<FireReport>,
}

/// The payload of a fire, as text that was made when the fire began.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Typed { text: String } }
/// use hooks_runtime::operator::{TraceFilter, TraceLimit, TracedPayload};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let typed = TraceFilter::at::<Typed>().show(|it: &TypedPayload| it.text.clone()).payload_bytes(5);
/// let mut trace = hooks.operator().trace(typed, TraceLimit::count(1))?;
/// hooks.fire_void::<Typed>(&TypedPayload { text: "hello world".into() }).await?;
/// let fire = trace.next().await.unwrap();
/// let payload: &TracedPayload = fire.payload().unwrap();
/// assert_eq!(payload, &TracedPayload::Shown { text: "hello".into(), left_out: 6 });
/// assert_eq!(payload.text(), Some("hello"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum TracedPayload {
    /// The text, up to as many bytes as the filter allows.
    Shown {
        /// The text.
        text: String,
        /// How many bytes were left out at its end.
        left_out: usize,
    },
    /// It could not be made into text.
    Failed {
        /// Why, up to as many bytes as the filter allows.
        problem: String,
    },
}

impl TracedPayload {
    /// The text, or why there is none, up to that many bytes, and whole characters.
    pub(super) fn new(text: Result<String, String>, bytes: usize) -> Self {
        let cut = |mut text: String| {
            text.truncate(text.floor_char_boundary(bytes));
            // Else what is left out is kept all the same.
            text.shrink_to_fit();
            text
        };
        match text {
            Ok(all) => {
                let len = all.len();
                let text = cut(all);
                Self::Shown { left_out: len - text.len(), text }
            }
            Err(problem) => Self::Failed { problem: cut(problem) },
        }
    }

    /// The text, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Shown { text, .. } => Some(text),
            Self::Failed { .. } => None,
        }
    }
}

/// How a fire that was traced has ended.
pub(crate) struct Ended {
    pub(crate) outcome: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) at: SystemTime,
    pub(crate) took: Duration,
    pub(crate) report: Arc<FireReport>,
}

impl TracedFire {
    pub(super) fn new(fire: ObservedFire, ended: &Ended, payload: Option<TracedPayload>) -> Self {
        let Ended { outcome, error, at, took, report } = ended;
        let (error, report) = (error.clone(), Arc::clone(report));
        Self(Arc::new(Parts { fire, outcome, error, at: *at, took: *took, payload, report }))
    }

    /// The number of the fire: no other fire or call of this process has it.
    pub fn id(&self) -> u64 {
        self.0.fire.id()
    }

    /// Of a stage, the number of the flow's run that it is part of.
    pub fn run(&self) -> Option<u64> {
        self.0.fire.run()
    }

    /// The number of the fire that it is nested in, where that one is recorded too.
    pub fn parent(&self) -> Option<u64> {
        self.0.fire.parent()
    }

    /// How many fires it is nested in.
    pub fn depth(&self) -> usize {
        self.0.fire.depth()
    }

    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.0.fire.point()
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.0.fire.model()
    }

    /// What it came to, in one word, as [`FireEnd`](crate::observe::FireEnd) has it.
    pub fn outcome(&self) -> &'static str {
        self.0.outcome
    }

    /// The error that it ended with.
    pub fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// When it began.
    pub fn at(&self) -> SystemTime {
        self.0.at
    }

    /// How long it took.
    pub fn took(&self) -> Duration {
        self.0.took
    }

    /// Its payload as it was when the fire began, where the filter asks for it.
    pub fn payload(&self) -> Option<&TracedPayload> {
        self.0.payload.as_ref()
    }

    /// What each handler did.
    pub fn report(&self) -> &FireReport {
        &self.0.report
    }
}

/// What came of it and by whom, with what it was given, in one line.
impl fmt::Display for TracedFire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { fire, outcome, error, payload, took, report, .. } = &*self.0;
        write!(f, "{} {outcome}", escaped(fire.point()))?;
        if let Some(error) = error {
            write!(f, ": {}", escaped(error))?;
        } else {
            for row in report.handlers() {
                let HandlerStatus::Ran(decided) = row.status() else { continue };
                let reason = match decided {
                    Contribution::Claimed | Contribution::Recovered => "",
                    Contribution::Rejected(reason) | Contribution::Aborted(reason) => reason,
                    _ => continue,
                };
                let slash = row.owner().plugin().map(|plugin| format!("{plugin}/"));
                write!(f, " by {}{}", slash.unwrap_or_default(), escaped(row.handler()))?;
                if !reason.is_empty() {
                    write!(f, ": {}", escaped(reason))?;
                }
            }
        }
        match payload {
            None => {}
            Some(TracedPayload::Shown { text, left_out: 0 }) => {
                write!(f, ", given {}", escaped(text))?;
            }
            Some(TracedPayload::Shown { text, left_out }) => {
                write!(f, ", given {} and {left_out} bytes more", escaped(text))?;
            }
            Some(TracedPayload::Failed { problem }) => {
                write!(f, ", its payload cannot be shown: {}", escaped(problem))?;
            }
        }
        write!(f, " ({took:.1?})")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TracedFire {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        use crate::wire::Nanoseconds;

        let Parts { fire, outcome, error, at, took, payload, report } = &*self.0;
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut map = serializer.serialize_map(Some(12))?;
        map.serialize_entry("id", &fire.id())?;
        map.serialize_entry("run", &fire.run())?;
        map.serialize_entry("parent", &fire.parent())?;
        map.serialize_entry("depth", &fire.depth())?;
        map.serialize_entry("point", fire.point())?;
        map.serialize_entry("model", &fire.model())?;
        map.serialize_entry("outcome", outcome)?;
        map.serialize_entry("error", error)?;
        map.serialize_entry("at_ns", &Nanoseconds(since))?;
        map.serialize_entry("took_ns", &Nanoseconds(*took))?;
        map.serialize_entry("payload", payload)?;
        map.serialize_entry("report", &**report)?;
        map.end()
    }
}
