//! Answers that are kept in a file: recorded the first time, given again after.

mod episode;
mod error;
mod handler;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use serde_json::Value;

use crate::error::BoxError;
use crate::sync::{Mutex, MutexGuard};

pub use error::CassetteError;

use episode::{Answered, Episode};

/// When a [`Cassette`] records, and when it gives what is recorded.
///
/// The example of [`Cassette`] uses two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CassetteMode {
    /// Records where there is no file yet. Where there is one, a request that is not in
    /// it is an error.
    #[default]
    Once,
    /// Never calls out: a request that is not in the file is an error. For CI.
    None,
    /// Gives what is in the file, and records what is not.
    New,
    /// Calls out for every request, and records all of them anew.
    All,
}

/// Answers of a command or a remote service, kept in a file: recorded the first time,
/// given again after.
///
/// A test with the mode [`None`](CassetteMode::None) needs no service and has the same
/// answers each time. Each recorded answer is given once; a request that was recorded
/// several times has its answers in that order. A failure is recorded as one, and is one
/// again when it is given. What is nested so deep that a file with it could not be read again is
/// not recorded, and is a failure.
///
/// Requests and answers stand in the file as they were: what is secret must not be in them. A
/// file has one cassette at a time, which clones share: of two that record to it one undoes what
/// the other has recorded.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::json::{Value, json};
/// use hooks_runtime::replay::{Cassette, CassetteMode};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a file is opened.
/// #     pub gating Opening { path: String }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("cassette-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("scan.jsonl");
/// # let _ = std::fs::remove_file(&file);
/// // Asks a service, which answers with a verdict.
/// async fn scan(request: Value) -> Result<Value, std::io::Error> {
///     # let _ = request;
///     Ok(json!({"verdict": "reject", "reason": "it is infected"}))
/// }
///
/// let catalogue = points();
/// for mode in [CassetteMode::Once, CassetteMode::None] {
///     let cassette = Cassette::open(&file, mode)?;
///     let hooks = HookRegistry::new();
///     hooks.register(catalogue.on("opening")?.name("scan").handler(cassette.handler("scan", scan)))?;
///     // The first time the service is asked; the second time nothing is called.
///     let outcome = hooks.json(&catalogue).fire("opening", r#"{"path": "a.bin"}"#).await?;
///     assert_eq!(outcome.to_json()["reason"], "it is infected");
///     assert_eq!(cassette.recorded(), usize::from(mode == CassetteMode::Once));
/// }
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Cassette(Arc<Tape>);

struct Tape {
    path: PathBuf,
    mode: CassetteMode,
    /// Whether there was a file when it was opened.
    found: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// All that is in the file, in order.
    episodes: Vec<Episode>,
    /// What is not given yet, by whom is asked and the request, as text.
    unused: HashMap<(String, String), VecDeque<Answered>>,
    recorded: usize,
}

impl Cassette {
    /// The cassette in that file, which need not be there unless the mode is
    /// [`None`](CassetteMode::None).
    pub fn open(path: impl AsRef<Path>, mode: CassetteMode) -> Result<Self, CassetteError> {
        let path = path.as_ref().to_owned();
        let (episodes, found) = match std::fs::read_to_string(&path) {
            Ok(text) => (episode::read(&path, &text)?, true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if mode == CassetteMode::None {
                    return Err(CassetteError::NoFile { path });
                }
                (Vec::new(), false)
            }
            Err(source) => return Err(CassetteError::Unreadable { path, source }),
        };
        let mut state = State::default();
        if mode != CassetteMode::All {
            for episode in &episodes {
                let key = episode.key();
                state.unused.entry(key).or_default().push_back(episode.answered.clone());
            }
            state.episodes = episodes;
        }
        Ok(Self(Arc::new(Tape { path, mode, found, state: Mutex::new(state) })))
    }

    /// The answer of `who` to a request: the recorded one, or that of `call`, which is
    /// recorded.
    ///
    /// For code that asks others by itself; [`handler`](Self::handler) is for handlers
    /// that speak JSON.
    ///
    /// ```
    /// # use hooks_runtime::json::json;
    /// # use hooks_runtime::replay::{Cassette, CassetteMode};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("weather-{}.jsonl", std::process::id()));
    /// let cassette = Cassette::open(&file, CassetteMode::New)?;
    /// let ask = async |_| Ok::<_, std::io::Error>(json!("rain"));
    /// let answer = cassette.ask("weather", json!({"city": "Bergen"}), ask).await;
    /// assert_eq!(answer.unwrap(), "rain");
    /// # std::fs::remove_file(&file)?;
    /// # Ok(()) }
    /// ```
    pub async fn ask<F, Fut, E>(
        &self,
        who: &str,
        request: Value,
        call: F,
    ) -> Result<Value, BoxError>
    where
        F: FnOnce(Value) -> Fut,
        Fut: Future<Output = Result<Value, E>>,
        E: Into<BoxError>,
    {
        if let Some(known) = self.state().take(who, &request) {
            return known.into_answer();
        }
        let Tape { path, mode, found, .. } = &*self.0;
        if *mode == CassetteMode::None || (*mode == CassetteMode::Once && *found) {
            let (path, mode, who) = (path.clone(), *mode, who.to_owned());
            return Err(CassetteError::NotRecorded { path, mode, who, request }.into());
        }
        let answer = call(request.clone()).await.map_err(Into::into);
        let answered = Answered::of(&answer);
        self.record(Episode { who: who.to_owned(), request, answered })?;
        answer
    }

    /// How many requests were recorded since it was opened.
    pub fn recorded(&self) -> usize {
        self.state().recorded
    }

    /// How many recorded answers were not asked for. A test that asks for all has none
    /// left at its end.
    ///
    /// ```
    /// # use hooks_runtime::replay::{Cassette, CassetteMode};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("unused-{}.jsonl", std::process::id()));
    /// std::fs::write(&file, r#"{"v":1,"who":"weather","request":{"city":"Bergen"},"answer":"rain"}"#)?;
    /// assert_eq!(Cassette::open(&file, CassetteMode::None)?.unused(), 1);
    /// # std::fs::remove_file(&file)?;
    /// # Ok(()) }
    /// ```
    pub fn unused(&self) -> usize {
        self.state().unused.values().map(VecDeque::len).sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an episode, and writes the file whole: it is as it was, or as it is to be.
    fn record(&self, episode: Episode) -> Result<(), CassetteError> {
        if episode.is_too_deep() {
            let problem = "what was asked or answered is nested too deep to be read again";
            let (path, source) = (self.0.path.clone(), std::io::Error::other(problem));
            return Err(CassetteError::Unwritable { path, source });
        }
        let mut state = self.state();
        state.episodes.push(episode);
        let written = episode::write(&self.0.path, &state.episodes);
        match written {
            Ok(()) => state.recorded += 1,
            // Its answer is not used, so the next one that can be written is not beside it.
            Err(_) => drop(state.episodes.pop()),
        }
        written
    }
}

impl State {
    fn take(&mut self, who: &str, request: &Value) -> Option<Answered> {
        self.unused.get_mut(&(who.to_owned(), request.to_string()))?.pop_front()
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tape { path, mode, .. } = &*self.0;
        f.debug_struct("Cassette").field("path", path).field("mode", mode).finish_non_exhaustive()
    }
}
