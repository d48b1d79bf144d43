//! Calls of remote handlers, by way of a cassette where their points are shared with one.

use std::future::Future;

use hooks_runtime::BoxError;
use hooks_runtime::json::Value;
#[cfg(feature = "cassette")]
use hooks_runtime::replay::Cassette;

use crate::failure::RemoteFailure;

/// The cassette of a share, if it has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    #[cfg(feature = "cassette")]
    pub(super) cassette: Option<Cassette>,
}

impl Tape {
    /// What the cassette has of a call, or what comes of it. `who` is the address of the
    /// handler.
    #[cfg_attr(not(feature = "cassette"), allow(unused_variables, reason = "there is none"))]
    pub(super) async fn ask<Fut>(
        &self,
        who: impl FnOnce() -> String,
        payload: Value,
        call: impl FnOnce(Value) -> Fut,
    ) -> Result<Value, BoxError>
    where
        Fut: Future<Output = Result<Value, RemoteFailure>>,
    {
        #[cfg(feature = "cassette")]
        if let Some(cassette) = &self.cassette {
            return cassette.ask(&who(), payload, call).await;
        }
        Ok(call(payload).await?)
    }
}
