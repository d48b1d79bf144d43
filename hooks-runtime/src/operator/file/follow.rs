//! A file that is loaded again whenever it changes.

use std::future::{Future, poll_fn};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use crate::engine::containment::contained;
use crate::observe::log;
use crate::operator::Operator;
use crate::operator::file::error::FileError;
use crate::operator::file::outcome::Loaded;
use crate::operator::file::{SettingsFile, bytes_of};
use crate::registry::Inner;
use crate::timer::{Deadline, Timer};

/// How often a file is looked at unless it is said.
const EVERY: Duration = Duration::from_secs(2);
/// More often would be no better than this.
const SHORTEST: Duration = Duration::from_millis(10);
/// How long a content has to stay the same before it counts: one that is being written, or
/// a file between its removal and its return, does not.
const SETTLED: Duration = Duration::from_millis(100);

/// A file that is to be loaded again whenever it changes: see
/// [`Operator::follow`].
///
/// The example of [`Operator::follow`] runs one.
#[must_use = "nothing is read before `run` is awaited"]
#[derive(Debug)]
pub struct Follow {
    operator: Operator,
    path: PathBuf,
    every: Duration,
}

/// What was found at the path.
#[derive(Clone, Debug, PartialEq)]
enum Content {
    Bytes(Vec<u8>),
    Unreadable(io::ErrorKind, String),
}

impl Follow {
    pub(super) fn new(operator: Operator, path: PathBuf) -> Self {
        Self { operator, path, every: EVERY }
    }

    /// How often the file is looked at: every two seconds by default, at most every ten
    /// milliseconds.
    ///
    /// The example of [`Operator::follow`] sets it.
    pub fn every(mut self, time: Duration) -> Self {
        self.every = time.max(SHORTEST);
        self
    }

    /// Loads the file, and again whenever its bytes change. Each outcome is handed to
    /// `each`: what was changed, or why nothing was. A panic in `each` is contained, and
    /// logged.
    ///
    /// The future ends at its next look once the registry is gone, which it does not keep
    /// alive, or where there is no timer: the last outcome is then [`FileError::NoTimer`].
    ///
    /// The example of [`Operator::follow`] runs it.
    pub fn run<F>(self, each: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: FnMut(Result<Loaded, FileError>) + Send,
    {
        let Self { operator, path, every } = self;
        // The registry is not kept alive by the one that waits for its file to change.
        let timer = Arc::clone(&operator.inner.config.timer);
        let registry = Arc::downgrade(&operator.inner);
        async move { follow(registry, timer, path, every, each).await }
    }
}

async fn follow<F>(
    registry: Weak<Inner>,
    timer: Arc<dyn Timer>,
    path: PathBuf,
    every: Duration,
    mut each: F,
) where
    F: FnMut(Result<Loaded, FileError>) + Send,
{
    let name = path.display().to_string();
    let mut hand_over = |outcome: Result<Loaded, FileError>| {
        if let Err(message) = contained(|| each(outcome)) {
            log::follower_panicked(&message);
        }
    };
    // The content that was handed over, and the one that was there at the last look.
    let (mut known, mut last) = (None, None);
    loop {
        let content = Some(Content::read(&path));
        let is_settled = known.is_none() || last == content;
        let pause = if known == content {
            every
        } else if is_settled {
            let Some(inner) = registry.upgrade() else { return };
            let outcome = content.as_ref().map(|content| content.load(&name, &inner));
            drop(inner);
            outcome.map(&mut hand_over);
            known.clone_from(&content);
            every
        } else {
            every.min(SETTLED)
        };
        last = content;
        if !wait(pause, &*timer).await {
            return hand_over(Err(refused(FileError::NoTimer { file: name.clone() })));
        }
        if registry.strong_count() == 0 {
            return;
        }
    }
}

/// Notes in the log that a file was refused.
fn refused(error: FileError) -> FileError {
    log::file_refused(&error);
    error
}

impl Content {
    fn read(path: &std::path::Path) -> Self {
        match bytes_of(path) {
            Ok(bytes) => Self::Bytes(bytes),
            Err(error) => Self::Unreadable(error.kind(), error.to_string()),
        }
    }

    fn load(&self, name: &str, registry: &Inner) -> Result<Loaded, FileError> {
        let loaded = match self {
            Self::Bytes(bytes) => registry.load_file(&SettingsFile::of(Some(name), bytes)),
            Self::Unreadable(kind, problem) => Err(FileError::Unreadable {
                file: name.to_owned(),
                kind: *kind,
                problem: problem.clone(),
            }),
        };
        loaded.map_err(refused)
    }
}

/// Waits, and gives other tasks a turn even if the timer does not. `false` where there is
/// no timer.
async fn wait(time: Duration, timer: &dyn Timer) -> bool {
    let Some(mut deadline) = Deadline::after(time, timer) else { return false };
    let (mut is_over, mut has_yielded) = (false, false);
    poll_fn(|task| {
        if !is_over {
            match deadline.poll(task) {
                None => return Poll::Ready(false),
                Some(Poll::Ready(())) => is_over = true,
                Some(Poll::Pending) => {
                    has_yielded = true;
                    return Poll::Pending;
                }
            }
        }
        if has_yielded {
            return Poll::Ready(true);
        }
        has_yielded = true;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
