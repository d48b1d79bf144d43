//! One stage of a run: the context of its handlers, and what they ask for.

use std::sync::Arc;

use crate::engine::containment::shown;
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::BoxError;
use crate::flow::answer::Taken;
use crate::flow::context::{Signal, Signals};
use crate::flow::stages::Stage;
use crate::model::compose::{Accumulator, Begin, Compose};
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::registry::entry::Owner;
use crate::report::{Contribution, SkipReason};

/// How the handlers of a stage ended it.
#[derive(Debug)]
pub enum StageEnd {
    /// They did not: all were called.
    Complete,
    /// One skipped the rest.
    Skipped,
    /// One aborted the flow.
    Aborted(Arc<str>, Owner, BoxError),
}

impl Accumulator for StageEnd {
    type Outcome = Self;

    fn finish(self) -> Self {
        self
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Complete => "ran",
            Self::Skipped => "skipped",
            Self::Aborted(..) => "aborted",
        }
    }
}

impl<P: HookPoint<Model = Self, Payload: Signals>> Compose<P> for Stage {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a mut P::Payload {
        let context = call.payload_mut();
        // What a failed handler asked for must not apply to the next one.
        context.withdraw();
        context
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    #[inline]
    fn compose(call: &mut Call<'_, '_, P>, (): ()) -> CallStep {
        let context = call.payload_mut();
        match context.take_signal() {
            None => {
                if let Some(taken) = context.take_answer() {
                    contribute(call, taken);
                }
                CallStep::Continue
            }
            Some(signal) => end_by(call, signal),
        }
    }
}

#[cold]
#[inline(never)]
fn contribute<P>(call: &mut Call<'_, '_, P>, taken: Taken)
where
    P: HookPoint<Model = Stage, Payload: Signals>,
{
    if taken.recovered {
        let handler = call.handler();
        call.payload_mut().recovered_by(handler);
    }
    call.contribute(taken.contribution);
}

#[cold]
#[inline(never)]
fn end_by<P>(call: &mut Call<'_, '_, P>, signal: Signal) -> CallStep
where
    P: HookPoint<Model = Stage, Payload: Signals>,
{
    match signal {
        Signal::Skip => {
            // The report rows of the others have the skip as their reason.
            match call.payload_mut().take_answer() {
                Some(taken) => contribute(call, taken),
                None => call.contribute(Contribution::Skipped),
            }
            *call.accumulator() = StageEnd::Skipped;
            call.end(SkipReason::AfterSkip)
        }
        // The outcome is final already: this is a failure of the handler only.
        Signal::Abort(error) if P::descriptor().is_fixed() => call.fail(error),
        Signal::Abort(error) => {
            if call.is_recording() {
                let why = shown(&*error);
                call.contribute(Contribution::Aborted(why));
            }
            let (handler, owner) = call.handler();
            *call.accumulator() = StageEnd::Aborted(handler, owner, error);
            call.end(SkipReason::AfterAbort)
        }
    }
}

impl<P: HookPoint<Model = Self, Payload: Signals>> Begin<P> for Stage {
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        context: &'f mut P::Payload,
    ) -> FireFuture<'f, P, StageEnd> {
        FireFuture::of_mut(hooks, context, StageEnd::Complete)
    }

    fn given(context: &mut Option<P::Payload>) -> &mut P::Payload {
        context.as_mut().expect("it was made")
    }
}
