//! The calls of a fire that are pending: how they are polled again, by whom they
//! are woken, and how their limits end a wait.

use std::task::{Context, Poll};

use crate::engine::call::CallRecord;
use crate::engine::containment::drop_contained;
use crate::engine::raw::{CallStep, HandlerRef, NodeId, Watch, with_waker};
use crate::engine::ready_set::ReadySet;
use crate::engine::walk::{Settled, Walk};
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::registry::entry::Entry;
use crate::registry::list::Cursor;

/// Once so many calls are pending at a point that has more handlers, only those
/// that were woken are polled; of fewer, polling all is cheaper than a waker for
/// each.
pub(super) const FEW: usize = 32;

/// How far a fire has come.
#[derive(Default)]
pub(crate) struct Progress {
    /// The handler that is next, or that the fire waits for.
    pub(super) at: Cursor,
    /// The failure of the first fail-closed handler, whichever ended first.
    pub(super) failure: Option<(Cursor, HandlerFailure)>,
    /// Whether a pending call has a record, and so may have a limit.
    pub(super) has_records: bool,
    /// The wakers of pending calls, where they are many.
    pub(super) ready: Option<Box<ReadySet>>,
}

impl Progress {
    /// What a fire returns that all handlers of which have ended.
    #[inline]
    pub(super) fn result(&mut self) -> Result<(), FireError> {
        match self.failure.take() {
            None => Ok(()),
            Some((_, failure)) => Err(FireError::Failed(failure)),
        }
    }

    /// Keeps the failure of the handler that comes first in the order.
    #[cold]
    pub(super) fn keep_failure(&mut self, at: Cursor, failure: HandlerFailure) {
        let lost = match &self.failure {
            Some((first, _)) if *first < at => Some(failure),
            _ => self.failure.replace((at, failure)).map(|(_, failure)| failure),
        };
        drop_contained("a handler's error", lost);
    }
}

/// What was done about pending calls when a fire goes on with them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Polled {
    /// They were polled in an earlier poll of the fire.
    Before,
    /// They were polled a moment ago, by this very task.
    JustNow,
    /// Those up to this one were polled just now, and this one has ended so.
    Ended(NodeId, CallStep),
}

impl Walk<'_, '_> {
    /// Lets the call that was just started wait, of which nothing is known.
    #[inline]
    pub(super) fn suspend_plain(&mut self) -> Settled {
        self.invocation.keep(None);
        self.invocation.leave();
        if self.invocation.is_concurrent() {
            self.count_pending();
            return Settled::Next;
        }
        Settled::Waits
    }

    /// Lets the call that was just started wait, unless its limit cannot be
    /// kept.
    #[inline(never)]
    pub(super) fn suspend(&mut self, at: Cursor, mut record: CallRecord) -> Settled {
        let handler = self.list.get(at);
        let entry = &*handler.entry;
        if let Err(kind) = record.arm(&self.fire) {
            record.give_up();
            record.poll(&self.fire, entry, || self.invocation.drop_built());
            record.ended(None);
            return self.fail(handler, &mut record, kind);
        }
        let has_record = !record.is_plain();
        self.progress.has_records |= has_record;
        let node = self.invocation.keep(has_record.then(|| Box::new(record)));
        if !self.invocation.is_concurrent() {
            return Settled::Waits;
        }
        match &mut self.progress.ready {
            // Its future has its waker, but its limit has not, so it is marked.
            Some(ready) => ready.keep_next(node, has_record),
            None => self.count_pending(),
        }
        Settled::Next
    }

    /// Gives each pending call a waker of its own, once there are many.
    fn count_pending(&mut self) {
        let arena = self.invocation.arena();
        if arena.live() == FEW && FEW < self.list.len() {
            // Those so far were polled with the task's waker: they have to be
            // polled with their own.
            let nodes = std::iter::successors(arena.first(), |node| arena.next(*node));
            self.progress.ready = Some(Box::new(ReadySet::new(nodes.collect(), self.list.len())));
            self.is_plain = false;
        }
    }

    /// Runs `start` with the waker that the next pending call would have, where
    /// each has its own.
    pub(super) fn with_next_waker<T>(&mut self, start: impl FnOnce(&mut Self) -> T) -> T {
        let Some(waker) = self.progress.ready.as_mut().map(|ready| ready.next()) else {
            return start(self);
        };
        let started = with_waker(self, |walk| &mut *walk.invocation, &waker, start);
        if let Some(ready) = &mut self.progress.ready {
            ready.give_back(waker);
        }
        started
    }

    /// Goes on with a fire whose calls are pending.
    pub(crate) fn resume(&mut self, polled: Polled) -> Poll<Result<(), FireError>> {
        let polled = if self.invocation.is_concurrent() {
            self.resume_all(polled)
        } else {
            self.resume_one(polled)
        };
        // A handler that was removed while it was polled here was left to this.
        self.after_call();
        polled
    }

    fn resume_all(&mut self, polled: Polled) -> Poll<Result<(), FireError>> {
        let fresh = matches!(polled, Polled::JustNow);
        if let Some(mut ready) = self.progress.ready.take() {
            let task = &mut Context::from_waker(self.waker);
            ready.poll(task, |node, task| {
                let poll = |walk: &mut Self| walk.poll_pending(node, false);
                with_waker(self, |walk| &mut *walk.invocation, task.waker(), poll);
            });
            self.progress.ready = Some(ready);
        } else {
            let mut next = match polled {
                Polled::Before | Polled::JustNow => self.invocation.arena().first(),
                Polled::Ended(node, called) => {
                    self.settle_plain(node, called);
                    self.invocation.arena().next(node)
                }
            };
            while let Some((node, called)) = self.resume_from(next, fresh) {
                if called == CallStep::Deferred {
                    self.poll_pending(node, fresh);
                } else {
                    self.settle_plain(node, called);
                }
                next = self.invocation.arena().next(node);
            }
        }
        if self.invocation.arena().live() > 0 {
            return Poll::Pending;
        }
        Poll::Ready(self.progress.result())
    }

    /// The next call from that one on that has to be looked at, and what came of
    /// it; those of which nothing is known are polled, unless they were just now.
    #[inline]
    fn resume_from(&mut self, from: Option<NodeId>, fresh: bool) -> Option<(NodeId, CallStep)> {
        if fresh { Some((from?, CallStep::Deferred)) } else { self.invocation.resume_plain(from) }
    }

    fn resume_one(&mut self, mut polled: Polled) -> Poll<Result<(), FireError>> {
        loop {
            let Some(node) = self.invocation.arena().first() else {
                return Poll::Ready(self.progress.result());
            };
            let settled = match polled {
                Polled::Before => self.poll_pending(node, false),
                Polled::JustNow => self.poll_pending(node, true),
                Polled::Ended(node, called) => Some(self.settle_plain(node, called)),
            };
            let Some(settled) = settled else { return Poll::Pending };
            if let Settled::End(reason, result) = settled {
                self.skip_rest(self.progress.at, reason);
                return Poll::Ready(result);
            }
            self.list.uncount_walk(self.progress.at, self.invocation.shard());
            self.invocation.clear();
            self.next();
            match self.walk() {
                Some(result) => return Poll::Ready(result),
                None => polled = Polled::JustNow,
            }
        }
    }

    /// Polls a pending call, then looks at its limit. A limit
    /// ends the wait for an answer, never an answer: when it has passed, the call
    /// is polled once more. What came of it, if it has ended.
    fn poll_pending(&mut self, node: NodeId, fresh: bool) -> Option<Settled> {
        if self.invocation.arena().has_ended(node) {
            return None;
        }
        let Some(mut record) = self.invocation.arena().record(node).take() else {
            return if fresh { None } else { self.poll_plain(node) };
        };
        let handler = self.invocation.handler(node);
        let entry = &*handler.entry;
        let call = &mut *record;
        let mut step = CallStep::Pending;
        let mut late = None;
        if !fresh {
            step = self.poll_once(node, call, entry);
        }
        if step == CallStep::Pending {
            let task = &mut Context::from_waker(self.invocation.waker());
            let Poll::Ready(kind) = call.check_limit(task) else {
                self.invocation.leave();
                *self.invocation.arena().record(node) = Some(record);
                return None;
            };
            step = self.poll_once(node, call, entry);
            if step == CallStep::Pending {
                call.give_up();
                call.poll(&self.fire, entry, || self.invocation.arena().end(node));
                call.ended(None);
                late = Some(kind);
            }
        }
        let settled = self.settle_pending(handler, call, step, late);
        self.invocation.call_resumed(entry);
        self.invocation.leave();
        entry.release_if_closed();
        Some(settled)
    }

    /// The same for a call of which nothing is known.
    fn poll_plain(&mut self, node: NodeId) -> Option<Settled> {
        match self.invocation.resume(node, Watch::default()) {
            CallStep::Pending => None,
            CallStep::Continue => {
                self.invocation.call_ended(node);
                Some(Settled::Next)
            }
            called => Some(self.settle_plain(node, called)),
        }
    }

    /// Takes what came of a call of which nothing is known, and which was pending.
    fn settle_plain(&mut self, node: NodeId, called: CallStep) -> Settled {
        let handler = self.invocation.handler(node);
        let settled = self.settle(handler, &mut CallRecord::default(), called);
        self.invocation.call_ended(node);
        settled
    }

    fn poll_once(&mut self, node: NodeId, call: &mut CallRecord, entry: &Entry) -> CallStep {
        let (fire, invocation) = (&self.fire, &mut *self.invocation);
        let watch = fire.watch(entry);
        // Before observers are notified of the poll, as of a first one.
        invocation.enter_pending(entry);
        let step = call.poll(fire, entry, || invocation.resume(node, watch));
        call.ended(self.invocation.take_answered());
        step
    }

    #[inline]
    fn settle_pending(
        &mut self,
        handler: &HandlerRef,
        call: &mut CallRecord,
        step: CallStep,
        late: Option<FailureKind>,
    ) -> Settled {
        match late {
            Some(kind) => self.fail(handler, call, kind),
            None => self.settle(handler, call, step),
        }
    }
}
