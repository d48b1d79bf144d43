//! A process group that is never left behind.

use std::process::ExitStatus;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use tokio::process::Child;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use super::mark::Mark;
use super::stragglers::Stragglers;

/// A command that leads a process group of its own, and what left that group.
///
/// Signals go to the group only while its leader has not been reaped: until then its id
/// cannot become that of another group.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    leader: Option<Pid>,
    children: Signals,
    stragglers: Stragglers,
}

/// A signal arrives with each child that ends; it is asked for before there is a child.
pub(super) fn child_signals() -> std::io::Result<Signals> {
    signal(SignalKind::child())
}

impl Group {
    pub(super) fn new(child: Child, children: Signals, mark: Mark) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        Self { child, leader, children, stragglers: Stragglers::of(leader, mark) }
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns when the leader has ended, and leaves it to be reaped.
    pub(super) async fn ended(&mut self) {
        let Some(leader) = self.leader else { return };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(leader), look) {
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Ok(Some(_)) | Err(_) => return,
            }
            if self.children.recv().await.is_none() {
                return;
            }
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // A group without processes is what is wanted; a leader that has left it is not.
            let _ = kill_process_group(leader, signal);
            let _ = kill_process(leader, signal);
        }
    }

    /// Kills what left the group, which was killed before.
    pub(super) async fn sweep(&self) {
        self.stragglers.kill().await;
    }

    /// Reaps the leader, which has ended.
    pub(super) async fn reap(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.leader = None;
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.leader.is_some() {
            // The leader itself is killed by tokio, which reaps it too.
            self.signal(Signal::KILL);
            self.stragglers.kill_now();
        }
    }
}
