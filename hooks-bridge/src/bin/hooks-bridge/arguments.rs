//! The arguments.

use std::path::PathBuf;

use hooks_bridge::Dialect;
use lexopt::prelude::{Long, Short, Value, ValueExt};

const HELP: &str = "\
The hook scripts of coding agents: what they would do, and what they do.

  hooks-bridge check [FILES]     what each file would do in each dialect, and what is odd;
                                 exit code 1 where something is suspicious
  hooks-bridge preview [FILES]   what would run, from where, and the line that would trust it
  hooks-bridge fire EVENT --config FILE --dialect DIALECT < payload.json
                                 runs the commands for an event, with its own stdin, and
                                 prints one JSON object; exit code 0 where it may go on, 2
                                 where it is rejected, 1 where there is no verdict

Without FILES, all files of all dialects in the project are taken.

options
  --project DIR      the folder of the project; the current one without it
  --json             check: print JSON
  --tool NAME        check: a tool of the host that no product has; may be repeated
  --config FILE      fire: the file, from the current folder on
  --dialect NAME     fire: one of DIALECTS
  --faithful         fire: read answers as the product does, not strictly
  --trust            fire: run commands that were not granted
  --allow-url URL    fire: let handlers of the type `http` post to this address, and to all
                     below it where it ends with `/`; may be repeated
                     check: every other address is suspicious
  --allow-variable NAME
                     fire: let their headers have this variable; may be repeated
  --grants FILE      the file with the grants, outside of the project; without it
                     $XDG_CONFIG_HOME/hooks-bridge/grants or ~/.config/hooks-bridge/grants
  --help             this text
  --version          the version of the tool
";

/// What it does, and with which options.
pub(crate) fn help() -> String {
    HELP.replace("DIALECTS", &Dialect::ALL.map(Dialect::as_str).join(", "))
}

fn no_dialect() -> String {
    let names = Dialect::ALL.map(Dialect::as_str).join(", ");
    format!("`fire` needs `--dialect NAME`, which is one of {names}")
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Task {
    Check(Check),
    Preview,
    Fire(Fire),
    Help,
    Version,
}

/// What a check prints, and what it knows of the host.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) json: bool,
    pub(crate) tools: Vec<String>,
    /// The addresses that may be posted to.
    pub(crate) urls: Vec<String>,
}

/// One event to be fired.
#[derive(Debug)]
pub(crate) struct Fire {
    pub(crate) event: String,
    pub(crate) config: PathBuf,
    pub(crate) dialect: Dialect,
    pub(crate) faithful: bool,
    pub(crate) trust: bool,
    /// The addresses that may be posted to.
    pub(crate) urls: Vec<String>,
    /// The variables that headers may have.
    pub(crate) variables: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) task: Task,
    pub(crate) project: Option<PathBuf>,
    pub(crate) grants: Option<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Default)]
struct Given {
    words: Vec<PathBuf>,
    project: Option<PathBuf>,
    grants: Option<PathBuf>,
    config: Option<PathBuf>,
    dialect: Option<String>,
    tools: Vec<String>,
    urls: Vec<String>,
    variables: Vec<String>,
    /// Options without a value, as they were written.
    flags: Vec<&'static str>,
}

impl Arguments {
    pub(crate) fn read(mut parser: lexopt::Parser) -> Result<Self, Box<dyn std::error::Error>> {
        let mut given = Given::default();
        given.take(&mut parser).map_err(|error| format!("{error}; see `--help`"))?;
        given.arguments()
    }
}

impl Given {
    fn take(&mut self, parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
        let given = self;
        while let Some(argument) = parser.next()? {
            match argument {
                Value(word) => given.words.push(word.into()),
                Long("project") => once(&mut given.project, "--project", parser.value()?.into())?,
                Long("grants") => once(&mut given.grants, "--grants", parser.value()?.into())?,
                Long("config") => once(&mut given.config, "--config", parser.value()?.into())?,
                Long("dialect") => {
                    once(&mut given.dialect, "--dialect", parser.value()?.string()?)?;
                }
                Long("tool") => given.tools.push(parser.value()?.string()?),
                Long("allow-url") => given.urls.push(parser.value()?.string()?),
                Long("allow-variable") => given.variables.push(parser.value()?.string()?),
                Long("json") => given.flags.push("--json"),
                Long("faithful") => given.flags.push("--faithful"),
                Long("trust") => given.flags.push("--trust"),
                Long("help") | Short('h') => given.flags.push("--help"),
                Long("version") | Short('V') => given.flags.push("--version"),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(())
    }

    fn arguments(mut self) -> Result<Arguments, Box<dyn std::error::Error>> {
        let has = |given: &Self, flag| given.flags.contains(&flag);
        if has(&self, "--version") && !has(&self, "--help") {
            return Ok(self.with(Task::Version));
        }
        let help = has(&self, "--help") || self.words.is_empty();
        let word = if help { "help".into() } else { self.words.remove(0) };
        let task = match word.to_str() {
            Some("help") => Task::Help,
            Some("check") => Task::Check(self.check()),
            Some("preview") => Task::Preview,
            Some("fire") => Task::Fire(self.fire()?),
            _ => {
                let word = word.display().to_string();
                let word = hooks_runtime::report::escaped(&word).to_string();
                return Err(format!(
                    "`{word}` is no task: write check, preview or fire; see `--help`"
                )
                .into());
            }
        };
        let of_task: &[&str] = match task {
            Task::Check(_) => &["--json"],
            Task::Preview => &[],
            Task::Fire(_) => &["--faithful", "--trust"],
            Task::Help | Task::Version => return Ok(self.with(task)),
        };
        if let Some(flag) = self.flags.iter().find(|flag| !of_task.contains(flag)) {
            return Err(format!("`{flag}` is not for this task; see `--help`").into());
        }
        if !matches!(task, Task::Fire(_)) && (self.config.is_some() || self.dialect.is_some()) {
            return Err(
                "`--config` and `--dialect` are for `fire`; name the files as they are".into()
            );
        }
        if self.grants.is_some() && matches!(task, Task::Check(_)) {
            return Err("`--grants` is not for `check`, which runs nothing; see `--help`".into());
        }
        if !self.tools.is_empty() {
            return Err("`--tool` is for `check`; see `--help`".into());
        }
        if !self.urls.is_empty() {
            return Err("`--allow-url` is for `fire` and `check`; see `--help`".into());
        }
        if !self.variables.is_empty() {
            return Err("`--allow-variable` is for `fire`; see `--help`".into());
        }
        Ok(self.with(task))
    }

    fn check(&mut self) -> Check {
        let (tools, urls) = (std::mem::take(&mut self.tools), std::mem::take(&mut self.urls));
        Check { json: self.flags.contains(&"--json"), tools, urls }
    }

    fn fire(&mut self) -> Result<Fire, Box<dyn std::error::Error>> {
        let mut words = std::mem::take(&mut self.words).into_iter();
        let event =
            words.next().ok_or("`fire` needs the name of an event, as its dialect writes it")?;
        if let Some(extra) = words.next() {
            return Err(
                format!("`fire` takes one event, and `{}` is too many", extra.display()).into()
            );
        }
        Ok(Fire {
            event: event.to_string_lossy().into_owned(),
            config: self.config.take().ok_or("`fire` needs `--config FILE`")?,
            dialect: self.dialect.take().ok_or_else(no_dialect)?.parse()?,
            faithful: self.flags.contains(&"--faithful"),
            trust: self.flags.contains(&"--trust"),
            urls: std::mem::take(&mut self.urls),
            variables: std::mem::take(&mut self.variables),
        })
    }

    fn with(self, task: Task) -> Arguments {
        Arguments { task, project: self.project, grants: self.grants, files: self.words }
    }
}

/// Takes the value of an option that counts once.
fn once<T>(given: &mut Option<T>, option: &str, value: T) -> Result<(), lexopt::Error> {
    match given.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{option}` is written twice").into()),
    }
}
