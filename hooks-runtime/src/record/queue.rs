//! What waits between fires and the writer. A fire never waits here: what does not fit is
//! dropped, and counted.

use std::collections::VecDeque;
use std::mem;
use std::sync::PoisonError;
use std::task::{Poll, Waker};

use super::ended::EndedFire;
use super::format::{DroppedLine, LineKind, LossReason};
use super::recording::RecordSummary;
use crate::engine::containment::{contained, drop_contained};
use crate::observe::log;
use crate::sync::{Mutex, MutexGuard};

/// So many bytes wait at most, however few fires they are.
const MOST_BYTES: usize = 64 * 1_024 * 1_024;
/// What a line is about, beside its values.
const LINE_BYTES: usize = 512;

/// A line before it has a number.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) generation: u64,
    pub(super) at_ns: u64,
    pub(super) kind: LineKind,
}

/// Lines that are written together or not at all.
#[derive(Debug)]
pub(super) struct Batch {
    lines: Lines,
    bytes: usize,
}

#[derive(Debug)]
enum Lines {
    Fire(Box<EndedFire>),
    State(Vec<Pending>),
}

impl Batch {
    /// A fire with its calls, whose values are about so many bytes.
    pub(super) fn fire(ended: EndedFire, bytes: usize) -> Self {
        let bytes = bytes.saturating_add(ended.len() * LINE_BYTES);
        Self { lines: Lines::Fire(Box::new(ended)), bytes }
    }

    /// What has to be known to understand the fires after it.
    pub(super) fn state(lines: Vec<Pending>) -> Self {
        Self { lines: Lines::State(lines), bytes: 0 }
    }

    pub(super) fn fires(&self) -> u64 {
        u64::from(self.is_fire())
    }

    fn is_fire(&self) -> bool {
        matches!(self.lines, Lines::Fire(_))
    }

    /// The generation and the time of its first line, and how many lines it is.
    pub(super) fn begins(&self) -> Option<(u64, u64, usize)> {
        match &self.lines {
            Lines::Fire(fire) => Some((fire.generation, fire.at_ns, fire.len())),
            Lines::State(lines) => {
                lines.first().map(|line| (line.generation, line.at_ns, lines.len()))
            }
        }
    }

    pub(super) fn into_lines(self) -> Vec<Pending> {
        match self.lines {
            Lines::Fire(fire) => fire.into_lines(),
            Lines::State(lines) => lines,
        }
    }

    /// What it says was dropped, where it says nothing else.
    fn dropped(&mut self) -> Option<&mut DroppedLine> {
        let Lines::State(lines) = &mut self.lines else { return None };
        match &mut lines[..] {
            [Pending { kind: LineKind::Dropped(dropped), .. }] => Some(dropped),
            _ => None,
        }
    }
}

/// The queue between fires and the writer of a recording.
#[derive(Debug)]
pub(super) struct Queue {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<Batch>,
    fires: usize,
    bytes: usize,
    /// How many batches were ever added, and how many of them are written.
    added: u64,
    written: u64,
    is_closed: bool,
    /// Whether nothing is written any more.
    has_ended: bool,
    writer: Option<Waker>,
    waiting: Vec<Waker>,
    /// How many fires never came to the writer.
    dropped: u64,
    /// What the writer has come to.
    summary: RecordSummary,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a batch, or drops it and says so in its place. The waker is the writer's.
    pub(super) fn add(&self, batch: Batch) -> Wake {
        let (wake, dropped) = {
            let mut state = self.state();
            let dropped = state.add(batch, self.most);
            (Wake(state.writer.take().into_iter().collect()), dropped)
        };
        // Its values are plain, but there may be many.
        drop(dropped);
        wake
    }

    /// Nothing more is added.
    pub(super) fn close(&self) -> Wake {
        let mut state = self.state();
        state.is_closed = true;
        Wake(state.writer.take().into_iter().collect())
    }

    /// Takes some of what waits, in order; `None` once there is nothing and nothing more
    /// comes.
    pub(super) fn poll_take(&self, waker: &Waker, most: usize) -> Poll<Option<Vec<Batch>>> {
        // Cloned and dropped outside the lock: both are the executor's code.
        let mut new = Some(waker.clone());
        let polled = {
            let mut state = self.state();
            let taken = state.take(most);
            match taken {
                batches if !batches.is_empty() => Poll::Ready(Some(batches)),
                _ if state.is_closed => Poll::Ready(None),
                _ => {
                    mem::swap(&mut state.writer, &mut new);
                    Poll::Pending
                }
            }
        };
        drop_contained("a waker", new);
        polled
    }

    /// So many batches were written, or lost; what the recording has come to.
    pub(super) fn wrote(&self, batches: usize, summary: &RecordSummary) -> Wake {
        let mut state = self.state();
        state.written += batches as u64;
        state.summary.clone_from(summary);
        Wake(mem::take(&mut state.waiting))
    }

    /// Nothing is written any more.
    pub(super) fn end(&self) -> Wake {
        let (wake, left) = {
            let mut state = self.state();
            (state.is_closed, state.has_ended) = (true, true);
            let left = mem::take(&mut state.batches);
            state.dropped += left.iter().map(Batch::fires).sum::<u64>();
            (Wake(mem::take(&mut state.waiting)), left)
        };
        drop(left);
        wake
    }

    pub(super) fn summary(&self) -> RecordSummary {
        self.state().summary()
    }

    /// How many fires never came to the writer.
    pub(super) fn dropped(&self) -> u64 {
        self.state().dropped
    }

    /// How many batches were added so far.
    pub(super) fn added(&self) -> u64 {
        self.state().added
    }

    /// Waits until so many batches are written, or until nothing is written any more.
    pub(super) fn poll_written(&self, batches: Option<u64>, waker: &Waker) -> Poll<RecordSummary> {
        let mut new = Some(waker.clone());
        let polled = {
            let mut state = self.state();
            if state.has_ended || batches.is_some_and(|batches| state.written >= batches) {
                Poll::Ready(state.summary())
            } else {
                // One that is polled again waits already.
                if !state.waiting.iter().any(|known| known.will_wake(waker)) {
                    state.waiting.extend(new.take());
                }
                Poll::Pending
            }
        };
        drop_contained("a waker", new);
        polled
    }
}

impl State {
    /// Adds a batch. What is dropped comes back.
    fn add(&mut self, batch: Batch, most: usize) -> Option<Batch> {
        if self.is_closed {
            self.dropped += batch.fires();
            return Some(batch);
        }
        // What is not a fire has to be known to understand the rest.
        let fits = self.fires < most && self.bytes.saturating_add(batch.bytes) <= MOST_BYTES;
        if batch.is_fire() && !fits {
            self.dropped += 1;
            self.note_dropped(&batch);
            return Some(batch);
        }
        if !batch.is_fire() {
            self.push_state(batch, most);
            return None;
        }
        self.fires += 1;
        self.bytes += batch.bytes;
        self.added += 1;
        self.batches.push_back(batch);
        None
    }

    /// Adds a batch that is no fire. Where more waits than there may be fires, it takes the
    /// place of what it makes out of date, which would pile up where nobody writes: no fire is
    /// recorded in between that would need it.
    fn push_state(&mut self, batch: Batch, most: usize) {
        let (mut removed, waiting) = (0, self.batches.len());
        let within = if waiting < most { 0..0 } else { 0..waiting };
        for at in within.rev() {
            let older = &mut self.batches[at];
            let (Lines::State(old), Lines::State(new)) = (&mut older.lines, &batch.lines) else {
                break;
            };
            old.retain(|line| !new.iter().any(|new| is_newer(new, line)));
            if old.is_empty() {
                self.batches.remove(at);
                removed += u64::from(self.join_dropped(at)) + 1;
            }
        }
        // A flush that waits for what was removed waits for what is in its place.
        match removed {
            0 => self.added += 1,
            _ => self.written += removed - 1,
        }
        self.batches.push_back(batch);
    }

    /// Counts fires together that were dropped before and after what was removed from there.
    fn join_dropped(&mut self, at: usize) -> bool {
        let Some(later) = self.batches.get_mut(at).and_then(Batch::dropped) else { return false };
        let DroppedLine { fires, lines, .. } = *later;
        let before = at.checked_sub(1).and_then(|before| self.batches.get_mut(before));
        let Some(before) = before.and_then(Batch::dropped) else { return false };
        before.fires += fires;
        before.lines += lines;
        self.batches.remove(at);
        true
    }

    /// Says in the queue that a fire was dropped here.
    fn note_dropped(&mut self, batch: &Batch) {
        let Some((generation, at_ns, lines)) = batch.begins() else { return };
        let lines = lines as u64;
        if let Some(dropped) = self.batches.back_mut().and_then(Batch::dropped) {
            dropped.fires += 1;
            dropped.lines += lines;
            return;
        }
        let dropped = DroppedLine { fires: 1, lines, why: LossReason::QueueFull };
        let kind = LineKind::Dropped(dropped);
        let line = Pending { generation, at_ns, kind };
        self.added += 1;
        self.batches.push_back(Batch::state(vec![line]));
    }

    fn summary(&self) -> RecordSummary {
        let mut summary = self.summary.clone();
        summary.dropped += self.dropped;
        summary
    }

    fn take(&mut self, most: usize) -> Vec<Batch> {
        let most = most.min(self.batches.len());
        let taken: Vec<_> = self.batches.drain(..most).collect();
        for batch in &taken {
            self.fires -= usize::from(batch.is_fire());
            self.bytes -= batch.bytes;
        }
        taken
    }
}

/// Whether a line says what another said of the same, as it is now.
fn is_newer(new: &Pending, line: &Pending) -> bool {
    match (&new.kind, &line.kind) {
        (LineKind::Handlers(new), LineKind::Handlers(line)) => new.point == line.point,
        (LineKind::Breaker(new), LineKind::Breaker(line)) => {
            new.handler == line.handler && new.shadow == line.shadow
        }
        _ => false,
    }
}

/// Those that are to be woken, outside of every lock.
#[must_use = "nobody is woken otherwise"]
pub(super) struct Wake(Vec<Waker>);

impl Wake {
    pub(super) fn wake(self) {
        for waker in self.0 {
            if let Err(message) = contained(|| waker.wake()) {
                log::waker_panicked(&message);
            }
        }
    }
}
