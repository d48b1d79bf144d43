//! The points that are measured, their handlers, and registries full of them.
//!
//! The handlers are plain functions, so that those who do without a registry
//! call the very same ones.

use std::future::poll_fn;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, Registration, Verdict, on};

hooks_runtime::hook_points! {
    /// Void.
    pub(crate) void Tell { n: u64 }
    /// Claiming; none claims.
    pub(crate) claiming Ask { n: u64 } -> u64;
    /// Modifying; none has anything to add.
    pub(crate) modifying Amend { n: u64 } -> { first: String, second: String, third: String }
    /// Gating; all let it pass.
    pub(crate) gating Pass(Message);
    /// A flow around an operation that does next to nothing.
    pub(crate) flow Carry(TellPayload) -> u64;
}

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(crate) fn serialised)]
    /// Void, with JSON.
    pub(crate) void Hear { n: u64, words: String }
}

/// What has to pass a gate.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is as large as messages are, whichever part is read")]
pub(crate) struct Message {
    pub(crate) user_id: String,
    pub(crate) channel: String,
    pub(crate) content: String,
    pub(crate) thread_id: Option<String>,
}

impl Message {
    pub(crate) fn new() -> Self {
        Self {
            user_id: "user-1".to_owned(),
            channel: "bench".to_owned(),
            content: "a message of some length".to_owned(),
            thread_id: None,
        }
    }
}

pub(crate) const TELL: TellPayload = TellPayload { n: 1 };
pub(crate) const HEAR: HearPayload = HearPayload { n: 1, words: String::new() };
pub(crate) const ASK: AskPayload = AskPayload { n: 1 };
pub(crate) const AMEND: AmendPayload = AmendPayload { n: 1 };

/// How the handlers of a registry are written, and when they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain functions.
    Sync,
    /// Async functions that are ready at their first poll.
    Ready,
    /// Async functions that wait once.
    Once,
    /// Async functions that are ready at once, with a future of a kilobyte:
    /// more than a fire has room for.
    Large,
}

static SEEN: AtomicU64 = AtomicU64::new(0);

/// What every handler and every baseline does.
#[inline]
pub(crate) fn work(n: u64) {
    SEEN.store(black_box(n), Ordering::Relaxed);
}

/// Waits once: the task is woken at once, and polled again.
async fn once() {
    let mut waited = false;
    poll_fn(|task| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Keeps a kilobyte across an await that does not wait.
async fn large() {
    let room = [1_u64; 128];
    std::future::ready(()).await;
    black_box(&room);
}

/// The four forms of a point's handler, and a registry full of one of them.
macro_rules! forms {
    (
        $registry:ident: $point:ty, $input:ident: $payload:ty => $output:ty;
        $sync:ident, $ready:ident, $once:ident, $large:ident { $body:expr }
    ) => {
        #[inline]
        pub(crate) fn $sync($input: &$payload) -> $output {
            $body
        }

        pub(crate) async fn $ready($input: &$payload) -> $output {
            $body
        }

        pub(crate) async fn $once($input: &$payload) -> $output {
            once().await;
            $body
        }

        pub(crate) async fn $large($input: &$payload) -> $output {
            large().await;
            $body
        }

        pub(crate) fn $registry(count: usize, form: Form) -> HookRegistry {
            registry(count, || match form {
                Form::Sync => on::<$point>().handler($sync),
                Form::Ready => on::<$point>().handler($ready),
                Form::Once => on::<$point>().handler($once),
                Form::Large => on::<$point>().handler($large),
            })
        }
    };
}

forms! {
    tellers: Tell, p: TellPayload => ();
    tell, tell_ready, tell_once, tell_large { work(p.n) }
}

/// A registry with so many handlers of the point that serialises.
pub(crate) fn hearers(count: usize) -> HookRegistry {
    let hooks = HookRegistry::new();
    for _ in 0..count {
        let hear = |heard: &HearPayload| work(heard.n);
        hooks.register(on::<Hear>().handler(hear)).expect("it is registered");
    }
    hooks
}

forms! {
    askers: Ask, p: AskPayload => Option<u64>;
    ask, ask_ready, ask_once, ask_large {{
        work(p.n);
        None
    }}
}

forms! {
    amenders: Amend, p: AmendPayload => AmendResult;
    amend, amend_ready, amend_once, amend_large {{
        work(p.n);
        AmendResult::default()
    }}
}

forms! {
    passers: Pass, message: Message => Verdict<Message>;
    pass, pass_ready, pass_once, pass_large {{
        work(message.content.len() as u64);
        Verdict::Pass
    }}
}

/// A registry with handlers of [`Carry`], all in the stage before it.
pub(crate) fn carriers(count: usize, form: Form) -> HookRegistry {
    registry(count, || match form {
        Form::Sync => on::<BeforeExecute<Carry>>().handler(carry),
        Form::Ready => on::<BeforeExecute<Carry>>().handler(carry_ready),
        Form::Once | Form::Large => unreachable!("flows are measured with handlers that are ready"),
    })
}

fn carry(flow: &mut FlowContext<Carry>) {
    tell(flow.input().expect("the operation has not run"));
}

async fn carry_ready(flow: &mut FlowContext<Carry>) {
    carry(flow);
}

fn registry(count: usize, one: impl Fn() -> Registration) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register((0..count).map(|_| one())).expect("they are registered");
    hooks
}
