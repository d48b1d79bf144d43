//! The payload of a fire that begins, whose type is forgotten.

use std::any::{Any, TypeId};

use crate::engine::raw::Frame;
use crate::model::compose::Compose;
use crate::point::HookPoint;

/// The payload of a fire that begins.
pub(crate) enum Payload<'p> {
    /// Of a fire.
    Fire(&'p mut Frame),
    /// Of a run of the flow of that type.
    Run(&'p dyn Any, TypeId),
}

impl Payload<'_> {
    /// Reads it, where it is one of `P`.
    pub(crate) fn read<P, T>(&mut self, read: impl FnOnce(&P::Payload) -> T) -> Option<T>
    where
        P: HookPoint<Model: Compose<P>>,
    {
        match self {
            Self::Fire(frame) => frame.with_payload::<P, T>(read),
            Self::Run(input, flow) if *flow == TypeId::of::<P>() => {
                input.downcast_ref::<P::Payload>().map(read)
            }
            Self::Run(..) => None,
        }
    }
}
