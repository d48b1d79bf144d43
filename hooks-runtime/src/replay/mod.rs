//! Replays of what was recorded, against today's handlers or today's rules (L38).
//!
//! [`replay()`] takes a recording (see [`record`](crate::record)) and a registry. It makes a copy
//! of the registry and fires what was recorded at that: handlers that are declared
//! [`pure`](crate::handler::On::pure) are called, others answer what was recorded of them. The
//! [`ReplayReport`] has every difference. [The guide](crate::guides::replay_recorded_fires)
//! says what is compared, what cannot be replayed, and how it is used in tests.
//!
//! # Recomposing
//!
//! [`Replay::recompose`] calls no handler: what was recorded of each goes through today's order,
//! scopes, settings and models.
//!
//! ```
//! # use hooks_runtime::{HookRegistry, hook_points, on};
//! # use hooks_runtime::record::{CapturePolicy, Recorder};
//! use hooks_runtime::replay::replay;
//! # hook_points! {
//! #     #![hook(json = "camelCase", catalogue = pub fn points)]
//! #     /// What goes with a page.
//! #     pub modifying Dressing { page: u32 } -> { colour: String }
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = std::env::temp_dir().join(format!("recompose-{}.jsonl", std::process::id()));
//! let dress = |name: &'static str, priority| {
//!     on::<Dressing>().name(name).priority(priority).handler(move |_: &DressingPayload| {
//!         DressingResult { colour: Some(name.to_owned()) }
//!     })
//! };
//! let hooks = HookRegistry::new();
//! hooks.register([dress("red", 0), dress("blue", 1)])?;
//! # let recorder = Recorder::to(&file).catalogue(&points()).capture("*", CapturePolicy::Full);
//! # let (recording, writer) = recorder.start(&hooks)?;
//! # tokio::spawn(writer.run());
//! hooks.fire_modifying::<Dressing>(&DressingPayload { page: 1 }).await?; // recorded
//! # recording.close().await;
//!
//! // In another order another value is the first.
//! let other = HookRegistry::new();
//! other.register([dress("red", 2), dress("blue", 1)])?;
//! let report = replay(&file).catalogue(&points()).against(&other).recompose().run().await?;
//! let fire = report.changed().next().unwrap();
//! assert_eq!(fire.differences[0].to_string(), "decision  blue: ran -> set colour");
//! assert_eq!(fire.differences[1].to_string(), "decision  red: set colour -> ran");
//! # std::fs::remove_file(&file)?;
//! # Ok(()) }
//! ```

mod against;
mod answer;
mod cassette;
mod changes;
mod collect;
mod compare;
mod copies;
mod display;
mod error;
mod history;
mod judge;
mod made;
mod play;
mod played;
mod points;
mod report;
mod script;
mod stage;
mod timeline;

use std::path::Path;

pub use against::{Recorded, Replay};
pub use cassette::{Cassette, CassetteError, CassetteMode};
pub use compare::{Difference, DifferenceKind};
pub use error::ReplayError;
pub use report::{FireReplay, FireVerdict, ReplayReport};
pub use timeline::{Timeline, TimelineRow};

/// The recording in that file, to be replayed.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
/// # use hooks_runtime::record::{CapturePolicy, Recorder};
/// use hooks_runtime::replay::{DifferenceKind, FireVerdict, replay};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a message leaves.
/// #     pub gating Sending { text: String }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = std::env::temp_dir().join(format!("replay-{}.jsonl", std::process::id()));
/// # let hooks = HookRegistry::new();
/// let short = |message: &SendingPayload| {
///     if message.text.len() < 9 { Judgement::Pass } else { Judgement::reject("too long") }
/// };
/// hooks.register(on::<Sending>().name("short").pure().guard(short))?;
/// # let operator = hooks.operator();
/// # operator.shadow("sending:short").break_glass("a trial").until(Duration::from_secs(60)).apply()?;
/// # let recorder = Recorder::to(&file).catalogue(&points()).capture("*", CapturePolicy::Full);
/// # let (recording, writer) = recorder.start(&hooks)?;
/// # tokio::spawn(writer.run());
/// # for text in ["hello", "hello world"] {
/// #     let _ = hooks.fire_gating::<Sending>(SendingPayload { text: text.into() }).await?;
/// # }
/// # recording.close().await;
/// // Recorded while `short` was in shadow: two messages, one of them too long.
/// let replay = replay(&file).catalogue(&points()).against(&hooks);
/// replay.assert_same().await;
///
/// let report = replay.shadow_lifted("short").run().await?;
/// assert_eq!((report.same().count(), report.cannot().count()), (1, 0));
/// let fire = report.changed().next().unwrap();
/// assert_eq!(fire.verdict, FireVerdict::Changed { by: Some("short".into()), unknown: None });
/// assert_eq!((fire.by(), fire.differences[0].kind), (Some("short"), DifferenceKind::Effect));
/// assert_eq!(fire.differences[0].replayed.as_deref(), Some("rejected: too long"));
/// let (then, now) = (&fire.recorded, fire.replayed.as_ref().unwrap());
/// assert_eq!((&*then.outcome, &*now.outcome), ("passed", "rejected"));
/// assert_eq!(then.rows[0].to_string(), "in shadow: rejected: too long");
/// assert_eq!(report.counts()[&DifferenceKind::Outcome], 1);
/// # std::fs::remove_file(&file)?;
/// # Ok(()) }
/// ```
pub fn replay(path: impl AsRef<Path>) -> Recorded {
    Recorded::new(path.as_ref())
}
