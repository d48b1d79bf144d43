//! One command, asked about what happens in the host.

mod applies;
mod ready;
mod record;
mod time;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use hooks_runtime::HookContext;
use serde_json::Value;

use crate::answer::{Answer, Opinion};
use crate::bridge::Shared;
use crate::config::{Entry, Handler, HandlerKind};
use crate::facts::{Facts, Surroundings};
use crate::rules::{EventRule, Rules};
#[cfg(feature = "http")]
use crate::runner::Exit;
use crate::runner::{Cause, Failure, Invocation, KILLED, LONGEST, Program, Ran, Runner};
use crate::tape::Tape;
use crate::trust::Bytes;
use crate::verdict::{self, Effect};
use ready::Ready;
use record::Record;
use time::Time;

/// What the name of a handler ends with that asks a command again.
pub(crate) const AGAIN: &str = " (again)";

/// What the name of a handler ends with that has the agent go on because of a command.
pub(crate) const GOES_ON: &str = " (go on)";

/// The name of the handler with which a fire begins.
pub(crate) const FIRST: &str = "hooks-bridge";

/// A command that can be asked.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) shared: Arc<Shared>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) handler: Handler,
    pub(crate) event: &'static EventRule,
    /// The name of its handler, unique at a point.
    pub(crate) name: String,
    /// Its place in the configured order, among the commands of the point.
    pub(crate) index: usize,
    /// The files that it names, as they were when it was found to be granted.
    pub(crate) granted: Arc<Bytes>,
    /// Of a command that runs once: whether its one run was begun.
    pub(crate) spent: AtomicBool,
}

/// What came of asking a command.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) effect: Result<Effect, Failure>,
    pub(crate) context: Option<String>,
}

impl Command {
    pub(crate) fn rules(&self) -> &'static Rules {
        self.entry.dialect.rules()
    }

    /// Whether its failure blocks because its file says so.
    pub(crate) fn fails_closed(&self) -> bool {
        verdict::fails_closed(self.event, &self.handler)
    }

    /// How long a run takes at most, where its file sets a limit and something waits for it.
    pub(crate) fn longest(&self) -> Option<Duration> {
        let limits = self.shared.runner.limits();
        let set =
            self.handler.timeout.filter(|_| !self.handler.background && !self.entry.broken)?;
        let limit = limits.timeout.map_or(set, |longest| set.min(longest));
        // Beyond the clock it is as good as none.
        (limit < LONGEST).then(|| limit + limits.grace.min(LONGEST) + KILLED)
    }

    /// Asks the command.
    pub(crate) async fn ask(&self, facts: &Facts, cx: &HookContext, again: bool) -> Asked {
        let facts = self.translated(facts);
        let record = Record::begin(self, cx, again);
        let mut process = None;
        let fire = (cx.time_limit(), record.began);
        let (answer, exit, stderr) = match self.run(&facts, fire, &mut process).await {
            Ok(None) => (Answer::none(), None, String::new()),
            Ok(Some(ran)) => {
                let answer = verdict::read(self.rules(), self.event, self.shared.mode, &ran);
                (answer, Some(ran.exit), ran.stderr)
            }
            Err(failure) => {
                let stderr = failure.stderr.clone();
                (Answer { opinion: Opinion::Failed(failure), ..Answer::none() }, None, stderr)
            }
        };
        self.report(&answer);
        record::note(cx, self.handler.background, (&answer, exit), process);
        record.end(&answer, exit, stderr);
        let Answer { opinion, context, .. } = answer;
        let rules = self.rules();
        let effect = verdict::settle(self.shared.mode, rules, self.event, &self.handler, opinion);
        Asked { effect, context }
    }

    /// What is odd about an answer is said in the log; failures are the registry's to log.
    fn report(&self, answer: &Answer) {
        for notice in &answer.notices {
            tracing::warn!(
                target: "hooks_bridge",
                handler = %self.name,
                event = self.event.name,
                notice = %hooks_runtime::report::escaped(notice),
                "a hook's answer is odd"
            );
        }
    }

    /// It says no where that has no effect.
    pub(crate) fn says_no_in_vain(&self, reason: &str) {
        tracing::warn!(
            target: "hooks_bridge",
            handler = %self.name,
            reason = %hooks_runtime::report::escaped(reason),
            "a hook says no where nothing can be stopped"
        );
    }

    /// Runs the command, and says how long its process was there. One that nothing waits for
    /// is only started.
    async fn run(
        &self,
        facts: &Facts,
        fire: (Option<Duration>, Instant),
        process: &mut Option<Duration>,
    ) -> Result<Option<Ran>, Failure> {
        let ((prepared, time), tape) = (self.prepared(facts, fire)?, Tape::of(self, facts));
        if !self.handler.background {
            let ran = tape.run(Box::pin(prepared.run(process))).await;
            return ran.map(Some).map_err(|failure| time.explained(failure));
        }
        let (name, event) = (self.name.clone(), self.event.name);
        tokio::spawn(async move {
            let run = async {
                // The task may have had to wait for its turn.
                prepared.check()?;
                prepared.run(&mut None).await
            };
            if let Err(failure) = tape.run(Box::pin(run)).await {
                tracing::warn!(target: "hooks_bridge", handler = %name, event, %failure, "a hook in the background failed");
            }
        });
        Ok(None)
    }

    /// All that a run needs, in a fire that waits for so long since then.
    fn prepared(
        &self,
        facts: &Facts,
        (waits, began): (Option<Duration>, Instant),
    ) -> Result<(Prepared, Time), Failure> {
        if self.entry.broken {
            let why = self.entry.skipped.as_deref().unwrap_or_default();
            let what = format!("{}: {why}", self.entry.place);
            return Err(Failure::new(Cause::Unread(what)));
        }
        let ready = Ready::of(self);
        ready.check()?;
        #[cfg(feature = "http")]
        if let HandlerKind::Http { url, .. } = &self.handler.kind {
            // Also where a cassette would answer in its place.
            self.shared.http.admit(url)?;
        }
        let stdin = self.stdin(facts, SystemTime::now()).to_string().into_bytes();
        let runner = &self.shared.runner;
        // Nothing waits for one in the background, so it has its own limit only.
        let waits = waits.filter(|_| !self.handler.background);
        let limits = runner.limits();
        let limit = self.entry.timeout();
        let limit = limits.timeout.map_or(limit, |longest| limit.min(longest));
        let time = Time::of(limit, limits.grace, waits, began.elapsed())?;
        let runner = if self.handler.background { runner.beside() } else { runner.clone() };
        let (runner, timeout) = (runner.with_grace(time.grace), time.limit);
        let prepared = match &self.handler.kind {
            HandlerKind::Http { .. } => {
                let shared = Arc::clone(&self.shared);
                Prepared::Http { shared, runner, kind: self.handler.kind.clone(), stdin, timeout }
            }
            kind => {
                let invocation = self.invocation(kind, facts, stdin, timeout);
                Prepared::Command(runner, Box::new(invocation), ready)
            }
        };
        Ok((prepared, time))
    }

    /// What it finds in its stdin at that time.
    pub(crate) fn stdin(&self, facts: &Facts, now: SystemTime) -> Value {
        Value::Object((self.rules().stdin)(self.event, facts, now))
    }

    fn invocation(
        &self,
        kind: &HandlerKind,
        facts: &Facts,
        stdin: Vec<u8>,
        timeout: Duration,
    ) -> Invocation {
        let around =
            Surroundings { project: &self.shared.project, plugin: self.entry.origin.plugin() };
        let of_dialect = (self.rules().environment)(facts, &around);
        let program = match kind {
            HandlerKind::Shell { shell, line } => Program::shell(shell, line),
            HandlerKind::Exec { program, arguments } => {
                let fill = |word: &String| OsString::from(filled(word, &of_dialect));
                Program { program: fill(program), arguments: arguments.iter().map(fill).collect() }
            }
            HandlerKind::Http { .. } => unreachable!("an address is posted to"),
        };
        let of_dialect =
            of_dialect.iter().map(|(name, value)| (OsString::from(name), value.into()));
        let of_entry =
            self.handler.environment.iter().map(|(name, value)| (name.into(), value.into()));
        Invocation {
            program,
            directory: Some(self.directory()),
            environment: self.shared.environment.variables(of_dialect.chain(of_entry)),
            stdin,
            timeout,
            stdout: self.rules().stdout,
        }
    }

    /// Where it runs: in the project, where its files were found when it was read and
    /// granted, not where the agent happens to work. stdin says where that is.
    fn directory(&self) -> PathBuf {
        let project: &Path = &self.shared.project;
        let directory = self.handler.directory.as_ref();
        directory.map_or_else(|| project.to_owned(), |directory| project.join(directory))
    }
}

/// A run that can be begun.
enum Prepared {
    Command(Runner, Box<Invocation>, Ready),
    #[cfg_attr(not(feature = "http"), allow(dead_code))] // what is said then needs none of it
    Http {
        shared: Arc<Shared>,
        runner: Runner,
        kind: HandlerKind,
        stdin: Vec<u8>,
        timeout: Duration,
    },
}

impl Prepared {
    /// Whether it may still be started.
    fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Command(.., ready) => ready.check(),
            Self::Http { .. } => Ok(()),
        }
    }

    /// Runs it, and says how long its process was there, if it has one.
    async fn run(self, process: &mut Option<Duration>) -> Result<Ran, Failure> {
        match self {
            Self::Command(runner, invocation, ready) => {
                runner.run_timed(*invocation, process, || ready.check()).await
            }
            #[cfg(feature = "http")]
            Self::Http { shared, runner, kind, stdin, timeout } => {
                let stdout = shared.http.post(&runner, &kind, stdin, timeout).await?;
                Ok(Ran { exit: Exit::Code(0), stdout, stderr: String::new() })
            }
            #[cfg(not(feature = "http"))]
            Self::Http { .. } => {
                let why = "the bridge was built without its feature `http`";
                Err(Failure { started: false, ..Failure::new(Cause::Http(why.into())) })
            }
        }
    }
}

/// A word without a shell: the variables of the dialect are filled in as they are.
fn filled(word: &str, variables: &[(&'static str, String)]) -> String {
    let fill =
        |word: String, (name, value): &(&str, String)| word.replace(&format!("${{{name}}}"), value);
    variables.iter().fold(word.to_owned(), fill)
}
