//! How the verbs of all models register.

use std::sync::Arc;

use crate::error::RegisterError;
use crate::handler::on::On;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::{Model, RegistersAs};
use crate::point::HookPoint;
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

impl HookRegistry {
    /// Registers an async function or closure as a `V`.
    pub(crate) fn register_async<V, P>(
        &self,
        on: On<P>,
        handler: impl AsyncHandler<V, P>,
    ) -> Result<Handle, RegisterError>
    where
        V: Model,
        P: HookPoint,
        P::Model: RegistersAs<V, P>,
    {
        self.register_one(on.finish(handler.into_async()))
    }

    /// The same, called on `state` first.
    pub(crate) fn register_async_with<V, P, S>(
        &self,
        on: On<P>,
        state: S,
        handler: impl AsyncHandlerWith<S, V, P>,
    ) -> Result<Handle, RegisterError>
    where
        V: Model,
        P: HookPoint,
        P::Model: RegistersAs<V, P>,
    {
        self.register_one(on.finish(handler.into_async_with(Arc::new(state))))
    }
}
