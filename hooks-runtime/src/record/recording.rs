//! A recording under way.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Weak};

use super::slot::RecordingState;
use crate::registry::Inner;

/// A recording under way. Dropping it ends the recording: the writer then writes what
/// waits, and ends too.
///
/// A recording does not keep its registry: when that is gone, the recording has ended.
///
/// ```
/// # use hooks_runtime::HookRegistry;
/// # use hooks_runtime::record::{Recorder, Recording};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let recorder = Recorder::into_writer(std::io::sink()).run("build 7");
/// let (recording, writer) = recorder.start(&hooks)?;
/// let recording: Recording = recording;
/// assert_eq!(recording.run(), "build 7");
/// assert_eq!(recording.summary().lines, 1); // the header
/// tokio::spawn(writer.run());
/// assert_eq!(recording.close().await.lines, 2); // and the end
/// # Ok(()) }
/// ```
#[must_use = "a recording ends when it is dropped"]
pub struct Recording {
    pub(super) state: Arc<RecordingState>,
    pub(super) registry: Weak<Inner>,
}

/// What a recording has come to.
///
/// The example of [`Recorder`](super::Recorder) looks at one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// How many lines were written.
    pub lines: u64,
    /// How many fires are among them.
    pub fires: u64,
    /// How many fires were not written, because the queue was full, because they could not be
    /// written, or because they came after the writer had ended.
    pub dropped: u64,
    /// How many files were begun.
    pub files: u32,
    /// How many bytes were written.
    pub bytes: u64,
    /// How often writing failed.
    pub failures: u64,
    /// What the system said the last time.
    pub problem: Option<String>,
}

impl Recording {
    /// The name of the run, which every line has.
    pub fn run(&self) -> &str {
        &self.state.run
    }

    /// What it has come to so far. What was not written yet is not counted.
    pub fn summary(&self) -> RecordSummary {
        self.state.queue.summary()
    }

    /// Waits until what was recorded so far has been handed to the operating system, or
    /// counted as lost. Needs the writer to run.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Rang { bell: u32 } }
    /// # use hooks_runtime::record::Recorder;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let (recording, writer) = Recorder::into_writer(std::io::sink()).start(&hooks)?;
    /// tokio::spawn(writer.run());
    /// hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await?;
    /// assert_eq!(recording.flush().await.fires, 1);
    /// # Ok(()) }
    /// ```
    pub async fn flush(&self) -> RecordSummary {
        let added = self.state.queue.added();
        poll_fn(|task| self.state.queue.poll_written(Some(added), task.waker())).await
    }

    /// Ends the recording, and waits until the writer has written what waits and has
    /// ended.
    ///
    /// Without anyone who runs the writer this waits for ever. A writer that was dropped has
    /// ended.
    ///
    /// The example of [`Recorder`](super::Recorder) closes one.
    pub async fn close(self) -> RecordSummary {
        self.stop();
        poll_fn(|task| self.state.queue.poll_written(None, task.waker())).await
    }

    fn stop(&self) {
        if let Some(registry) = self.registry.upgrade() {
            registry.end_recording(&self.state);
        }
        self.state.close();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("run", &self.run()).finish_non_exhaustive()
    }
}
