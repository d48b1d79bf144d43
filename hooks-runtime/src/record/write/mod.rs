//! The writer of a recording, which the host runs.

mod files;
mod known;

use std::fmt;
use std::future::poll_fn;
use std::io::{self, Write};
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

use super::format::{DroppedLine, EndLine, Header, Line, LineKind, LossReason, VERSION};
use super::queue::{Batch, Pending};
use super::recording::RecordSummary;
use super::slot::RecordingState;
use crate::engine::containment::contained;
use crate::observe::log;
use crate::registry::Inner;
pub(super) use files::FileLimits;
use files::Files;
use known::Known;

/// So many fires are written before others have a turn.
const TURN: usize = 128;

/// Where a recording goes to.
pub(super) enum Output {
    Files(Files),
    Writer {
        writer: Box<dyn Write + Send>,
        /// Whether the header was written, and all that came after it.
        has_begun: bool,
        /// Whether the last line may be torn.
        is_torn: bool,
    },
}

/// Writes a recording: a future that the host runs, in a task or on a thread of its own.
///
/// It writes with blocking calls, a few fires at a time: where the disk may be slow, give it
/// a thread. It ends when the [`Recording`](super::Recording) is closed or dropped, or with its
/// registry. Dropped before that, with its task or its runtime, it writes what waits then,
/// as well as it can, and the recording has ended.
///
/// ```
/// # use hooks_runtime::HookRegistry;
/// # use hooks_runtime::record::Recorder;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let (recording, writer) = Recorder::into_writer(std::io::sink()).start(&hooks)?;
/// let thread = std::thread::spawn(|| futures::executor::block_on(writer.run()));
/// let summary = recording.close().await;
/// assert_eq!((summary.lines, summary.fires), (2, 0)); // the header and the end
/// # thread.join().unwrap();
/// # Ok(()) }
/// ```
#[must_use = "nothing is written before `run` is awaited"]
pub struct RecordWriter {
    state: Arc<RecordingState>,
    output: Output,
    known: Known,
    seq: u64,
    summary: RecordSummary,
    /// What could not be written since the last time that something could.
    lost: Option<DroppedLine>,
    generation: u64,
    has_ended: bool,
    registry: Weak<Inner>,
}

impl Output {
    pub(super) fn files(path: PathBuf, limits: FileLimits) -> Self {
        Self::Files(Files::new(path, limits))
    }

    pub(super) fn writer(writer: Box<dyn Write + Send>) -> Self {
        Self::Writer { writer, has_begun: false, is_torn: false }
    }

    /// Whether a new file is to be begun, once so many bytes more are written.
    fn is_due(&self, now_ns: u64, bytes: usize) -> bool {
        match self {
            Self::Files(files) => files.is_due(now_ns, bytes),
            Self::Writer { has_begun, .. } => !has_begun,
        }
    }

    /// Begins a new file.
    fn begin(&mut self, now_ns: u64) -> io::Result<()> {
        match self {
            Self::Files(files) => files.begin(now_ns),
            Self::Writer { has_begun, .. } => {
                *has_begun = true;
                Ok(())
            }
        }
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Files(files) => files.write(text),
            Self::Writer { writer, has_begun, is_torn } => {
                let was_torn = mem::replace(is_torn, true);
                // Code of the host.
                let written = contained(|| {
                    if was_torn {
                        writer.write_all(b"\n")?;
                    }
                    writer.write_all(text)?;
                    writer.flush()
                });
                let written = written.unwrap_or_else(|message| {
                    Err(io::Error::other(format!("the writer panicked: {message}")))
                });
                *is_torn = written.is_err();
                *has_begun &= written.is_ok();
                written
            }
        }
    }
}

/// Lines that are written at once.
#[derive(Default)]
struct Buffer {
    text: Vec<u8>,
    lines: u64,
    fires: u64,
    /// Why no file could be begun for it.
    problem: Option<io::Error>,
    /// What it says that was lost before.
    lost: Option<DroppedLine>,
    /// Whether it begins a file.
    is_first: bool,
}

impl RecordWriter {
    /// The writer of a recording, whose first line is written.
    pub(super) fn new(
        state: Arc<RecordingState>,
        output: Output,
        (header, generation): (Header, u64),
        registry: Weak<Inner>,
    ) -> Result<Self, String> {
        let (known, summary) = (Known::new(header), RecordSummary::default());
        let (seq, lost, has_ended) = (0, None, false);
        let mut new =
            Self { state, output, known, seq, summary, lost, generation, has_ended, registry };
        let (mut buffer, now_ns) = (Buffer::default(), new.state.now_ns());
        new.begin(&mut buffer, now_ns);
        if let Err(error) = new.write(&buffer) {
            new.has_ended = true;
            return Err(error.to_string());
        }
        new.wrote(&buffer);
        new.state.queue.wrote(0, &new.summary).wake();
        Ok(new)
    }

    /// Writes until the recording has ended. What it has come to.
    ///
    /// The example of [`Recorder`](super::Recorder) spawns it.
    pub async fn run(mut self) -> RecordSummary {
        let state = Arc::clone(&self.state);
        while let Some(batches) = poll_fn(|task| state.queue.poll_take(task.waker(), TURN)).await {
            self.write_all(batches);
            yield_now().await;
        }
        self.finish();
        state.queue.summary()
    }

    fn write_all(&mut self, batches: Vec<Batch>) {
        let (count, mut buffer) = (batches.len(), Buffer::default());
        for batch in batches {
            let now_ns = batch.begins().map_or(0, |(_, at_ns, _)| at_ns);
            if buffer.problem.is_none() && self.output.is_due(now_ns, buffer.text.len()) {
                self.put(mem::take(&mut buffer));
            }
            if buffer.text.is_empty() {
                self.begin(&mut buffer, now_ns);
            }
            buffer.fires += batch.fires();
            for line in batch.into_lines() {
                self.known.note(&line.kind);
                self.generation = line.generation;
                self.add(&mut buffer, line);
            }
        }
        self.put(buffer);
        self.state.queue.wrote(count, &self.summary).wake();
    }

    /// What comes first: the header where a file begins, and what was lost before.
    fn begin(&mut self, buffer: &mut Buffer, at_ns: u64) {
        let generation = self.generation;
        if self.output.is_due(at_ns, 0) {
            buffer.is_first = true;
            buffer.problem = self.output.begin(at_ns).err();
            let kind = LineKind::Header(self.known.header(self.summary.files));
            self.add(buffer, Pending { generation, at_ns, kind });
        }
        if let Some(lost) = self.lost.take() {
            buffer.lost = Some(lost.clone());
            let kind = LineKind::Dropped(lost);
            self.add(buffer, Pending { generation, at_ns, kind });
        }
    }

    fn add(&mut self, buffer: &mut Buffer, line: Pending) {
        let Pending { generation, at_ns, kind } = line;
        let run = self.state.run.clone();
        let line = Line { v: VERSION, run, seq: self.seq, generation, at_ns, kind };
        buffer.text.extend_from_slice(line.to_json().as_bytes());
        buffer.text.push(b'\n');
        buffer.lines += 1;
        self.seq += 1;
    }

    fn write(&mut self, buffer: &Buffer) -> io::Result<()> {
        match &buffer.problem {
            Some(problem) => Err(io::Error::new(problem.kind(), problem.to_string())),
            None => self.output.write(&buffer.text),
        }
    }

    /// Writes it, or notes that it is lost.
    fn put(&mut self, buffer: Buffer) {
        if buffer.text.is_empty() {
            return;
        }
        let Err(error) = self.write(&buffer) else { return self.wrote(&buffer) };
        let problem = error.to_string();
        if buffer.lost.is_none() {
            // Once, until something can be written again.
            log::recording_failed(&self.state.run, &problem);
        }
        self.summary.dropped += buffer.fires;
        self.summary.failures += 1;
        self.summary.problem = Some(problem.clone());
        let why = LossReason::Io { problem };
        let Buffer { lines, fires, lost, .. } = buffer;
        let lost = lost.unwrap_or(DroppedLine { fires: 0, lines: 0, why });
        let (fires, lines) = (lost.fires + fires, lost.lines + lines);
        self.lost = Some(DroppedLine { fires, lines, why: lost.why });
    }

    fn wrote(&mut self, buffer: &Buffer) {
        self.summary.lines += buffer.lines;
        self.summary.fires += buffer.fires;
        self.summary.bytes += buffer.text.len() as u64;
        self.summary.files += u32::from(buffer.is_first);
    }

    /// Nothing more comes: the last line.
    fn finish(&mut self) {
        self.has_ended = true;
        if let Some(registry) = self.registry.upgrade() {
            registry.end_recording(&self.state);
        }
        let (mut buffer, at_ns) = (Buffer::default(), self.state.now_ns());
        self.begin(&mut buffer, at_ns);
        let dropped = self.summary.dropped + self.state.queue.dropped();
        let RecordSummary { lines, fires, .. } = self.summary;
        let kind = LineKind::End(EndLine { lines: lines + buffer.lines, fires, dropped });
        self.add(&mut buffer, Pending { generation: self.generation, at_ns, kind });
        self.put(buffer);
        self.state.queue.wrote(0, &self.summary).wake();
        self.state.queue.end().wake();
    }
}

/// What waits is written, as well as that can be done without waiting.
impl Drop for RecordWriter {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let state = Arc::clone(&self.state);
        state.close();
        while let Poll::Ready(Some(batches)) = state.queue.poll_take(Waker::noop(), TURN) {
            self.write_all(batches);
        }
        self.finish();
    }
}

impl fmt::Debug for RecordWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordWriter").field("run", &self.state.run).finish_non_exhaustive()
    }
}

/// Gives other tasks a turn.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|task| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
