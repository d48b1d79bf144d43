//! All handlers at once: void.

use std::future::poll_fn;
use std::task::Poll;

use crate::context::Frame;
use crate::dispatch::call::{Running, Waiting, first};
use crate::dispatch::fire::Fire;
use crate::dispatch::tally::Tally;
use crate::dispatch::woken::WokenSet;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::models::{FiresAs, Model, Void};
use crate::point::HookPoint;
use crate::policy::FailurePolicy;
use crate::report::{Contribution, Filter};
use crate::slot::{Place, Shelf, Storage};
use crate::snapshot::Held;

/// Above this many waiting handlers only those that were woken are polled;
/// below it, polling all is cheaper than a waker for each.
const FEW: usize = 32;

/// A waiting handler with its place in the order.
type Child<'s, P> = (usize, Waiting<'s, <<P as HookPoint>::Model as Model>::Output<P>>);

/// Starts every handler of `held`, then waits until all have settled.
pub(crate) async fn run<P>(
    fire: &Fire<'_>,
    held: &Held<P>,
    payload: &P::Payload,
) -> Result<(), FireError>
where
    P: HookPoint,
    P::Model: FiresAs<Void, P>,
{
    let list = held.list();
    let mut storage = Storage::new();
    let shelf = Shelf::new();
    let mut settled = Settled { fire, first: None };
    let mut place = Some(Place::new(&mut storage));
    let mut waiting: Vec<Child<'_, P>> = Vec::new();
    let mut index = 0;
    for chunk in list.chunks() {
        let mut tally = Tally::new(fire.admits_all(list));
        for slot in &chunk.slots {
            let (entry, order) = (&*slot.entry, index);
            index += 1;
            if !fire.admits(slot) {
                continue;
            }
            let Some(running) = Running::begin(fire, entry) else {
                tally.passed_over();
                fire.filtered(entry, Filter::Unregistered);
                continue;
            };
            tally.called(slot);
            let frame = Frame { hooks: fire.hooks, point: fire.point, entry, merged: None };
            // Until one suspends, all use the same place.
            let mut here = place.take().or_else(|| Some(shelf.place(list.len() - order)));
            let started = poll_fn(|task| {
                let input = <P::Model as FiresAs<Void, P>>::give(payload);
                let here = here.take().expect("a handler is started once");
                Poll::Ready(running.poll(|| slot.invoke.start(input, frame, here, task)))
            })
            .await;
            match first(&running, started) {
                Ok((outcome, free)) => {
                    place = Some(free);
                    settled.note(order, running, outcome);
                }
                Err(future) => match Waiting::new(running, future) {
                    Ok(child) => {
                        if waiting.is_empty() {
                            held.settle();
                            waiting.reserve_exact(list.len() - order);
                        }
                        waiting.push((order, child));
                    }
                    Err((running, kind)) => settled.note(order, running, Err::<(), _>(kind)),
                },
            }
        }
    }
    if waiting.len() > FEW {
        wait_for_many::<P>(waiting, &mut settled).await;
    } else if !waiting.is_empty() {
        wait_for_few::<P>(waiting, &mut settled).await;
    }
    settled.first.map_or(Ok(()), |(_, failure)| Err(FireError::Failed(failure)))
}

async fn wait_for_few<P: HookPoint>(mut waiting: Vec<Child<'_, P>>, settled: &mut Settled<'_, '_>) {
    poll_fn(|task| {
        waiting.retain_mut(|(order, child)| match child.poll(task) {
            Poll::Pending => true,
            Poll::Ready((running, outcome)) => {
                settled.note(*order, running, outcome);
                false
            }
        });
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn wait_for_many<P: HookPoint>(waiting: Vec<Child<'_, P>>, settled: &mut Settled<'_, '_>) {
    let mut woken = WokenSet::new(waiting.len());
    let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
    poll_fn(|task| {
        woken.poll(task, |index, task| {
            // A waker may outlive its child and mark it once more.
            let Some((order, child)) = &mut waiting[index] else { return false };
            let Poll::Ready((running, outcome)) = child.poll(task) else { return false };
            settled.note(*order, running, outcome);
            waiting[index] = None;
            true
        })
    })
    .await;
}

/// Takes the outcomes as they come; the error of the fire is the failure of
/// the handler that stands first, whoever finishes first.
struct Settled<'s, 'f> {
    fire: &'s Fire<'f>,
    first: Option<(usize, HandlerFailure)>,
}

impl Settled<'_, '_> {
    #[inline]
    fn note<T>(&mut self, order: usize, running: Running<'_>, outcome: Result<T, FailureKind>) {
        let entry = running.entry;
        let elapsed = running.finish();
        match outcome {
            Ok(_) => self.fire.ran(entry, elapsed, || Contribution::Nothing),
            Err(kind) => {
                let failure = self.fire.failed(entry, kind, elapsed);
                let earlier = self.first.as_ref().is_none_or(|(first, _)| order < *first);
                if entry.policy == FailurePolicy::Closed && earlier {
                    self.first = Some((order, failure));
                }
            }
        }
    }
}
