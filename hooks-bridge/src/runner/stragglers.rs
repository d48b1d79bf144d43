//! The processes of a run that have left its process group: found by the mark in their
//! environment, and killed.
//!
//! A process that leaves group and session (`setsid`, a double fork) is nobody's child in
//! the end, and a signal to the group does not reach it. It keeps the environment that it
//! was started with, though, which `/proc/<id>/environ` shows to its own user. One that
//! starts with an empty environment, overwrites it, or belongs to another user is not found.

#[cfg(target_os = "linux")]
pub(super) use linux::Stragglers;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Stragglers;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::ops::RangeInclusive;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use crate::runner::mark::Mark;

    /// How often it is looked again for processes that were killed and still end.
    const MOST_ROUNDS: usize = 100;

    /// How often it is looked again where it is only unknown what a process is.
    const UNSURE_ROUNDS: usize = 3;

    /// Between two rounds.
    const PAUSE: Duration = Duration::from_millis(1);

    /// In a run as short as this the ids of processes do not come round: all that it began
    /// have ids between that of its leader and the last one that was given.
    const SHORT: Duration = Duration::from_millis(100);

    /// Where to look for the processes of one run.
    #[derive(Clone, Debug)]
    pub(in crate::runner) struct Stragglers {
        leader: Option<i32>,
        began: Instant,
        mark: Mark,
    }

    /// What one round found.
    #[derive(Debug, Default)]
    struct Round {
        killed: usize,
        /// Processes without an environment: one that is being started shows none yet.
        unsure: usize,
    }

    impl Round {
        fn is_last(&self, round: usize) -> bool {
            self.killed == 0 && (self.unsure == 0 || round >= UNSURE_ROUNDS)
        }
    }

    impl Stragglers {
        pub(in crate::runner) fn of(leader: Option<Pid>, mark: Mark) -> Self {
            Self { leader: leader.map(|id| id.as_raw_nonzero().get()), began: Instant::now(), mark }
        }

        /// Kills all of them, and returns when they have ended.
        pub(in crate::runner) async fn kill(&self) {
            for round in 0..MOST_ROUNDS {
                let found = if let Some(ids) = self.nearby() {
                    self.among(ids)
                } else {
                    // As long as there are processes: not on a thread of the runtime.
                    let all = self.clone();
                    let walked = tokio::task::spawn_blocking(move || all.anywhere()).await;
                    walked.unwrap_or_default()
                };
                if found.is_last(round) {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }

        /// Kills all of them and does not wait for their end.
        pub(in crate::runner) fn kill_now(&self) {
            for round in 0..=UNSURE_ROUNDS {
                let found = match self.nearby() {
                    Some(ids) => self.among(ids),
                    None => self.anywhere(),
                };
                if found.is_last(round) {
                    return;
                }
                std::thread::yield_now();
            }
        }

        /// The ids among which all of them are, where that is known.
        fn nearby(&self) -> Option<RangeInclusive<i32>> {
            let (leader, last) = (self.leader?, last_id()?);
            (self.began.elapsed() < SHORT && last >= leader).then(|| leader + 1..=last)
        }

        fn among(&self, mut ids: RangeInclusive<i32>) -> Round {
            let mut round = Round::default();
            while !ids.is_empty() {
                let next = ids.end() + 1;
                ids.for_each(|id| self.meet(id, &mut round));
                // What was begun meanwhile, by one that ended before it was looked at.
                ids = next..=last_id().unwrap_or(0);
            }
            round
        }

        fn anywhere(&self) -> Round {
            let mut round = Round::default();
            let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
            let ids = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
            ids.for_each(|id| self.meet(id, &mut round));
            round
        }

        /// Kills the process if it is of this run.
        fn meet(&self, id: i32, round: &mut Round) {
            if !sees_itself() || self.leader == Some(id) {
                return;
            }
            let Ok(environment) = environment(id) else { return };
            if environment.is_empty() {
                round.unsure += usize::from(self.may_be_starting(id));
            } else if self.mark.is_in(&environment)
                && let Some(process) = Pid::from_raw(id)
                && let Ok(process) = pidfd_open(process, PidfdFlags::empty())
            {
                // Asked again: until the process was held, its id could become another's.
                let same = environment_has(id, &self.mark);
                let killed = same && pidfd_send_signal(process, Signal::KILL).is_ok();
                round.killed += usize::from(killed);
            }
        }

        /// Whether a process without an environment is young, and has not ended.
        fn may_be_starting(&self, id: i32) -> bool {
            let young = self.leader.is_none_or(|leader| id > leader);
            let stat = || fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let ended = |stat: &str| {
                let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
                state.is_none_or(|state| matches!(state, 'Z' | 'X'))
            };
            young && !ended(&stat())
        }
    }

    fn environment(id: i32) -> std::io::Result<Vec<u8>> {
        fs::read(format!("/proc/{id}/environ"))
    }

    fn environment_has(id: i32, mark: &Mark) -> bool {
        environment(id).is_ok_and(|environment| mark.is_in(&environment))
    }

    /// The id that was given last.
    fn last_id() -> Option<i32> {
        let load = fs::read_to_string("/proc/loadavg").ok()?;
        load.split_whitespace().last()?.parse().ok()
    }

    /// Whether the ids in `/proc` are those that signals go to: a container may show those
    /// of its host.
    fn sees_itself() -> bool {
        static SEES: OnceLock<bool> = OnceLock::new();
        *SEES.get_or_init(|| {
            let own = fs::read_link("/proc/self").ok();
            own.is_some_and(|own| own.to_str() == Some(&std::process::id().to_string()))
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use rustix::process::Pid;

    use crate::runner::mark::Mark;

    /// Without `/proc` they are not found.
    #[derive(Clone, Debug)]
    pub(in crate::runner) struct Stragglers;

    impl Stragglers {
        pub(in crate::runner) fn of(_: Option<Pid>, _: Mark) -> Self {
            Self
        }

        #[allow(clippy::unused_async)] // the same shape as where they are found
        pub(in crate::runner) async fn kill(&self) {}

        pub(in crate::runner) fn kill_now(&self) {}
    }
}
