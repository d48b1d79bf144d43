//! What a handler did to its run as JSON, and done again from that.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::flow::{FlowContext, FlowPoint, Given, Stage};
use crate::operator::trace::Payload;
use crate::point::HookPoint;

/// The run as the stage `S` finds it.
pub(super) fn begun<S, F>(payload: &mut Payload<'_>) -> Option<Result<Value, String>>
where
    S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
    F: FlowPoint,
    F::Payload: Serialize,
    F::Result: Serialize,
{
    payload.read::<S, _>(left)
}

/// The run as a handler has left it, from which and the one before it is told what that handler
/// did: see `record::StageRun`.
pub(super) fn left<F>(flow: &FlowContext<F>) -> Result<Value, String>
where
    F: FlowPoint,
    F::Payload: Serialize,
    F::Result: Serialize,
{
    let left = flow.left();
    let mut asked = Map::new();
    if let Some((kind, given)) = left.given {
        asked.insert(key(kind).to_owned(), written(given)?);
    }
    if let Some(kind) = left.refused {
        asked.insert("refused".to_owned(), key(kind).into());
    }
    if left.skips {
        asked.insert("skip".to_owned(), true.into());
    }
    if let Some(reason) = left.aborts {
        asked.insert("abort".to_owned(), reason.into());
    }
    if left.asked_for_lost {
        asked.insert("asked_for_lost".to_owned(), true.into());
    }
    Ok(json!({
        "input": written(&left.input)?,
        "output": written(&left.output)?,
        "asked": asked,
        "changes": left.changes,
    }))
}

fn written<T: Serialize>(value: &T) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// The key that a handler gives an output under.
const fn key(kind: Given) -> &'static str {
    match kind {
        Given::Answer => "output",
        Given::Recovery => "recover",
    }
}

#[cfg(feature = "replay")]
pub(super) use again::stand_in;

#[cfg(feature = "replay")]
mod again {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    use super::super::{Seen, seen};
    use super::key;
    use crate::engine::raw::HookContext;
    use crate::error::BoxError;
    use crate::flow::{FlowContext, FlowPoint, Given, Stage};
    use crate::handler::forms::{Sent, StateAsync2};
    use crate::handler::on::On;
    use crate::handler::options::Options;
    use crate::handler::registration::Registration;
    use crate::json::answers::{absent, present};
    use crate::json::decode;
    use crate::json::handler::JsonHandler;
    use crate::point::HookPoint;

    /// What a stand-in is asked with.
    #[derive(Serialize)]
    struct SeenAgain<'f, I, O> {
        #[serde(flatten)]
        seen: Seen<'f, I, O>,
        /// Which of the two there is: `null` may be a value.
        has: Vec<&'static str>,
        /// What is refused whatever it is.
        refuses: Vec<&'static str>,
    }

    /// What a handler did to its run.
    #[derive(Deserialize)]
    #[serde(bound = "I: Deserialize<'de>, O: Deserialize<'de>")]
    struct Did<I, O> {
        #[serde(default = "absent", deserialize_with = "present")]
        input: Option<I>,
        #[serde(default = "absent", deserialize_with = "present")]
        changed: Option<O>,
        #[serde(default = "absent", deserialize_with = "present")]
        output: Option<O>,
        #[serde(default = "absent", deserialize_with = "present")]
        recover: Option<O>,
        refused: Option<String>,
        #[serde(default)]
        skip: bool,
        abort: Option<String>,
        #[serde(default)]
        state: bool,
        /// The message, where it failed after that.
        fails: Option<String>,
    }

    /// A handler that does to its run what was recorded.
    pub(in crate::json::models::flow) fn stand_in<S, F>(
        options: Box<Options>,
        handler: JsonHandler,
    ) -> Registration
    where
        S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
        F: FlowPoint,
        F::Payload: Serialize + DeserializeOwned,
        F::Result: Serialize + DeserializeOwned,
    {
        On::<S>::with_options(options).finish(StateAsync2::handler(do_again::<S, F>, handler))
    }

    async fn do_again<S, F>(
        handler: &JsonHandler,
        flow: &mut FlowContext<F>,
        cx: &HookContext,
    ) -> Result<(), BoxError>
    where
        S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
        F: FlowPoint,
        F::Payload: Serialize + DeserializeOwned,
        F::Result: Serialize + DeserializeOwned,
    {
        let refuses = [Given::Answer, Given::Recovery].into_iter();
        let refuses = refuses.filter(|kind| flow.refuses(*kind)).map(key).collect();
        let both = [("input", flow.input().is_some()), ("output", flow.output().is_some())];
        let has = both.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key).collect();
        let event = serde_json::to_value(SeenAgain { seen: seen(flow), has, refuses })?;
        let did = match handler.ask(&event, cx, |_| Ok(Value::Null)).await? {
            Value::Null => return Ok(()),
            did => decode::answer::<S, Did<F::Payload, F::Result>>(did)?,
        };
        if let (Some(new), Some(input)) = (did.input, flow.input_mut()) {
            *input = new;
        }
        if let Some(output) = did.changed {
            flow.change_output(output);
        }
        if did.state {
            flow.lose_state();
        }
        if let Some(message) = did.fails {
            return Err(message.into());
        }
        if let Some(output) = did.output {
            flow.respond(output);
        }
        if let Some(output) = did.recover {
            flow.recover(output);
        }
        match did.refused.as_deref() {
            Some("recover") => flow.refuse(Given::Recovery),
            Some(_) => flow.refuse(Given::Answer),
            None => {}
        }
        if did.skip {
            flow.skip();
        }
        if let Some(reason) = did.abort {
            flow.abort(reason);
        }
        Ok(())
    }
}
