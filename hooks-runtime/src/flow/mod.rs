//! Flows: stages around an operation of the host.

mod context;
mod error;
mod run;
mod stages;
mod state;

pub use context::FlowContext;
pub use error::FlowError;
pub use run::{FlowReport, FlowRun, Operation};
pub use stages::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowPoint, OnError,
    Stage, StageDescriptors, StageKind,
};
pub use state::State;
