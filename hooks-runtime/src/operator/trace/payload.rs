//! The payload of a fire that begins, whose type is forgotten.

use std::any::{Any, TypeId};

use crate::engine::raw::Frame;
use crate::model::compose::Compose;
use crate::point::HookPoint;

/// The payload of a fire that begins.
pub(crate) enum Payload<'p> {
    /// Of a fire.
    Fire(&'p mut Frame),
    /// Of a run of a flow, or of a fire that calls no handler: of the point of that type.
    Given(&'p dyn Any, TypeId),
}

impl Payload<'_> {
    /// Reads it, where it is one of `P`.
    pub(crate) fn read<P, T>(&mut self, read: impl FnOnce(&P::Payload) -> T) -> Option<T>
    where
        P: HookPoint<Model: Compose<P>>,
    {
        match self {
            Self::Fire(frame) => frame.with_payload::<P, T>(read),
            Self::Given(payload, point) if *point == TypeId::of::<P>() => {
                payload.downcast_ref::<P::Payload>().map(read)
            }
            Self::Given(..) => None,
        }
    }
}
