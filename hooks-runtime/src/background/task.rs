//! One fire in the background, as the runtime polls it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::background::tasks::Ticket;
use crate::engine::nesting::Inherited;
use crate::error::FireError;
use crate::observe::{log, logs_failures};
use crate::plugin::scope::ScopedHooks;
use crate::point::PointDescriptor;

type Fire = Pin<Box<dyn Future<Output = Result<(), FireError>> + Send>>;

/// A fire that is counted as under way in the background, and the fires that it was
/// made in.
pub(super) struct Task {
    chain: Inherited,
    point: &'static PointDescriptor,
    ticket: Ticket,
}

impl Task {
    /// A fire of that point that is about to be handed over.
    pub(super) fn begin(hooks: &ScopedHooks, point: &'static PointDescriptor) -> Self {
        Self::with(point, Ticket::take(&hooks.inner))
    }

    /// The same, unless so many are under way.
    pub(super) fn begin_within(
        hooks: &ScopedHooks,
        point: &'static PointDescriptor,
        limit: usize,
    ) -> Option<Self> {
        Some(Self::with(point, Ticket::take_within(&hooks.inner, limit)?))
    }

    fn with(point: &'static PointDescriptor, ticket: Ticket) -> Self {
        Self { chain: Inherited::of(point, ticket.id()), point, ticket }
    }

    /// The future that the runtime polls.
    pub(super) fn firing(self, fire: Fire) -> Firing {
        Firing { fire: Some(fire), task: self }
    }
}

/// A fire in the background. While it is polled or dropped, the fires that it was made
/// in are on the chain.
pub(super) struct Firing {
    /// `None` once it has ended.
    fire: Option<Fire>,
    task: Task,
}

impl Future for Firing {
    type Output = Result<(), FireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { fire, task } = &mut *self;
        task.chain.within(|| {
            let Some(polled) = fire.as_mut() else { return Poll::Pending };
            let ended = polled.as_mut().poll(cx);
            if let Poll::Ready(ended) = &ended {
                *fire = None;
                task.report(ended);
            }
            ended
        })
    }
}

impl Drop for Firing {
    fn drop(&mut self) {
        let Self { fire, task } = self;
        if fire.is_some() {
            task.chain.within(|| *fire = None);
        }
    }
}

impl Task {
    /// An error that is no handler's has been reported nowhere else, and the handle may
    /// have been dropped.
    fn report(&self, ended: &Result<(), FireError>) {
        if let Err(error) = ended
            && error.failure().is_none()
            && logs_failures(self.ticket.observers())
        {
            log::background_failed(self.point, error);
        }
    }
}
