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
            left_open(&mut request, &project);
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
            left_open(&mut came, &project);
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
        filled_in(&mut came, &project);
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

/// Leaves the folder of the project open in all texts of a value. The root folder is in every
/// path, and is left.
#[cfg(feature = "cassette")]
fn left_open(value: &mut Value, project: &str) {
    if project != "/" {
        each_text(value, &|text| without_folder(text, project));
    }
}

/// Puts the folder of the project into all texts of a value.
#[cfg(feature = "cassette")]
fn filled_in(value: &mut Value, project: &str) {
    if project != "/" {
        each_text(value, &|text| text.contains(PROJECT).then(|| text.replace(PROJECT, project)));
    }
}

#[cfg(feature = "cassette")]
fn each_text(value: &mut Value, change: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => *text = change(text).unwrap_or_else(|| std::mem::take(text)),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(map) => map.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}

/// The text with what stands for the folder, where it names that one: `/srv/shop` is neither
/// `/srv/shops` nor `/old/srv/shop`.
#[cfg(feature = "cassette")]
fn without_folder(text: &str, folder: &str) -> Option<String> {
    let (mut open, mut rest) = (String::new(), 0);
    for (at, _) in text.match_indices(folder) {
        let behind = at + folder.len();
        if begins_path(&text[..at]) && ends_name(&text[behind..]) {
            open.push_str(&text[rest..at]);
            open.push_str(PROJECT);
            rest = behind;
        }
    }
    (rest > 0).then(|| open + &text[rest..])
}

/// Whether a path may begin behind a text: that is no part of one, but for an option, the
/// scheme of an address, or a line break as JSON writes it.
#[cfg(feature = "cassette")]
fn begins_path(before: &str) -> bool {
    let of_path = |char: char| char.is_alphanumeric() || "_-./~".contains(char);
    let (outside, word) = before.split_at(before.trim_end_matches(of_path).len());
    let is_option = word.starts_with('-') && !word.contains('/');
    let is_escape = outside.ends_with('\\') && matches!(word, "n" | "r" | "t");
    word.is_empty() || is_option || is_escape || (word == "//" && outside.ends_with(':'))
}

/// Whether the last name of a path is over before a text. A dot may also end a sentence.
#[cfg(feature = "cassette")]
fn ends_name(behind: &str) -> bool {
    let of_name = |char: char| char.is_alphanumeric() || "_-~".contains(char);
    !behind.trim_start_matches('.').starts_with(of_name)
}

#[cfg(all(test, feature = "cassette"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_folder_itself_is_left_open() {
        let open = |text: &str| without_folder(text, "/srv/shop");
        for (text, expected) in [
            ("/srv/shop", "${HOOKS_BRIDGE_PROJECT}"),
            ("cat /srv/shop/a '/srv/shop/b'", "cat $P/a '$P/b'"),
            ("in /srv/shop. A=/srv/shop;", "in $P. A=$P;"),
            ("cc -I/srv/shop/include", "cc -I$P/include"),
            ("file:///srv/shop/a", "file://$P/a"),
            (r#"{"reason": "in\n/srv/shop"}"#, r#"{"reason": "in\n$P"}"#),
        ] {
            let expected = expected.replace("$P", PROJECT);
            assert_eq!(open(text).as_deref(), Some(&*expected), "{text}");
        }
        for text in
            ["/srv/shops", "/srv/shop-2/a", "/srv/shop.old/a", "/old/srv/shop", "./srv/shop", "srv"]
        {
            assert_eq!(open(text), None, "{text}");
        }
    }
}
