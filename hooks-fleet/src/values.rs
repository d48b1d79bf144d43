//! Values of a scope that travel with the calls of remote handlers.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_runtime::{HookContext, ScopedHooks};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::trace::TraceContext;
use crate::wire::RequestRef;

type Write = dyn Fn(&HookContext) -> Option<serde_json::Result<Value>> + Send + Sync;
type Read = dyn Fn(&ScopedHooks, &Value) -> serde_json::Result<ScopedHooks> + Send + Sync;

/// The types that a process has declared, by their names on the wire.
#[derive(Clone, Default)]
pub(crate) struct Values(BTreeMap<String, Travelling>);

#[derive(Clone)]
struct Travelling {
    write: Arc<Write>,
    read: Arc<Read>,
}

impl Values {
    pub(crate) fn declare<T>(&mut self, name: String)
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let travelling = Travelling {
            write: Arc::new(|cx| cx.get::<T>().map(serde_json::to_value)),
            read: Arc::new(|hooks, value| Ok(hooks.with(T::deserialize(value)?))),
        };
        self.0.insert(name, travelling);
    }

    /// The values that a call has in its scope, or which of them cannot be written.
    pub(crate) fn written(&self, cx: &HookContext) -> Result<BTreeMap<String, Value>, String> {
        let values = self.0.iter().filter_map(|(name, travelling)| {
            let written = (travelling.write)(cx)?;
            let why = |error| format!("the value `{name}` of the scope cannot be written: {error}");
            Some(written.map(|value| (name.clone(), value)).map_err(why))
        });
        values.collect()
    }

    /// These hooks, with the values of that request that this process has declared: others
    /// mean nothing here. Or what is wrong with one.
    pub(crate) fn scoped(
        &self,
        hooks: &ScopedHooks,
        request: &RequestRef<'_>,
    ) -> Result<ScopedHooks, String> {
        let mut hooks = match trace_of(request)? {
            Some(trace) => hooks.with(trace),
            None => hooks.clone(),
        };
        for (name, value) in &request.values {
            let Some(travelling) = self.0.get(name) else { continue };
            // How it is read is the host's code.
            let read = catch_unwind(AssertUnwindSafe(|| (travelling.read)(&hooks, value)));
            let read = read.map_err(|_| "reading it panicked".to_owned());
            let read = read.and_then(|read| read.map_err(|error| error.to_string()));
            let why = |why| format!("the value `{name}` of the scope does not fit: {why}");
            hooks = read.map_err(why)?;
        }
        Ok(hooks)
    }
}

fn trace_of(request: &RequestRef<'_>) -> Result<Option<TraceContext>, String> {
    let Some(traceparent) = &request.traceparent else { return Ok(None) };
    let trace = TraceContext::new(&**traceparent);
    let trace = match &request.tracestate {
        Some(state) => trace.and_then(|trace| trace.with_state(&**state)),
        None => trace,
    };
    trace.map(Some).map_err(|error| error.to_string())
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
