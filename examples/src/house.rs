//! The agent and its plugins, put together.

use std::error::Error;
use std::sync::Arc;

use hooks_points::{AutonomyTier, OutboundMessage, Personality};
use hooks_runtime::{AnyPlugin, HookRegistry, handlers};
use tempfile::TempDir;

use crate::agent::{
    Agent, AgentError, AskPerson, Channel, Clock, CompleteTicket, ListDirectory, LocalChannel,
    Model, ReadFile, RunCommand, Sandbox, Setup, SpawnSubagent, StartProcess, Ticket, TicketStatus,
    Tool, UnloadPlugin,
};
use crate::plugins::{
    Allowlist, AuditLog, Briefing, Dedup, FileCache, SessionLog, SkillCollector, Telegram,
    UsageMeter, analytics, help_desk, privacy, sandboxer, verifier,
};

/// An agent with everything in place.
#[derive(Debug)]
pub struct House {
    /// The agent.
    pub agent: Agent,
    /// The plugins that can be asked what they have seen.
    pub plugins: Watched,
    /// What goes out to the terminal.
    pub terminal: Arc<LocalChannel>,
    /// What goes out to the chat platform.
    pub telegram: Arc<LocalChannel>,
    /// The sandbox and the database are in here, and go with it.
    directory: TempDir,
}

/// The plugins that can be asked what they have seen.
#[derive(Debug)]
pub struct Watched {
    /// When sessions begin and turns end.
    pub sessions: Arc<SessionLog>,
    /// What was used.
    pub usage: Arc<UsageMeter>,
    /// What was done.
    pub audit: Arc<AuditLog>,
    /// What could become a skill.
    pub skills: Arc<SkillCollector>,
}

impl House {
    /// An agent that this model speaks for, in a sandbox of its own.
    pub fn new(
        model: Box<dyn Model>,
        clock: impl Clock + Clone + 'static,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::in_registry(HookRegistry::new(), model, clock)
    }

    /// The same, with its plugins in this registry.
    pub fn in_registry(
        hooks: HookRegistry,
        model: Box<dyn Model>,
        clock: impl Clock + Clone + 'static,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let directory = TempDir::new()?;
        let workshop = directory.path().join("workshop");
        std::fs::create_dir(&workshop)?;
        std::fs::write(workshop.join("notes.txt"), "The release waits for T-7.\n")?;
        std::fs::write(workshop.join("todo.txt"), "open: tag it\ndone: test it\nopen: ship it\n")?;

        let terminal = Arc::new(LocalChannel::new("cli"));
        let telegram = Arc::new(LocalChannel::new("telegram"));
        let audit = AuditLog::open(&directory.path().join("audit.db"))?;
        let plugins = install(&hooks, clock.clone(), audit, Arc::clone(&telegram))?;
        let channels: [Arc<dyn Channel>; 2] = [terminal.clone(), telegram.clone()];
        let agent = agent(hooks, model, clock, Sandbox::new(&workshop)?, channels)?;
        Ok(Self { agent, plugins, terminal, telegram, directory })
    }

    /// The same house with an agent that knows nothing of the days before. Its plugins
    /// stay in their registry, with the settings there; what was unloaded joins again.
    pub fn again(
        self,
        model: Box<dyn Model>,
        clock: impl Clock + 'static,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let hooks = self.agent.hooks().clone();
        if hooks.handlers_of("analytics").is_empty() {
            hooks.register(handlers![analytics::visit, analytics::round_trip])?;
        }
        let sandbox = Sandbox::new(&self.directory().join("workshop"))?;
        let channels: [Arc<dyn Channel>; 2] = [self.terminal.clone(), self.telegram.clone()];
        let agent = agent(hooks, model, clock, sandbox, channels)?;
        Ok(Self { agent, ..self })
    }

    /// Where the sandbox and the database are.
    pub fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }
}

fn agent(
    hooks: HookRegistry,
    model: Box<dyn Model>,
    clock: impl Clock + 'static,
    sandbox: Sandbox,
    channels: [Arc<dyn Channel>; 2],
) -> Result<Agent, AgentError> {
    Agent::new(Setup {
        hooks,
        model,
        clock: Box::new(clock),
        sandbox,
        tools: tools(),
        personalities: personalities(),
        channels: channels.into(),
        tickets: vec![ticket()],
    })
}

/// All plugins. Their order is that of their handlers where priorities are equal.
fn install(
    hooks: &HookRegistry,
    clock: impl Clock + 'static,
    audit: AuditLog,
    telegram: Arc<LocalChannel>,
) -> Result<Watched, hooks_runtime::RegisterError> {
    let watched = Watched {
        sessions: Arc::new(SessionLog::default()),
        audit: Arc::new(audit),
        usage: Arc::new(UsageMeter::default()),
        skills: Arc::new(SkillCollector::new(3)),
    };
    let (rule, brevity) = ("Never delete what you did not make.", "In one line:");
    let first: Vec<Box<dyn AnyPlugin>> = vec![
        Box::new(Arc::clone(&watched.sessions)),
        Box::new(Arc::clone(&watched.audit)),
        Box::new(Arc::clone(&watched.usage)),
        Box::new(Arc::clone(&watched.skills)),
        Box::new(Briefing::new(move || clock.now(), rule, brevity)),
        Box::new(Allowlist::new(["cat", "grep", "ls", "sort"])),
    ];
    hooks.install_all(first)?;
    hooks.register(handlers![
        analytics::visit,
        analytics::round_trip,
        sandboxer::stay_inside,
        verifier::ticket,
        verifier::goal,
        help_desk::help,
        privacy::mask_keys,
        privacy::no_passwords,
    ])?;
    let last: Vec<Box<dyn AnyPlugin>> = vec![
        Box::new(Dedup::default()),
        Box::new(FileCache::default()),
        Box::new(Telegram::new(move |chat, text| {
            telegram.push(chat, OutboundMessage::text(text));
        })),
    ];
    hooks.install_all(last)?;
    Ok(watched)
}

fn tools() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(ReadFile),
        Box::new(ListDirectory),
        Box::new(RunCommand),
        Box::new(StartProcess),
        Box::new(CompleteTicket),
        Box::new(SpawnSubagent),
        Box::new(UnloadPlugin),
        Box::new(AskPerson),
    ]
}

/// The builder may use everything. The reviewer may only look, and admits only the
/// plugins that watch, and the cache, which has to see every command.
fn personalities() -> Vec<Personality> {
    let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    vec![
        Personality {
            id: "builder".into(),
            name: "Builder".into(),
            description: Some("You keep the workshop in order.".into()),
            ..Personality::default()
        },
        Personality {
            id: "reviewer".into(),
            name: "Reviewer".into(),
            description: Some("You look, and change nothing.".into()),
            toolset: names(&["read_file", "list_directory", "run_command"]),
            plugins: names(&[
                "allowlist",
                "audit-log",
                "file-cache",
                "privacy",
                "sandboxer",
                "usage-meter",
            ]),
            ..Personality::default()
        },
    ]
}

fn ticket() -> Ticket {
    Ticket {
        id: "T-7".into(),
        acceptance_criteria: Some("tests ran".into()),
        assignee: "builder".into(),
        autonomy_tier: AutonomyTier::Standard,
        status: TicketStatus::Open,
        completions: 0,
    }
}
