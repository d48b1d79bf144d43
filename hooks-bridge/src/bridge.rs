//! The bridge: what was read, as handlers of points.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::command::{AGAIN, Command, FIRST, GOES_ON};
use crate::config::{Entry, Handler, HandlerKind, Plan, name_of_address};
use crate::facts::EventKind;
use crate::rules::EventRule;
use crate::runner::{Environment, Limits, Runner};
use crate::trust::Trust;
use crate::verdict::Mode;

/// Turns the entries of a [`Plan`] into handlers of points.
///
/// In [`Mode::Strict`] what cannot be read is a command that failed: an entry for a gate with
/// a mistake in it, such as an event that is nearly the name of one, or a file with one, is a
/// handler there that fails closed, if it needs no grant or all is trusted. It is named like its script or its file, and an operator can turn
/// it off. An entry in a project's own file is left out, as all is that was not granted.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::{Bridge, Dialect};
/// use hooks_points::lifecycle::{BeforeToolCall, BeforeToolCallPayload};
/// use hooks_runtime::{Gate, HookRegistry};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = r#"{ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
///     { "type": "command", "command": "grep -q 'rm -rf' && { echo 'not here' >&2; exit 2; }; exit 0" }
/// ] } ] } }"#;
/// let source = Source::new(Dialect::ClaudeCode, ".claude/settings.json", Origin::User);
/// let plan = Plan::read_text(&source, text, "/tmp");
///
/// let bridge = Bridge::new("/tmp", plan).tool("run_command", "Bash");
/// let hooks = HookRegistry::new();
/// hooks.register(bridge.gate::<BeforeToolCall>())?;
///
/// let call = BeforeToolCallPayload {
///     tool_name: "run_command".into(),
///     parameters: json!({ "command": "rm -rf /" }),
///     user_id: "user-1".into(),
///     context: "chat".into(),
/// };
/// let Gate::Rejected(rejection) = hooks.fire_gating::<BeforeToolCall>(call).await? else { panic!() };
/// assert_eq!(rejection.reason(), "not here");
/// assert_eq!(rejection.owner().as_ref(), "claude-code");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Bridge {
    pub(crate) shared: Arc<Shared>,
    entries: Arc<Vec<Entry>>,
    /// What could not be read.
    unread: Arc<Vec<Entry>>,
}

/// What all commands of a bridge share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) project: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) runner: Runner,
    pub(crate) environment: Environment,
    pub(crate) tools: HashMap<String, String>,
    pub(crate) trust: Trust,
    /// Whether an event that is none closes no gate, though its name is nearly that of one.
    pub(crate) ignores_unknown_events: bool,
    #[cfg(feature = "http")]
    pub(crate) http: crate::http::Http,
    #[cfg(feature = "cassette")]
    pub(crate) cassette: Option<hooks_runtime::replay::Cassette>,
}

impl Bridge {
    /// A bridge for what was read, in the folder of a project. Nothing of the project's own
    /// files runs until [`trust`](Self::trust) grants it. A relative folder is one in the
    /// current folder, as that is now; commands see it as a whole path.
    ///
    /// The example of [`Bridge`] makes one.
    pub fn new(project: impl Into<PathBuf>, plan: Plan) -> Self {
        let shared = Shared {
            project: crate::absolute(&project.into()),
            mode: Mode::Strict,
            runner: Runner::new(Limits::default()),
            environment: Environment::default(),
            tools: HashMap::new(),
            trust: Trust::default(),
            ignores_unknown_events: false,
            #[cfg(feature = "http")]
            http: crate::http::Http::default(),
            #[cfg(feature = "cassette")]
            cassette: None,
        };
        Self {
            shared: Arc::new(shared),
            entries: Arc::new(plan.entries),
            unread: Arc::new(plan.unread),
        }
    }

    fn change(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }

    /// How answers are read; [`Mode::Strict`] without it.
    ///
    /// ```
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::{Bridge, Mode};
    ///
    /// let bridge = Bridge::new("/srv/shop", Plan::default()).mode(Mode::Faithful);
    /// assert_eq!(bridge.skipped().count(), 0);
    /// ```
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        self.change(|shared| shared.mode = mode)
    }

    /// What commands may take.
    ///
    /// ```
    /// use hooks_bridge::Bridge;
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::runner::Limits;
    ///
    /// let limits = Limits { concurrent: 2, ..Limits::default() };
    /// let bridge = Bridge::new("/srv/shop", Plan::default()).limits(limits);
    /// # drop(bridge);
    /// ```
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.change(|shared| shared.runner = Runner::new(limits))
    }

    /// Which variables of the host's environment commands see.
    ///
    /// ```
    /// use hooks_bridge::Bridge;
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::runner::Environment;
    ///
    /// let environment = Environment::default().allow("CARGO_HOME");
    /// let bridge = Bridge::new("/srv/shop", Plan::default()).environment(environment);
    /// # drop(bridge);
    /// ```
    #[must_use]
    pub fn environment(self, environment: Environment) -> Self {
        self.change(|shared| shared.environment = environment)
    }

    /// A tool of the host, and the name that Claude Code has for such a tool: matchers of
    /// every dialect find it by its own name for that, and no longer by the host's.
    ///
    /// The example of [`Bridge`] names one.
    #[must_use]
    pub fn tool(self, of_host: impl Into<String>, common: impl Into<String>) -> Self {
        self.change(|shared| {
            shared.tools.insert(of_host.into(), common.into());
        })
    }

    /// Leaves entries out whose event the dialect does not have, whatever its name is.
    ///
    /// Without it such an entry closes a gate in [`Mode::Strict`] where its event is nearly the
    /// name of that gate, as `PreToolUs` is, or the name that another dialect has for it: it may
    /// be a guard that nobody would miss. A name that is like none, as that of an event which is
    /// newer than this crate, closes nothing.
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::points::UsingTool;
    /// use hooks_bridge::{Bridge, Dialect};
    ///
    /// let text = r#"{ "hooks": { "PreToolUs": [ { "hooks": [
    ///     { "type": "command", "command": "exit 2" } ] } ] } }"#;
    /// let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// let bridge = Bridge::new("/srv/shop", Plan::read_text(&source, text, "/srv/shop"));
    /// assert!(!bridge.gate::<UsingTool>().is_empty());
    /// assert!(bridge.ignore_unknown_events().gate::<UsingTool>().is_empty());
    /// ```
    #[must_use]
    pub fn ignore_unknown_events(self) -> Self {
        self.change(|shared| shared.ignores_unknown_events = true)
    }

    /// What of the project may run.
    ///
    /// The example of [`Trust`] has grants.
    #[must_use]
    pub fn trust(self, trust: Trust) -> Self {
        self.change(|shared| shared.trust = trust)
    }

    /// Which addresses handlers of the type `http` may post to.
    ///
    /// The example of [`Http`](crate::http::Http) allows one.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn http(self, http: crate::http::Http) -> Self {
        self.change(|shared| shared.http = http)
    }

    /// Answers of commands and of addresses, kept in a file: recorded the first time, given
    /// again after, without a process or a request. For tests.
    ///
    /// What is asked is the name of the handler with the event, the command as its file has it
    /// and what it would find in its stdin, in which the folder of the project and the time are
    /// left open; what came of it is how it ended and what it wrote, or why it failed. What has
    /// to be so before a command runs has to be so here: it is trusted, its script exists, its
    /// address is allowed. The bytes of a script are no part of the question. A run that its
    /// fire dropped is not recorded.
    ///
    /// All of that is in the file as it was, for whoever may read it: prompts, the input of
    /// tools, and what commands printed. Variables and headers are not.
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::points::{SessionStarting, SessionStartingPayload};
    /// use hooks_bridge::{Bridge, Dialect};
    /// use hooks_runtime::HookRegistry;
    /// use hooks_runtime::replay::{Cassette, CassetteMode};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("advice.jsonl");
    /// let text = r#"{ "hooks": { "SessionStart": [ { "hooks": [
    ///     { "type": "command", "command": "date +%N" } ] } ] } }"#;
    /// let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// let mut said = Vec::new();
    /// // The first time it is run. The second time nothing is, so it says the same again.
    /// for mode in [CassetteMode::Once, CassetteMode::None] {
    ///     let bridge = Bridge::new("/tmp", Plan::read_text(&source, text, "/tmp"))
    ///         .cassette(&Cassette::open(&file, mode)?);
    ///     let hooks = HookRegistry::new();
    ///     hooks.register(bridge.amend::<SessionStarting>())?;
    ///     let payload = SessionStartingPayload::default();
    ///     said.push(hooks.fire_modifying::<SessionStarting>(&payload).await?.context);
    /// }
    /// assert!(said[0].is_some());
    /// assert_eq!(said[0], said[1]);
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "cassette")]
    #[must_use]
    pub fn cassette(self, cassette: &hooks_runtime::replay::Cassette) -> Self {
        self.change(|shared| shared.cassette = Some(cassette.clone()))
    }

    /// The entries that do not run, each with the reason.
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::{Bridge, Dialect};
    ///
    /// let text = r#"{ "version": 1, "hooks": { "stop": [ { "command": "true" } ] } }"#;
    /// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::Project);
    /// let bridge = Bridge::new("/srv/shop", Plan::read_text(&source, text, "/srv/shop"));
    /// let (entry, reason) = bridge.skipped().next().unwrap();
    /// assert_eq!((entry.event.as_str(), reason.as_str()), ("stop", "it is not trusted"));
    /// ```
    pub fn skipped(&self) -> impl Iterator<Item = (&Entry, String)> {
        self.entries.iter().filter_map(|entry| Some((entry, self.reason(entry)?)))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Whether an entry that cannot be read closes the gates that it is for: one that the
    /// host would have trusted may be a guard.
    pub(crate) fn closes(&self, entry: &Entry) -> bool {
        let waited_for = entry.handler.as_ref().is_none_or(|handler| !handler.background);
        let strict = self.shared.mode == Mode::Strict;
        let unknown = entry.meant.is_some() && self.shared.ignores_unknown_events;
        strict
            && entry.broken
            && !unknown
            && waited_for
            && self.shared.trust.covers(entry, &self.shared.project)
    }

    /// Why an entry does not run, if it does not.
    fn reason(&self, entry: &Entry) -> Option<String> {
        let untrusted =
            || self.shared.trust.refusal(entry, &self.shared.project).map(str::to_owned);
        entry.skipped.clone().or_else(untrusted)
    }

    /// The commands for the events that a point takes, each under a name of its own.
    pub(crate) fn commands(&self, takes: impl Fn(EventKind, &str) -> bool) -> Vec<Command> {
        let mut names = GivenNames::default();
        let of_point = self.unread.iter().chain(&*self.entries).filter_map(|entry| {
            if self.closes(entry) {
                let event = gate_of(entry, &takes)?;
                tracing::warn!(
                    target: "hooks_bridge",
                    place = %entry.place,
                    event = event.name,
                    why = %hooks_runtime::report::escaped(entry.skipped.as_deref().unwrap_or_default()),
                    "what cannot be read may be a guard, so its gate fails closed"
                );
                return Some((
                    entry,
                    event,
                    entry.handler.clone().unwrap_or_else(Handler::unknown),
                ));
            }
            let (event, handler) = (entry.rule?, entry.handler.clone()?);
            let runs = takes(event.kind, event.name) && self.reason(entry).is_none();
            runs.then_some((entry, event, handler))
        });
        let commands = of_point.enumerate().map(|(index, (entry, event, handler))| Command {
            shared: Arc::clone(&self.shared),
            entry: Arc::new(entry.clone()),
            handler,
            event,
            name: unique(&mut names, entry),
            index,
            granted: Arc::new(self.shared.trust.bytes(entry, &self.shared.project)),
            spent: AtomicBool::new(false),
        });
        commands.collect()
    }
}

/// The event of a gate that something unread is for; of a whole file the first that the
/// point takes.
fn gate_of(entry: &Entry, takes: impl Fn(EventKind, &str) -> bool) -> Option<&'static EventRule> {
    let is_gate = |event: &&EventRule| {
        event.kind.is_gate() && !event.kind.is_stop() && takes(event.kind, event.name)
    };
    let all = if entry.is_file() { entry.dialect.rules().events } else { &[] };
    entry.rule.into_iter().chain(entry.meant).chain(all).find(is_gate)
}

/// A name for a handler: that of its script or the beginning of its command, and a number
/// where another has it.
fn unique(names: &mut GivenNames, entry: &Entry) -> String {
    let script = entry.scripts.script.as_ref().or(entry.scripts.files.last());
    let script =
        script.and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let given = entry.handler.as_ref().and_then(|handler| handler.name.clone());
    let file = entry.place.file.file_name().filter(|_| entry.broken);
    let file = file.map(|name| name.to_string_lossy().into_owned());
    let address = match entry.handler.as_ref().map(|handler| &handler.kind) {
        Some(HandlerKind::Http { url, .. }) => Some(name_of_address(url)),
        _ => None,
    };
    let text = given.or(script).or(file).or(address).unwrap_or_else(|| entry.command());
    // What is behind a `/` in a target is the handler's name.
    let plain = hooks_runtime::report::escaped(&text).to_string().replace('/', "-");
    let short: String = plain.trim().chars().take(40).collect();
    let short = match short.trim() {
        "" => "command",
        short => short,
    };
    // The names that the bridge itself uses are taken.
    let taken = |name: &str| name == FIRST || name.ends_with(AGAIN) || name.ends_with(GOES_ON);
    let next = names.numbers.entry((entry.dialect, short.to_owned())).or_insert(2);
    let mut name = short.to_owned();
    while taken(&name) || !names.given.insert((entry.dialect, name.clone())) {
        name = format!("{short} #{next}");
        *next += 1;
    }
    name
}

/// The names that handlers have.
#[derive(Default)]
struct GivenNames {
    given: HashSet<(crate::Dialect, String)>,
    /// What the next one of a name is numbered with.
    numbers: HashMap<(crate::Dialect, String), usize>,
}
