//! How a recording is asked for.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::capture::CapturePolicy;
use super::error::RecordError;
use super::queue::Queue;
use super::recording::Recording;
use super::slot::RecordingState;
use super::write::{FileLimits, Output, RecordWriter};
use crate::catalogue::Catalogue;
use crate::engine::raw::Contained;
use crate::operator::target::glob;
use crate::point::PointDescriptor;
use crate::registry::HookRegistry;
use crate::suggest::nearest;
use crate::timer::system_now;

/// So many fires wait for the writer, unless the recorder says otherwise.
const QUEUE: usize = 4_096;
/// So many bytes of a value are written, unless the recorder says otherwise.
const VALUE_BYTES: u64 = 64 * 1_024;

/// Asks for a recording: where to, what of it, and how much.
///
/// A fire that is recorded puts what was captured of it into a queue when it ends. The writer
/// is a future of the host, which makes lines of that and writes them: nothing here has a
/// thread of its own, and no fire waits for a disk.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
/// use hooks_runtime::record::{CapturePolicy, Reader, Recorder};
///
/// hook_points! {
///     #![hook(json = "camelCase", catalogue = pub fn points)]
///     /// Before a message leaves.
///     pub gating Sending { text: String }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("hooks-recorder-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("day.jsonl");
/// let hooks = HookRegistry::new();
/// hooks.register(on::<Sending>().name("short").guard(|message: &SendingPayload| {
///     if message.text.len() < 9 { Judgement::Pass } else { Judgement::reject("too long") }
/// }))?;
///
/// let recorder = Recorder::to(&path).catalogue(&points()).capture("*", CapturePolicy::Full);
/// let (recording, writer) = recorder.start(&hooks)?;
/// let writing = tokio::spawn(writer.run());
/// for text in ["hello", "hello world"] {
///     let _ = hooks.fire_gating::<Sending>(SendingPayload { text: text.into() }).await?;
/// }
/// let summary = recording.close().await;
/// assert_eq!((summary.fires, summary.dropped), (2, 0));
/// # writing.await?;
///
/// let fires: Vec<_> = Reader::open(&path)?.fires().collect::<Result<_, _>>()?;
/// assert_eq!(fires[0].fire.payload.value().unwrap()["text"], "hello");
/// assert_eq!((&*fires[1].fire.outcome, &*fires[1].calls[0].handler), ("rejected", "short"));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(()) }
/// ```
///
/// What is not asked for is not in a recording: without [`capture`](Self::capture) it has
/// nothing of any value. The reasons of rejections and the messages of failures are in it as
/// they are in the log, unless the policy of their point redacts them.
///
/// A fire in its lazy form, such as `fire_void_with`, at a point without handlers has no
/// payload and is not recorded, as it is not observed. A registry has one recording at a
/// time.
#[must_use = "nothing is recorded before `start`"]
pub struct Recorder {
    to: To,
    run: Option<String>,
    catalogues: Vec<Catalogue>,
    only: Vec<String>,
    policies: Vec<(String, CapturePolicy)>,
    queue: usize,
    value_bytes: u64,
    limits: FileLimits,
    clock: Option<Box<dyn Fn() -> SystemTime + Send + Sync>>,
}

enum To {
    Files(PathBuf),
    Writer(Box<dyn Write + Send>),
}

impl Recorder {
    /// To a file of that name, and where that is full, to `path.1`, `path.2` and so on. No
    /// file is ever overwritten or appended to: where there is one, the recording begins with
    /// the next number.
    pub fn to(path: impl Into<PathBuf>) -> Self {
        Self::new(To::Files(path.into()))
    }

    /// To anything else that can be written to, without a limit.
    ///
    /// The example of [`Recording::flush`] has one.
    pub fn into_writer(writer: impl Write + Send + 'static) -> Self {
        Self::new(To::Writer(Box::new(writer)))
    }

    fn new(to: To) -> Self {
        Self {
            to,
            run: None,
            catalogues: Vec::new(),
            only: Vec::new(),
            policies: Vec::new(),
            queue: QUEUE,
            value_bytes: VALUE_BYTES,
            limits: FileLimits::default(),
            clock: None,
        }
    }

    /// The points whose values can be recorded: those that the catalogue has with JSON.
    /// Several add to each other.
    pub fn catalogue(mut self, catalogue: &Catalogue) -> Self {
        self.catalogues.push(catalogue.clone());
        self
    }

    /// What of the values is recorded at the points of that wire name, in which `*` stands
    /// for any text. Of several that fit, the last one counts; where none does, nothing is
    /// recorded of them. The name of a flow is for its stages as well.
    ///
    /// What no [`catalogue`](Self::catalogue) with JSON has cannot be captured: to ask for it
    /// is an error.
    ///
    /// The example of [`CapturePolicy`] has some.
    pub fn capture(mut self, point: impl Into<String>, policy: CapturePolicy) -> Self {
        self.policies.push((point.into(), policy));
        self
    }

    /// Only fires of the points of that wire name, in which `*` stands for any text. Several
    /// add to each other. The name of a flow is for its stages as well.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void DoorOpened { door: u32 }  pub void Rang { bell: u32 } }
    /// # use hooks_runtime::record::Recorder;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.fire_void::<DoorOpened>(&DoorOpenedPayload { door: 1 }).await?;
    /// let doors = Recorder::into_writer(std::io::sink()).only("door_*");
    /// let (recording, writer) = doors.start(&hooks)?;
    /// hooks.fire_void::<DoorOpened>(&DoorOpenedPayload { door: 1 }).await?;
    /// hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await?;
    /// drop(writer);
    /// assert_eq!(recording.close().await.fires, 1);
    ///
    /// let typo = Recorder::into_writer(std::io::sink()).only("door_opend").start(&hooks);
    /// assert_eq!(typo.unwrap_err().to_string(), "no hook point is `door_opend`; did you mean `door_opened`?");
    /// # Ok(()) }
    /// ```
    pub fn only(mut self, point: impl Into<String>) -> Self {
        self.only.push(point.into());
        self
    }

    /// The name of the run, which every line has. By default it is made from the time and the
    /// number of the process.
    ///
    /// ```
    /// # use hooks_runtime::HookRegistry;
    /// # use hooks_runtime::record::Recorder;
    /// # let hooks = HookRegistry::new();
    /// let (recording, _writer) = Recorder::into_writer(std::io::sink()).run("build 7").start(&hooks)?;
    /// assert_eq!(recording.run(), "build 7");
    /// # Ok::<_, hooks_runtime::record::RecordError>(())
    /// ```
    pub fn run(mut self, name: impl Into<String>) -> Self {
        self.run = Some(name.into());
        self
    }

    /// How many fires wait for the writer: 4,096 by default. Past that, or past 64 MiB of
    /// values, a fire is dropped, counted, and the recording says so in its place.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::record::Recorder;
    /// let recorder = Recorder::to("day.jsonl")
    ///     .queue(1_000)
    ///     .value_bytes(4_096)
    ///     .max_bytes(10_000_000)
    ///     .max_age(Duration::from_secs(24 * 3_600))
    ///     .max_files(7);
    /// # drop(recorder);
    /// ```
    pub fn queue(mut self, fires: usize) -> Self {
        self.queue = fires;
        self
    }

    /// How many bytes of JSON one value may have: 65,536 by default. A longer one is not
    /// recorded, and a longer text is cut.
    ///
    /// The example of [`queue`](Self::queue) has each limit.
    pub fn value_bytes(mut self, bytes: u64) -> Self {
        self.value_bytes = bytes;
        self
    }

    /// How large a file becomes before the next one is begun: 64 MiB by default. A fire is
    /// never divided between two.
    ///
    /// The example of [`queue`](Self::queue) has each limit.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// How old a file becomes before the next one is begun, which is looked at when something
    /// is written: any age by default.
    ///
    /// The example of [`queue`](Self::queue) has each limit.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.limits.age = Some(age);
        self
    }

    /// How many files of that name there are: 16 by default. When one more is begun, the
    /// oldest is removed, also one of an earlier run.
    ///
    /// The example of [`queue`](Self::queue) has each limit.
    pub fn max_files(mut self, files: usize) -> Self {
        self.limits.files = files;
        self
    }

    /// The clock that tells the times in the lines, in place of the system's. How long
    /// something took is measured all the same.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use hooks_runtime::HookRegistry;
    /// # use hooks_runtime::record::Recorder;
    /// # let hooks = HookRegistry::new();
    /// let recorder = Recorder::into_writer(std::io::sink()).clock(|| SystemTime::UNIX_EPOCH);
    /// # drop(recorder);
    /// ```
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(now));
        self
    }

    /// Begins the recording: fires that begin from now on are part of it, once the writer
    /// runs.
    pub fn start(self, hooks: &HookRegistry) -> Result<(Recording, RecordWriter), RecordError> {
        self.check(hooks)?;
        let Self { to, run, catalogues, only, policies, queue, value_bytes, limits, clock } = self;
        let state = Arc::new(RecordingState {
            run: run.unwrap_or_else(new_run),
            queue: Queue::new(queue),
            catalogues,
            only,
            policies,
            value_bytes,
            clock: clock.map(Contained::new),
        });
        let (output, path) = match to {
            To::Files(path) => (Output::files(path.clone(), limits), Some(path)),
            To::Writer(writer) => (Output::writer(writer), None),
        };
        let inner = &hooks.inner;
        let begun = inner.begin_recording(&state).ok_or(RecordError::Recording)?;
        // From here on it ends by itself where it cannot begin.
        let recording = Recording { state: Arc::clone(&state), registry: Arc::downgrade(inner) };
        let writer = RecordWriter::new(state, output, begun, Arc::downgrade(inner));
        let writer = writer.map_err(|problem| RecordError::Io { path, problem })?;
        Ok((recording, writer))
    }

    fn check(&self, hooks: &HookRegistry) -> Result<(), RecordError> {
        let limits = [
            (self.queue == 0, "queue"),
            (self.value_bytes == 0, "value_bytes"),
            (self.limits.bytes == 0, "max_bytes"),
            (self.limits.age == Some(Duration::ZERO), "max_age"),
            (self.limits.files == 0, "max_files"),
        ];
        if let Some((_, limit)) = limits.into_iter().find(|(is_zero, _)| *is_zero) {
            return Err(RecordError::Nothing { limit });
        }
        let mut known: Vec<_> =
            hooks.inner.store().used_points().map(PointDescriptor::name).collect();
        known.extend(self.catalogues.iter().flat_map(Catalogue::names));
        let patterns = self.policies.iter().map(|(pattern, _)| pattern).chain(&self.only);
        for pattern in patterns.filter(|pattern| *pattern != "*") {
            if !known.iter().any(|name| glob(pattern, name)) {
                let nearest = nearest(pattern, known.into_iter(), str::len).map(str::to_owned);
                return Err(RecordError::NoPoint { point: pattern.clone(), nearest });
            }
        }
        let captured = self.policies.iter().filter(|(_, it)| !matches!(it, CapturePolicy::None));
        let has = |catalogue: &Catalogue, pattern: &str| {
            let mut names = catalogue.names().filter(|name| glob(pattern, name));
            names.any(|name| catalogue.named(name).is_some_and(|(info, _)| info.json.is_some()))
        };
        let mut asked = captured.map(|(pattern, _)| pattern);
        match asked.find(|pattern| !self.catalogues.iter().any(|it| has(it, pattern))) {
            Some(point) => Err(RecordError::NoCatalogue { point: point.clone() }),
            None => Ok(()),
        }
    }
}

/// A name that no other run has, as far as time and processes go.
fn new_run() -> String {
    let since = system_now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_micros(), std::process::id())
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Recorder");
        if let To::Files(path) = &self.to {
            debug.field("path", path);
        }
        debug.field("policies", &self.policies).finish_non_exhaustive()
    }
}
