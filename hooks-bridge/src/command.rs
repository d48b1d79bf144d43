//! One command, asked about what happens in the host.

mod applies;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hooks_runtime::HookContext;
use serde_json::Value;

use crate::answer::{Answer, Opinion};
use crate::bridge::Shared;
use crate::config::{Entry, Handler, HandlerKind};
use crate::facts::{Facts, Surroundings};
use crate::rules::{EventRule, Rules};
#[cfg(feature = "http")]
use crate::runner::Exit;
use crate::runner::{Cause, Failure, Invocation, Program, Ran, Runner};
use crate::runs::{Run, Runs, exit_code};
use crate::verdict::{self, Effect, Mode};

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
    pub(crate) entry: Entry,
    pub(crate) handler: Handler,
    pub(crate) event: &'static EventRule,
    /// The name of its handler, unique at a point.
    pub(crate) name: String,
    /// Its place in the configured order, among the commands of the point.
    pub(crate) index: usize,
    /// The longest time that its point leaves it.
    pub(crate) limit: Option<Duration>,
    /// Of a command that runs once: whether it was run before its own turn.
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

    /// Asks the command.
    pub(crate) async fn ask(&self, facts: &Facts, cx: &HookContext, again: bool) -> Asked {
        let facts = self.translated(facts);
        let began = Instant::now();
        let (answer, exit, stderr) = match self.run(&facts).await {
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
        if let Some(runs) = cx.get::<Runs>() {
            runs.add(Run {
                handler: self.name.clone(),
                index: self.index,
                shadow: cx.is_in_shadow(),
                command: self.entry.command(),
                again,
                exit: exit_code(exit, &answer),
                answer: answer.clone(),
                took: began.elapsed(),
                stderr,
            });
        }
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

    /// Runs the command. One that nothing waits for is only started.
    async fn run(&self, facts: &Facts) -> Result<Option<Ran>, Failure> {
        let prepared = self.prepared(facts)?;
        if !self.handler.background {
            return prepared.run().await.map(Some);
        }
        let (name, event) = (self.name.clone(), self.event.name);
        tokio::spawn(async move {
            if let Err(failure) = prepared.run().await {
                tracing::warn!(target: "hooks_bridge", handler = %name, event, %failure, "a hook in the background failed");
            }
        });
        Ok(None)
    }

    /// All that a run needs.
    fn prepared(&self, facts: &Facts) -> Result<Prepared, Failure> {
        if self.entry.broken {
            let why = self.entry.skipped.as_deref().unwrap_or_default();
            let what = format!("{}: {why}", self.entry.place);
            return Err(Failure::new(Cause::Unread(what)));
        }
        self.shared.trust.check(&self.entry, &self.shared.project)?;
        if self.shared.mode == Mode::Strict
            && let Some(missing) = self.entry.scripts.missing_now()
        {
            // The exit code of an interpreter without a script may be that of a denial.
            return Err(Failure::new(Cause::Missing(missing.to_owned())));
        }
        let document = Value::Object((self.rules().stdin)(self.event, facts));
        let stdin = document.to_string().into_bytes();
        let timeout = self.entry.timeout();
        let timeout = self.limit.map_or(timeout, |limit| timeout.min(limit));
        let runner = &self.shared.runner;
        let runner = if self.handler.background { runner.beside() } else { runner.clone() };
        Ok(match &self.handler.kind {
            HandlerKind::Http { .. } => {
                let shared = Arc::clone(&self.shared);
                Prepared::Http { shared, runner, kind: self.handler.kind.clone(), stdin, timeout }
            }
            kind => {
                let invocation = self.invocation(kind, facts, stdin, timeout);
                Prepared::Command(runner, Box::new(invocation))
            }
        })
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
    Command(Runner, Box<Invocation>),
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
    async fn run(self) -> Result<Ran, Failure> {
        match self {
            Self::Command(runner, invocation) => runner.run(*invocation).await,
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
