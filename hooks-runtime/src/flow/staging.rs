//! One stage under way: what its handlers are given, what they ask for.

use std::sync::Arc;

use crate::error::BoxError;
use crate::flow::context::{Signal, Signals};
use crate::flow::stages::Stage;
use crate::models::{Composes, Lent, Next};
use crate::observe::report::{Contribution, SkipReason};
use crate::panics::shown;
use crate::point::HookPoint;
use crate::registry::entry::{Entry, Owner};

/// A stage under way.
#[derive(Debug)]
pub struct Staging<'c, P: HookPoint> {
    pub(crate) context: &'c mut P::Payload,
    /// Whether the outcome stands whatever this stage does.
    pub(crate) fixed: bool,
    pub(crate) ended: Ended,
}

/// How the handlers of a stage ended it.
#[derive(Debug)]
pub enum Ended {
    /// They did not: all had their turn.
    Not,
    /// One skipped the rest.
    Skipped,
    /// One aborted the flow.
    Aborted(Arc<str>, Owner, BoxError),
}

impl<P: HookPoint<Payload: Signals>> Composes<P> for Stage {
    type Outcome = Ended;

    fn unheard(_: Staging<'_, P>) -> Ended {
        Ended::Not
    }

    fn begin<'p>(staging: Staging<'p, P>) -> Staging<'p, P>
    where
        'p: 'p,
    {
        staging
    }

    #[inline]
    fn lend<'a>(staging: &'a mut Staging<'_, P>) -> Lent<'a, &'a mut P::Payload> {
        // What a handler that failed had asked for is not the next one's.
        staging.context.withdraw();
        Lent { input: staging.context, merged: None }
    }

    #[inline]
    fn accept(
        staging: &mut Staging<'_, P>,
        entry: &Entry,
        (): (),
        told: Option<&mut Contribution>,
    ) -> Next {
        let (next, contribution) = match staging.context.take_signal() {
            None => {
                let answered = staging.context.take_answer();
                (Next::On, answered.unwrap_or(Contribution::Nothing))
            }
            Some(Signal::Skip) => {
                staging.ended = Ended::Skipped;
                // The rows of the rest show the skip.
                let answered = staging.context.take_answer();
                (Next::End(SkipReason::AfterSkip), answered.unwrap_or(Contribution::Skipped))
            }
            // The outcome stands already: a failure of this handler, no more.
            Some(Signal::Abort(error)) if staging.fixed => return Next::Failed(error),
            Some(Signal::Abort(error)) => {
                let why = if told.is_some() { shown(&*error) } else { String::new() };
                staging.ended = Ended::Aborted(Arc::clone(&entry.name), entry.owner(), error);
                (Next::End(SkipReason::AfterAbort), Contribution::Aborted(why))
            }
        };
        if let Some(told) = told {
            *told = contribution;
        }
        next
    }

    fn word(staging: &Staging<'_, P>) -> &'static str {
        match staging.ended {
            Ended::Not => "ran",
            Ended::Skipped => "skipped",
            Ended::Aborted(..) => "aborted",
        }
    }

    fn finish(staging: &mut Staging<'_, P>) -> Ended {
        std::mem::replace(&mut staging.ended, Ended::Not)
    }
}
