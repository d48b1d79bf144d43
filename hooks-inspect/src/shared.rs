//! What the routes of one page share.

use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, Shared as SharedFuture};
use hooks_runtime::HookRegistry;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::observe::Statistics;
use hooks_runtime::operator::Operator;

use crate::failures::Failures;
use crate::guard::Guard;
use crate::timeline::Timeline;
use crate::token::Token;

/// What the routes of one page share.
pub(crate) struct Shared {
    pub(crate) hooks: HookRegistry,
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
    pub(crate) statistics: Option<Statistics>,
    pub(crate) failures: Failures,
    pub(crate) changes: Option<Changes>,
    pub(crate) guard: Guard,
    pub(crate) timeline: Arc<Timeline>,
    /// Ready once the streams of events are to end.
    pub(crate) ending: Ending,
}

/// A part of the page.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) catalogue: Catalogue,
}

/// What a change takes: the capability, and the token that a request shows.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) operator: Operator,
    pub(crate) token: Token,
}

pub(crate) type Ending = SharedFuture<BoxFuture<'static, ()>>;

impl Shared {
    /// An operator to read with: reads need no capability of the page.
    pub(crate) fn reader(&self) -> Operator {
        self.hooks.operator()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("title", &self.title).finish_non_exhaustive()
    }
}
