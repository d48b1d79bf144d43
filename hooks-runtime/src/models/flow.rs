//! Flow: stages around an operation. The stages are points of their own, see
//! [`crate::flow`].

use crate::models::Model;
use crate::point::{HookPoint, ModelKind};

/// The model of points that wrap an operation of the host in six stages.
///
/// Nobody registers at the flow itself: handlers belong to its stages, and the
/// host runs it with `run_flow`.
#[derive(Clone, Copy, Debug)]
pub struct Flow;

impl Model for Flow {
    const KIND: ModelKind = ModelKind::Flow;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
}
