//! Runs of commands and of requests, by way of a cassette where the bridge has one.

use std::future::Future;
use std::pin::Pin;
#[cfg(feature = "cassette")]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "cassette")]
use std::time::{Duration, SystemTime};

#[cfg(feature = "cassette")]
use hooks_runtime::replay::Cassette;
#[cfg(feature = "cassette")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "cassette")]
use serde_json::{Value, json};

use crate::command::Command;
use crate::facts::Facts;
#[cfg(feature = "cassette")]
use crate::runner::{Cause, Exit};
use crate::runner::{Failure, Ran};

/// One run, and how it is asked for in a cassette.
pub(crate) struct Tape {
    #[cfg(feature = "cassette")]
    question: Option<Question>,
}

/// What a cassette is asked.
#[cfg(feature = "cassette")]
struct Question {
    cassette: Cassette,
    who: String,
    request: Value,
    project: String,
}

/// Stands in a cassette for the folder of the project, which is another one elsewhere.
#[cfg(feature = "cassette")]
const PROJECT: &str = "${HOOKS_BRIDGE_PROJECT}";

impl Tape {
    /// What a run of that command about these facts is in a cassette.
    #[cfg_attr(not(feature = "cassette"), allow(unused_variables, reason = "there is none"))]
    pub(crate) fn of(command: &Command, facts: &Facts) -> Self {
        #[cfg(feature = "cassette")]
        let question = command.shared.cassette.clone().map(|cassette| {
            let project = command.shared.project.to_string_lossy().into_owned();
            // The time would be another in each run.
            let stdin = command.stdin(facts, SystemTime::UNIX_EPOCH);
            let asked = command.entry.command();
            let mut request =
                json!({"event": command.event.name, "command": asked, "stdin": stdin});
            replace(&mut request, &project, PROJECT);
            let who = format!("{}/{}", command.entry.dialect.as_str(), command.name);
            Question { cassette, who, request, project }
        });
        Self {
            #[cfg(feature = "cassette")]
            question,
        }
    }

    /// What the cassette has of the run, or what it comes to.
    pub(crate) async fn run(
        self,
        run: Pin<Box<impl Future<Output = Result<Ran, Failure>>>>,
    ) -> Result<Ran, Failure> {
        #[cfg(feature = "cassette")]
        if let Some(question) = self.question {
            return question.ask(run).await;
        }
        run.await
    }
}

#[cfg(feature = "cassette")]
impl Question {
    async fn ask(
        self,
        run: Pin<Box<impl Future<Output = Result<Ran, Failure>>>>,
    ) -> Result<Ran, Failure> {
        let Self { cassette, who, request, project } = self;
        let ran = AtomicBool::new(false);
        let call = async |_| {
            ran.store(true, Ordering::Relaxed);
            let mut came = serde_json::to_value(Came::of(run.await))?;
            replace(&mut came, &project, PROJECT);
            Ok::<_, serde_json::Error>(came)
        };
        // It ran where its answer could not be recorded.
        let unknown = |what: String| {
            let started = ran.load(Ordering::Relaxed);
            Failure { started, ..Failure::new(Cause::Cassette(what)) }
        };
        let mut came = match cassette.ask(&who, request, call).await {
            Ok(came) => came,
            Err(error) => return Err(unknown(error.to_string())),
        };
        replace(&mut came, PROJECT, &project);
        let came: Came = serde_json::from_value(came)
            .map_err(|error| unknown(format!("the answer of `{who}` in the cassette: {error}")))?;
        came.into_result()
    }
}

/// What a run came to, as it is in a cassette.
#[cfg(feature = "cassette")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Came {
    Exit { code: i32, stdout: Text, stderr: String },
    Signal { signal: i32, stdout: Text, stderr: String },
    Failed { cause: Kept, started: bool, stderr: String },
}

/// What a program wrote, which need not be text.
#[cfg(feature = "cassette")]
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    Bytes(Vec<u8>),
}

/// Why a run gave no answer: what can become of one that was begun.
#[cfg(feature = "cassette")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Spawn(String),
    TimeoutMs(u64),
    BusyMs(u64),
    TooLarge(usize),
    BadOutput(String),
    Http(String),
    Other(String),
}

#[cfg(feature = "cassette")]
impl Came {
    fn of(result: Result<Ran, Failure>) -> Self {
        let text = |bytes| match String::from_utf8(bytes) {
            Ok(text) => Text::Text(text),
            Err(error) => Text::Bytes(error.into_bytes()),
        };
        match result {
            Ok(Ran { exit: Exit::Code(code), stdout, stderr }) => {
                Self::Exit { code, stdout: text(stdout), stderr }
            }
            Ok(Ran { exit: Exit::Signal(signal), stdout, stderr }) => {
                Self::Signal { signal, stdout: text(stdout), stderr }
            }
            Err(Failure { cause, started, stderr }) => {
                Self::Failed { cause: Kept::of(cause), started, stderr }
            }
        }
    }

    fn into_result(self) -> Result<Ran, Failure> {
        let bytes = |text| match text {
            Text::Text(text) => text.into_bytes(),
            Text::Bytes(bytes) => bytes,
        };
        match self {
            Self::Exit { code, stdout, stderr } => {
                Ok(Ran { exit: Exit::Code(code), stdout: bytes(stdout), stderr })
            }
            Self::Signal { signal, stdout, stderr } => {
                Ok(Ran { exit: Exit::Signal(signal), stdout: bytes(stdout), stderr })
            }
            Self::Failed { cause, started, stderr } => {
                Err(Failure { cause: cause.into_cause(), started, stderr })
            }
        }
    }
}

#[cfg(feature = "cassette")]
impl Kept {
    fn of(cause: Cause) -> Self {
        let ms = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        match cause {
            Cause::Spawn(what) => Self::Spawn(what),
            Cause::Timeout(limit) => Self::TimeoutMs(ms(limit)),
            Cause::Busy(limit) => Self::BusyMs(ms(limit)),
            Cause::TooLarge(most) => Self::TooLarge(most),
            Cause::BadOutput(what) => Self::BadOutput(what),
            Cause::Http(what) => Self::Http(what),
            other => Self::Other(other.to_string()),
        }
    }

    fn into_cause(self) -> Cause {
        match self {
            Self::Spawn(what) => Cause::Spawn(what),
            Self::TimeoutMs(limit) => Cause::Timeout(Duration::from_millis(limit)),
            Self::BusyMs(limit) => Cause::Busy(Duration::from_millis(limit)),
            Self::TooLarge(most) => Cause::TooLarge(most),
            Self::BadOutput(what) => Cause::BadOutput(what),
            Self::Http(what) => Cause::Http(what),
            Self::Other(what) => Cause::Cassette(what),
        }
    }
}

/// Replaces a text in all texts of a value. The root folder is in every path, and is left.
#[cfg(feature = "cassette")]
fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        _ if from == "/" || to == "/" => {}
        Value::String(text) if text.contains(from) => *text = text.replace(from, to),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, from, to)),
        Value::Object(map) => map.values_mut().for_each(|value| replace(value, from, to)),
        _ => {}
    }
}
