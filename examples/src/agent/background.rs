//! Processes that go on when the turn is over.

use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hooks_points::{
    BackgroundJob, JobOrigin, JobStatus, OnBackgroundJobComplete, OnBackgroundJobCompletePayload,
    ProcessComplete, ProcessCompletePayload,
};
use hooks_runtime::FireError;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::rounds::milliseconds;
use super::trace::{Event, Record};
use super::{Agent, Session, Turn};

/// A process that was left running.
#[derive(Debug)]
struct Job {
    id: String,
    task: JoinHandle<Result<(), FireError>>,
    turn: Turn,
}

/// The processes that were left running.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Mutex<Vec<Job>>);

impl Agent {
    /// Leaves a process running; returns its id. The fires at its end reach the
    /// plugins of the turn that started it.
    pub(crate) fn leave_running(
        &self,
        turn: &Turn,
        session: &Session,
        title: &str,
        command: Command,
    ) -> String {
        let id = self.ids.process();
        let turn = turn.branch();
        turn.note(format!("process {id}: {title}"));
        let (platform, chat_id) = session.key.split_once(':').unwrap_or((&session.key, ""));
        let origin = JobOrigin {
            platform: Some(platform.to_owned()),
            chat_id: Some(chat_id.to_owned()),
            ..JobOrigin::default()
        };
        let complete = ProcessCompletePayload {
            process_id: id.clone(),
            session_id: session.id.clone(),
            session_key: session.key.clone(),
            exit_code: -1,
            stdout: String::new(),
            stderr: String::new(),
            duration_ms: 0,
        };
        let task = tokio::spawn(run(turn.clone(), complete, origin, command));
        let job = Job { id: id.clone(), task, turn };
        self.jobs.0.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        id
    }

    /// Waits for the processes that were left running; what happened in each
    /// is a record of its own, in the order in which they were started.
    pub async fn settle(&self) -> Vec<Record> {
        let jobs = std::mem::take(&mut *self.jobs.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut records = Vec::with_capacity(jobs.len());
        for Job { id, task, turn } in jobs {
            match task.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => turn.happened(Event::Failed(error.to_string())),
                Err(error) => turn.happened(Event::Failed(error.to_string())),
            }
            records.push(turn.finish(format!("background · {id}")));
        }
        records
    }
}

/// Runs the process to its end, and notifies the plugins.
async fn run(
    turn: Turn,
    mut complete: ProcessCompletePayload,
    origin: JobOrigin,
    mut command: Command,
) -> Result<(), FireError> {
    let began = Instant::now();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match command.output().await {
        Ok(Output { status, stdout, stderr }) => {
            // A process that was killed has no code.
            complete.exit_code = status.code().unwrap_or(-1);
            (complete.stdout, complete.stderr) = (text(stdout), text(stderr));
        }
        Err(error) => complete.stderr = error.to_string(),
    }
    complete.duration_ms = milliseconds(began);
    let id = complete.process_id.clone();
    turn.notify::<ProcessComplete>(&id, &complete).await?;

    let succeeded = complete.exit_code == 0;
    let job = BackgroundJob {
        id: id.clone(),
        status: if succeeded { JobStatus::Done } else { JobStatus::Failed },
        summary: succeeded.then_some(complete.stdout),
        error: (!succeeded).then_some(complete.stderr),
        origin: Some(origin),
    };
    turn.notify::<OnBackgroundJobComplete>(&id, &OnBackgroundJobCompletePayload { job }).await
}
