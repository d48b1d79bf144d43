//! Writes what the agent did to an `SQLite` database. Needs `rusqlite`.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_points::{
    AfterTicketRevision, AfterTicketRevisionPayload, AfterToolCall, AfterToolCallPayload,
    AgentDone, AgentDonePayload, BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult,
    ProcessComplete, ProcessCompletePayload, SessionStart, SessionStartPayload, SubagentEnded,
    SubagentEndedPayload,
};
use hooks_runtime::{HookContext, hook_handlers};
use rusqlite::{Connection, Result, params};

/// What happened, in a database.
///
/// An insert takes some microseconds, so the handlers are plain functions. A
/// database that is slow to reach belongs behind an async client instead.
#[derive(Debug)]
pub struct AuditLog {
    database: Mutex<Connection>,
}

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditRow {
    /// What happened: `session`, `tool`, `refused`, …
    pub kind: String,
    /// Where it happened: a session, a ticket or a process.
    pub subject: String,
    /// More of it.
    pub detail: String,
}

#[hook_handlers(plugin = "audit-log")]
impl AuditLog {
    /// Fails closed: without a record there is no session.
    #[hook_handler(SessionStart, on_failure = "closed")]
    fn session(&self, start: &SessionStartPayload) -> Result<()> {
        self.insert("session", &start.session_id, &start.session_key)
    }

    /// Runs last, and has no opinion: it looks at what the others decided.
    #[hook_handler(BeforeToolCall, priority = 1000)]
    fn refusal(
        &self,
        call: &BeforeToolCallPayload,
        cx: &HookContext,
    ) -> Result<Option<BeforeToolCallResult>> {
        let decided = cx.merged::<BeforeToolCall>();
        if let Some(reason) = decided.and_then(|decided| decided.error.as_ref()) {
            self.insert("refused", &call.session_id, &format!("{}: {reason}", call.tool_name))?;
        }
        Ok(None)
    }

    #[hook_handler(AfterToolCall)]
    fn tool(&self, call: &AfterToolCallPayload) -> Result<()> {
        self.insert("tool", &call.session_id, &call.tool_name)
    }

    #[hook_handler(AfterTicketRevision)]
    fn revision(&self, revision: &AfterTicketRevisionPayload) -> Result<()> {
        self.insert("revision", &revision.task_id, &revision.reason)
    }

    #[hook_handler(SubagentEnded)]
    fn subagent(&self, ended: &SubagentEndedPayload) -> Result<()> {
        self.insert("subagent", &ended.child_session_id, &ended.result)
    }

    #[hook_handler(ProcessComplete)]
    fn process(&self, process: &ProcessCompletePayload) -> Result<()> {
        let detail = format!("exit code {}", process.exit_code);
        self.insert("process", &process.process_id, &detail)
    }

    #[hook_handler(AgentDone)]
    fn turn(&self, done: &AgentDonePayload) -> Result<()> {
        self.insert("turn", &done.session_id, &done.text)
    }
}

impl AuditLog {
    /// Opens the log in a file, or begins one there.
    pub fn open(path: &Path) -> Result<Self> {
        let database = Connection::open(path)?;
        // An insert then waits for no disk; a crash of the machine may cost the
        // last rows, never the file.
        database.execute_batch(
            "PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            CREATE TABLE IF NOT EXISTS audit (
                id INTEGER PRIMARY KEY,
                kind TEXT NOT NULL,
                subject TEXT NOT NULL,
                detail TEXT NOT NULL
            ) STRICT",
        )?;
        Ok(Self { database: Mutex::new(database) })
    }

    /// All rows, in the order in which they were written.
    pub fn rows(&self) -> Result<Vec<AuditRow>> {
        let database = self.database();
        let mut select = database.prepare("SELECT kind, subject, detail FROM audit ORDER BY id")?;
        let rows = select.query_map([], |row| {
            Ok(AuditRow { kind: row.get(0)?, subject: row.get(1)?, detail: row.get(2)? })
        })?;
        rows.collect()
    }

    /// How many rows there are of each kind, by kind.
    pub fn counts(&self) -> Result<Vec<(String, u64)>> {
        let database = self.database();
        let mut select =
            database.prepare("SELECT kind, count(*) FROM audit GROUP BY kind ORDER BY kind")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    fn insert(&self, kind: &str, subject: &str, detail: &str) -> Result<()> {
        self.database().execute(
            "INSERT INTO audit (kind, subject, detail) VALUES (?1, ?2, ?3)",
            params![kind, subject, detail],
        )?;
        Ok(())
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
