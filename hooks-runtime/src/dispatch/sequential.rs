//! One handler after another: modifying, claiming, gating and stages.

use std::any::Any;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::task::Poll;

use crate::context::Frame;
use crate::dispatch::call::{Running, Waiting, first};
use crate::dispatch::fire::Fire;
use crate::dispatch::tally::Tally;
use crate::entry::Entry;
use crate::error::FireError;
use crate::models::{FiresAs, Model};
use crate::point::HookPoint;
use crate::policy::FailurePolicy;
use crate::report::{Contribution, Filter};
use crate::slot::{Place, Storage};
use crate::snapshot::Held;

/// What a sequential model does between two handlers.
pub(crate) trait Sequence<V: Model, P: HookPoint>: Send {
    /// What the next handler is given, and what it may read of the results.
    fn lend(&mut self) -> (V::Input<'_, P>, Option<&(dyn Any + Send + Sync)>);

    /// Takes a handler's answer, and tells what it came to if somebody wants
    /// to know. `Break` ends the fire, and says why the
    /// handlers after it are not called.
    fn accept(
        &mut self,
        entry: &Entry,
        output: V::Output<P>,
        told: Option<&mut Contribution>,
    ) -> ControlFlow<Filter>;
}

/// Runs the handlers of `held` in order.
pub(crate) async fn run<V, P, S>(
    fire: &Fire<'_>,
    held: &Held<P>,
    sequence: &mut S,
) -> Result<(), FireError>
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    let list = held.list();
    let mut storage = Storage::new();
    let mut ended: Option<(Filter, Result<(), FireError>)> = None;
    for chunk in list.chunks() {
        let mut tally = Tally::new(fire.admits_all(list));
        for slot in &chunk.slots {
            let entry = &*slot.entry;
            if let Some((filter, _)) = &ended {
                fire.skipped(entry, *filter);
                continue;
            }
            if !fire.admits(slot) {
                continue;
            }
            let Some(running) = Running::begin(fire, entry) else {
                tally.passed_over();
                fire.filtered(entry, Filter::Unregistered);
                continue;
            };
            tally.called(slot);
            let (running, outcome) = {
                let (input, merged) = sequence.lend();
                let frame = Frame { hooks: fire.hooks, point: fire.point, entry, merged };
                let mut input = Some(<P::Model as FiresAs<V, P>>::give(input));
                let mut place = Some(Place::new(&mut storage));
                let started = poll_fn(|task| {
                    let (input, place) = (input.take(), place.take());
                    let (input, place) = input.zip(place).expect("a handler is started once");
                    Poll::Ready(running.poll(|| slot.invoke.start(input, frame, place, task)))
                })
                .await;
                match first(&running, started) {
                    Ok((outcome, _)) => (running, outcome),
                    Err(future) => {
                        held.settle();
                        match Waiting::new(running, future) {
                            Ok(waiting) => waiting.finish().await,
                            Err((running, kind)) => (running, Err(kind)),
                        }
                    }
                }
            };
            let elapsed = running.finish();
            match outcome {
                Ok(output) => {
                    let mut contribution = Contribution::Nothing;
                    let flow = sequence.accept(
                        entry,
                        <P::Model as FiresAs<V, P>>::take(output),
                        fire.recorder.is_some().then_some(&mut contribution),
                    );
                    fire.ran(entry, elapsed, || contribution);
                    if let ControlFlow::Break(filter) = flow {
                        if fire.recorder.is_none() {
                            return Ok(());
                        }
                        ended = Some((filter, Ok(())));
                    }
                }
                Err(kind) => {
                    let failure = fire.failed(entry, kind, elapsed);
                    if entry.policy == FailurePolicy::Closed {
                        let error = Err(FireError::Failed(failure));
                        if fire.recorder.is_none() {
                            return error;
                        }
                        ended = Some((Filter::AfterFailure, error));
                    }
                }
            }
        }
    }
    ended.map_or(Ok(()), |(_, result)| result)
}
