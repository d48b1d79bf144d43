//! A handler that speaks JSON, with a cassette around it.

use std::sync::Arc;

use super::Cassette;
use crate::json::{IntoJsonHandler, JsonHandler};

impl Cassette {
    /// That handler, with this cassette around it: `who` is its name in the file.
    ///
    /// What it is asked is its payload; what a modifying fire has merged, and the
    /// context, are not part of the request, and are passed on where it is called.
    ///
    /// The example of [`Cassette`] has one.
    pub fn handler<Form>(
        &self,
        who: impl Into<Arc<str>>,
        handler: impl IntoJsonHandler<Form>,
    ) -> impl IntoJsonHandler<Taped> {
        TapedHandler {
            cassette: self.clone(),
            who: who.into(),
            handler: handler.into_json_handler(),
        }
    }
}

/// The form of a handler with a cassette around it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Taped;

struct TapedHandler {
    cassette: Cassette,
    who: Arc<str>,
    handler: JsonHandler,
}

impl IntoJsonHandler<Taped> for TapedHandler {
    fn into_json_handler(self) -> JsonHandler {
        let Self { cassette, who, handler } = self;
        handler.by_way_of(move |request, call| {
            let (cassette, who) = (cassette.clone(), Arc::clone(&who));
            Box::pin(async move { cassette.ask(&who, request, |_| call()).await })
        })
    }
}
