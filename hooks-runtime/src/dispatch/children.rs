//! The handlers of a void fire that wait.

use std::collections::HashMap;
use std::task::{Context, Poll};

use crate::dispatch::call::{Call, Done, Ended};
use crate::dispatch::fire::Fire;
use crate::dispatch::woken::WokenSet;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::list::{AnyList, HandlerList};
use crate::nesting::Nested;
use crate::observe::report::Contribution;
use crate::panics::drop_contained;
use crate::point::HookPoint;
use crate::slot::{Shelf, Storage};

/// Once so many wait at a point that has more handlers, only those that were
/// woken are polled; of fewer, polling all is cheaper than a waker for each.
const FEW: usize = 32;

/// The handlers that wait. What they borrow is dropped after them.
pub(crate) struct Children<'f, T> {
    calls: Vec<Call<'f, T>>,
    /// How many of them have not ended.
    left: usize,
    /// Their wakers, where they are many.
    woken: Option<WokenSet>,
    /// Whether they had their turn a moment ago, by this very task.
    fresh: bool,
    /// How many they can become.
    most: usize,
    shelf: Shelf,
    keep: Option<AnyList>,
}

impl<'f, T> Children<'f, T> {
    /// None yet, of at most so many.
    #[inline]
    pub(crate) fn of(most: usize) -> Self {
        Self {
            calls: Vec::with_capacity(most.min(FEW)),
            left: 0,
            woken: None,
            fresh: true,
            most,
            shelf: Shelf::new(most),
            keep: None,
        }
    }

    /// One more, which had its first turn. Whether each has a waker of its own
    /// from now on.
    #[inline]
    pub(crate) fn add(&mut self, call: Call<'f, T>) -> bool {
        let careful = matches!(call, Call::Careful(_));
        self.calls.push(call);
        self.left += 1;
        if self.calls.len() < FEW { false } else { self.many(careful) }
    }

    /// Whether they are so many that each has a waker of its own.
    #[cold]
    fn many(&mut self, careful: bool) -> bool {
        if let Some(woken) = &mut self.woken {
            // It has seen its waker, but its limit has not, so it is marked. A
            // mark cannot be told from a wake-up, so both have their turn.
            woken.keep_next(careful);
            self.calls.last_mut().into_iter().for_each(Call::by_own_waker);
        } else if FEW < self.most {
            // Those before were shown the task's waker: they have to see theirs.
            self.woken = Some(WokenSet::new(FEW, self.most));
            self.calls.iter_mut().for_each(Call::by_own_waker);
        }
        self.woken.is_some()
    }

    /// Their wakers, where they have their own.
    pub(crate) fn wakers(&mut self) -> Option<&mut WokenSet> {
        self.woken.as_mut()
    }

    /// Storage for the next one.
    ///
    /// # Safety
    /// It goes to a handler that is done when the first pass is, or is added.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn storage<'s>(&mut self) -> &'s mut Storage {
        // SAFETY: the calls stand before the shelf, and are dropped first.
        unsafe { self.shelf.storage() }
    }

    /// They borrow the handlers of that list.
    pub(crate) fn keep(&mut self, list: &AnyList) {
        self.keep = Some(list.clone());
    }

    /// Gives a turn to those that may have something to do.
    pub(crate) fn turn<P: HookPoint>(
        &mut self,
        settled: &mut Settled<'_, P>,
        task: &mut Context<'_>,
    ) -> Poll<()> {
        let fresh = std::mem::take(&mut self.fresh);
        match &mut self.woken {
            None => {
                for call in &mut self.calls {
                    // A plain one that was just started needs no turn.
                    let idle = fresh && matches!(call, Call::Plain(_));
                    if !idle && settled.turn(call, task).is_ready() {
                        self.left -= 1;
                    }
                }
                if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
            }
            Some(woken) => woken.poll(task, |index, task| {
                // A waker that nobody waits by may still be there to wake.
                let call = self.calls.get_mut(index);
                call.is_some_and(|call| settled.turn(call, task).is_ready())
            }),
        }
    }
}

/// Takes the outcomes as they come; the error of the fire is the failure of
/// the handler that stands first, whoever finishes first.
pub(crate) struct Settled<'f, P: HookPoint> {
    fire: &'f Fire<'f>,
    list: &'f HandlerList<P>,
    first: Option<(usize, HandlerFailure)>,
    /// The places of the handlers, once a failure asks for one.
    places: Option<HashMap<u64, usize>>,
}

impl<'f, P: HookPoint> Settled<'f, P> {
    #[inline]
    pub(crate) fn new(fire: &'f Fire<'f>, list: &'f HandlerList<P>) -> Self {
        Self { fire, list, first: None, places: None }
    }

    pub(crate) fn nested(&self) -> Nested {
        self.fire.nested::<P>()
    }

    #[inline]
    pub(crate) fn result(&mut self) -> Result<(), FireError> {
        match self.first.take() {
            None => Ok(()),
            Some((_, failure)) => Err(FireError::Failed(failure)),
        }
    }

    /// Gives a call a turn, and takes its outcome when it is done.
    #[inline]
    fn turn<T>(&mut self, call: &mut Call<'_, T>, task: &mut Context<'_>) -> Poll<()> {
        // A void handler's answer says nothing that could stand.
        call.turn(task, |_, _| false, |done, outcome| self.note(done, outcome))
    }

    /// The end of a call.
    #[inline]
    pub(crate) fn note<T>(&mut self, done: Done<'_>, outcome: Result<T, FailureKind>) {
        let ended = done.finish(&outcome);
        match outcome {
            Ok(_) => self.fire.ran(&ended, || Contribution::Nothing),
            Err(kind) => self.failed(&ended, kind),
        }
    }

    #[cold]
    fn failed(&mut self, ended: &Ended<'_>, kind: FailureKind) {
        let Some(failure) = self.fire.failed(ended, kind) else { return };
        let places = self.places.get_or_insert_with(|| {
            let ids = self.list.slots().map(|slot| slot.entry.id);
            ids.enumerate().map(|(place, id)| (id, place)).collect()
        });
        let order = places[&ended.entry.id];
        let lost = match &self.first {
            Some((first, _)) if *first < order => Some(failure),
            _ => self.first.replace((order, failure)).map(|(_, failure)| failure),
        };
        drop_contained("a handler's error", lost);
    }
}

impl<P: HookPoint> Drop for Settled<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some(failure) = self.first.take() {
            // The fire is dropped before its end.
            drop_contained("a handler's error", failure);
        }
    }
}
