//! What a handler decided, by kind.

use super::ContributionKind;

/// How often a handler decided what, by kind.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
/// # use hooks_runtime::observe::Statistics;
/// # use hooks_runtime::report::ContributionKind;
/// # hook_points! { pub gating Send(String); }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let statistics = Statistics::new();
/// # let hooks = HookRegistry::builder().observer(statistics.clone()).build();
/// hooks.register(on::<Send>().name("short").guard(|text: &String| {
///     if text.len() < 4 { Judgement::Pass } else { Judgement::reject("too long") }
/// }))?;
/// for text in ["hi", "hello", "hey"] {
///     let _ = hooks.fire_gating::<Send>(text.to_owned()).await?;
/// }
/// let decisions = statistics.handler("send:short").unwrap().decisions;
/// assert_eq!(decisions.of(ContributionKind::Passed), 2);
/// assert_eq!(decisions.of(ContributionKind::Rejected), 1);
/// assert_eq!((decisions.total(), decisions.iter().map(|(_, count)| count).max()), (3, Some(2)));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContributionCounts([u64; ContributionKind::ALL.len()]);

impl ContributionCounts {
    pub(crate) fn new(counts: [u64; ContributionKind::ALL.len()]) -> Self {
        Self(counts)
    }

    /// How often of that kind.
    pub fn of(&self, kind: ContributionKind) -> u64 {
        self.iter().find(|(counted, _)| *counted == kind).map_or(0, |(_, count)| count)
    }

    /// How often of any kind.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every kind, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (ContributionKind, u64)> {
        ContributionKind::ALL.into_iter().zip(self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ContributionCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
