//! Processes that go on when the turn is over.

use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hooks_points::{
    BackgroundJob, JobStatus, OnBackgroundJobComplete, OnBackgroundJobCompletePayload,
    ProcessComplete, ProcessCompletePayload,
};
use hooks_runtime::FireError;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::rounds::milliseconds;
use super::trace::{Event, Record};
use super::{Agent, Turn};

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
    /// Leaves a process running; returns its id. What is told of its end goes
    /// to the plugins of the turn that started it.
    pub(crate) fn leave_running(
        &self,
        turn: &Turn,
        session_id: &str,
        title: &str,
        command: Command,
    ) -> String {
        let id = self.ids.process();
        let turn = turn.branch();
        turn.note(format!("process {id}: {title}"));
        let task = tokio::spawn(run(turn.clone(), id.clone(), session_id.to_owned(), command));
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

/// Runs the process to its end, and tells the plugins.
async fn run(
    turn: Turn,
    id: String,
    session_id: String,
    mut command: Command,
) -> Result<(), FireError> {
    let began = Instant::now();
    let output = command.output().await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (exit_code, stdout, stderr) = match &output {
        Ok(Output { status, stdout, stderr }) => {
            (status.code().unwrap_or(-1), text(stdout), text(stderr))
        }
        Err(error) => (-1, String::new(), error.to_string()),
    };
    let succeeded = exit_code == 0;
    let complete = ProcessCompletePayload {
        process_id: id.clone(),
        session_key: format!("process:{session_id}"),
        session_id,
        exit_code,
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        duration_ms: milliseconds(began),
    };
    turn.tell::<ProcessComplete>(&id, &complete).await?;
    let job = BackgroundJob {
        id: id.clone(),
        status: if succeeded { JobStatus::Done } else { JobStatus::Failed },
        summary: succeeded.then_some(stdout),
        error: (!succeeded).then_some(stderr),
        origin: None,
    };
    turn.tell::<OnBackgroundJobComplete>(&id, &OnBackgroundJobCompletePayload { job }).await
}
