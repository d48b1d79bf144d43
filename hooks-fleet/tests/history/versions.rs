//! The points of the history, as two versions of a service know them: the newer has more
//! optional fields.

#![allow(unreachable_pub, reason = "points are public")]

use super::{Came, Kind};

pub mod old {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]

        /// Before a command is run.
        pub gating Running { line: String }
        /// Who takes a message.
        pub claiming Routing(String) -> u32;
        /// A page was stored.
        #[hook(on_failure = "closed")]
        pub void Stored { page: u32 }
    }

    pub fn running(line: String) -> RunningPayload {
        RunningPayload { line }
    }

    pub fn marked(command: &RunningPayload) -> RunningPayload {
        RunningPayload { line: format!("{}+", command.line) }
    }

    pub fn is_whole(_: &RunningPayload) -> bool {
        true
    }

    pub fn stored(page: u32) -> StoredPayload {
        StoredPayload { page }
    }
}

pub mod new {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]

        /// Before a command is run, for a reason.
        pub gating Running { line: String, reason: Option<String> }
        /// Who takes a message.
        pub claiming Routing(String) -> u32;
        /// A page was stored, with a note.
        #[hook(on_failure = "closed")]
        pub void Stored { page: u32, note: Option<String> }
    }

    pub fn running(line: String) -> RunningPayload {
        RunningPayload { line, reason: Some("it is asked for".to_owned()) }
    }

    pub fn marked(command: &RunningPayload) -> RunningPayload {
        let reason = command.reason.clone();
        RunningPayload { line: format!("{}+", command.line), reason }
    }

    pub fn is_whole(command: &RunningPayload) -> bool {
        command.reason.as_deref() == Some("it is asked for")
    }

    pub fn stored(page: u32) -> StoredPayload {
        // Only a process of this version takes it.
        StoredPayload { page, note: Some("of the newer version".to_owned()) }
    }
}

/// The number of an operation, which its payload carries.
pub(crate) fn number(line: &str) -> u64 {
    line.trim_end_matches('+').parse().unwrap()
}

fn came<T>(fired: Result<T, hooks_runtime::FireError>, ok: impl FnOnce(T) -> Came) -> Came {
    use hooks_fleet::{MayHaveRun, RemoteFailure};
    match fired {
        Ok(outcome) => ok(outcome),
        Err(error) => match RemoteFailure::of(&error) {
            Some(failure) if failure.may_have_run() == MayHaveRun::No => Came::Failed,
            Some(_) => Came::Unknown,
            None => panic!("{error}"),
        },
    }
}

macro_rules! version {
    ($fire:ident, $register:ident, $share:ident, $version:ident) => {
        /// Fires that operation.
        pub(crate) async fn $fire(
            hooks: &hooks_runtime::HookRegistry,
            number: u64,
            kind: Kind,
        ) -> Came {
            use hooks_runtime::{Claim, Gate};
            use $version::{Routing, Running, Stored};
            let line = number.to_string();
            match kind {
                Kind::Gate => {
                    let fired = hooks.fire_gating::<Running>($version::running(line)).await;
                    came(fired, |gate| match gate {
                        Gate::Passed(passed) if $version::is_whole(&passed) => {
                            Came::Passed(passed.line)
                        }
                        Gate::Passed(_) => Came::PassedWithout,
                        Gate::Rejected(_) => Came::Rejected,
                    })
                }
                Kind::Claim => {
                    came(hooks.fire_claiming::<Routing>(&line).await, |claim| match claim {
                        Claim::Claimed(by) => Came::Claimed(u64::from(by)),
                        // The point fails open: no claim may be a failure.
                        Claim::Unclaimed => Came::Unknown,
                    })
                }
                Kind::Durable => {
                    let page = $version::stored(u32::try_from(number).unwrap());
                    came(hooks.fire_void::<Stored>(&page).await, |()| Came::Stored)
                }
            }
        }

        /// The handlers of the service, which say that they run. Where one is planted, its guard
        /// passes every fifth without asking anything.
        pub(crate) fn $register(planted: bool, ran: fn(u64, &str)) -> hooks_runtime::HookRegistry {
            use hooks_runtime::{Judgement, Verdict, on};
            use $version::{Routing, Running, RunningPayload, Stored, StoredPayload};
            let hooks = hooks_runtime::HookRegistry::new();
            let first = on::<Running>().name("first").priority(1);
            let first = first.handler(move |it: &RunningPayload| {
                ran(number(&it.line), "first");
                Verdict::Replace($version::marked(it))
            });
            let second = on::<Running>().name("second").guard(move |it: &RunningPayload| {
                if planted && number(&it.line).is_multiple_of(5) {
                    return Judgement::Pass;
                }
                ran(number(&it.line), "second");
                // Every third is not allowed, and all that the rewriter has not seen.
                if number(&it.line).is_multiple_of(3) || !it.line.ends_with('+') {
                    Judgement::reject("no")
                } else {
                    Judgement::Pass
                }
            });
            let claim = on::<Routing>().name("claim").handler(move |it: &String| {
                ran(number(it), "claim");
                Some(u32::try_from(number(it)).unwrap())
            });
            let keep = on::<Stored>().name("keep").handler(move |it: &StoredPayload| {
                ran(u64::from(it.page), "keep");
            });
            hooks.register([first, second, claim, keep]).unwrap();
            hooks
        }

        /// Shares the points, with all handlers of the service required.
        pub(crate) async fn $share(
            fleet: &hooks_fleet::Fleet,
            hooks: &hooks_runtime::HookRegistry,
        ) -> hooks_fleet::Sharing {
            use $version::{Routing, Running, Stored};
            let share = fleet
                .share::<Running>(hooks)
                .require::<Running>("policy", "first")
                .require::<Running>("policy", "second")
                .require::<Routing>("policy", "claim")
                .require::<Stored>("policy", "keep");
            share.start().await.unwrap()
        }
    };
}

version!(fire_old, register_old, share_old, old);
version!(fire_new, register_new, share_new, new);
