//! What happened in one run of a flow.

use std::fmt;

use crate::report::{self, FireReport};

/// What happened in one run of a flow, stage by stage.
///
/// It prints as a table, and with the feature `serde` it serialises: to the
/// wire name as `flow` and the [`FireReport`]s as `stages`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FlowReport {
    flow: &'static str,
    stages: Vec<FireReport>,
}

impl FlowReport {
    pub(super) fn new(flow: &'static str) -> Self {
        Self { flow, stages: Vec::new() }
    }

    pub(super) fn push(&mut self, stage: FireReport) {
        self.stages.push(stage);
    }

    /// The wire name of the flow.
    pub fn flow(&self) -> &'static str {
        self.flow
    }

    /// The stages that ran and had handlers, in order.
    pub fn stages(&self) -> &[FireReport] {
        &self.stages
    }
}

impl fmt::Display for FlowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (flow)", self.flow)?;
        report::write_stages(f, &self.stages)
    }
}
