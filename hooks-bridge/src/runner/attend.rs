//! Attending to a command that was started: its pipes, its deadline, its end.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::failure::{Cause, Failure};
use super::group::Group;
use super::invocation::Ran;
use super::limits::{Descendants, Limits};
use super::output::{TooLarge, feed, tail, text, whole};
use super::places::{LONGEST, Place};

/// How long killed processes may take to end: more only where the kernel holds them. A run
/// takes its limit, the grace and this at most.
pub(crate) const KILLED: Duration = Duration::from_secs(1);

/// How long what a killed command wrote last is read, where something holds its pipes.
const LAST_WORDS: Duration = Duration::from_millis(10);

/// Why the wait for a command ended.
enum Stopped {
    Ended,
    TimedOut,
    TooLarge,
}

/// Attends to a command until it has ended, or must.
pub(super) async fn attend(
    limits: &Limits,
    mut group: Group,
    input: &[u8],
    place: Place,
    stdout: usize,
) -> Result<Ran, Failure> {
    let most = limits.stdout.unwrap_or(stdout);
    let (mut out, mut err) = (Vec::new(), VecDeque::new());
    let child = group.child();
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let pump = async {
        let written = async {
            feed(pipes.0, input).await;
            Ok(())
        };
        let complained = async {
            tail(pipes.2, limits.stderr, &mut err).await;
            Ok(())
        };
        tokio::try_join!(written, whole(pipes.1, most, &mut out), complained).map(|_| ())
    };
    let (stopped, status) = watch(limits, &mut group, pump, place.deadline).await;
    let stderr = text(err);
    let cause = match (stopped, status) {
        (Stopped::Ended, Ok(Ok(status))) => {
            return Ok(Ran { exit: status.into(), stdout: out, stderr });
        }
        (Stopped::Ended, Ok(Err(error))) => Cause::Spawn(error.to_string()),
        (Stopped::Ended | Stopped::TimedOut, _) => Cause::Timeout(place.limit),
        (Stopped::TooLarge, _) => Cause::TooLarge(most),
    };
    Err(Failure { cause, started: true, stderr })
}

/// Waits until the command has ended or must, ends what it began, and reaps it.
async fn watch(
    limits: &Limits,
    group: &mut Group,
    pump: impl Future<Output = Result<(), TooLarge>>,
    deadline: Instant,
) -> (Stopped, Result<io::Result<ExitStatus>, Elapsed>) {
    tokio::pin!(pump);
    let mut pumping = true;
    let mut stopped = loop {
        tokio::select! {
            () = group.ended() => break Stopped::Ended,
            pumped = &mut pump, if pumping => {
                pumping = false;
                if matches!(pumped, Err(TooLarge)) {
                    break Stopped::TooLarge;
                }
            },
            () = sleep_until(deadline) => break Stopped::TimedOut,
        }
    };
    if matches!(stopped, Stopped::TimedOut) {
        group.signal(Signal::TERM);
        // From the deadline on, however late it was noticed.
        let grace = deadline + limits.grace.min(LONGEST);
        // The leader may be a shell that ends at once, and leaves its script at its last words: the
        // grace is for all that hold an output.
        let mut leads = true;
        while leads || pumping {
            tokio::select! {
                () = group.ended(), if leads => leads = false,
                // What is still written is read, so that it can end.
                _ = &mut pump, if pumping => pumping = false,
                () = sleep_until(grace) => break,
            }
        }
    }
    let ended = matches!(stopped, Stopped::Ended);
    let killed = Instant::now() + KILLED;
    if !ended || limits.descendants == Descendants::Kill {
        group.signal(Signal::KILL);
        // What is not gone by then the kernel holds.
        let _ = timeout_at(killed, group.sweep()).await;
    }
    if pumping {
        // A process that was left behind may hold the pipes for ever; of one that was killed
        // only its last words are missing.
        let drain = if ended { limits.drain } else { limits.drain.min(LAST_WORDS) };
        let drained = timeout(drain, &mut pump).await;
        if ended && matches!(drained, Ok(Err(TooLarge))) {
            stopped = Stopped::TooLarge;
        }
    }
    (stopped, timeout_at(killed, group.reap()).await)
}
