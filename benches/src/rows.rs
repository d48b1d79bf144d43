//! What callgrind counts: loops around one call each.
//!
//! A row's call is what a host writes, `hooks.fire_void::<P>(&payload).await?`,
//! in an async block that is polled once. So a count includes the lookup of the
//! point, the state of the future and the look at its outcome. "Over the loop"
//! is a row less [`EMPTY`], the same loop with nothing in it but the payload's
//! address, which the optimiser has to take for used. The lazy form is
//! compared with [`AWAITING`].

use std::future::Future;
use std::hint::black_box;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use hooks_runtime::record::{CapturePolicy, Recorder, Recording};
use hooks_runtime::{FireError, Gate, HookPoint, HookRegistry};

use crate::annotated;
use crate::elsewhere;
use crate::peers::boxed;
use crate::points::{
    AMEND, ASK, Amend, Ask, Form, HEAR, Hear, Message, Pass, TELL, Tell, TellPayload, amenders,
    askers, hearers, passers, serialised, tell, tellers,
};
use crate::wait::block_on;

/// The row that the others are compared with.
pub(crate) const EMPTY: &str = "empty-loop";

/// The empty loop around an await that is never reached, as that of the lazy
/// form is not where there are no handlers. It keeps its counter in memory, because a
/// future that is awaited might suspend: of its instructions over [`EMPTY`] two
/// are the test that decides whether to await, the others are the loop's.
pub(crate) const AWAITING: &str = "awaiting-loop";

/// A row's name, and its loop.
type Row = (&'static str, fn(u32));

/// A loop in an async block that is polled by the simplest of executors.
macro_rules! rounds {
    ($rounds:ident, $call:expr) => {
        block_on(async {
            for _ in 0..$rounds {
                $call
            }
            Ok::<_, FireError>(())
        })
        .expect("no handler fails")
    };
}

/// So many fires are recorded before the writer has a turn.
const RECORDED_AT_ONCE: u32 = 100;

/// Never set, which the compiler does not know.
static WAITS: AtomicBool = AtomicBool::new(false);

/// A future of which the compiler knows nothing.
struct Unknown(&'static AtomicBool);

impl Future for Unknown {
    type Output = ();

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.load(Ordering::Relaxed) { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// All rows.
pub(crate) const ROWS: [Row; 39] = [
    (EMPTY, |rounds| {
        rounds!(rounds, {
            black_box(&TELL);
        });
    }),
    (AWAITING, |rounds| {
        rounds!(rounds, {
            if WAITS.load(Ordering::Relaxed) {
                Unknown(&WAITS).await;
            }
        });
    }),
    ("none-void", |rounds| void(rounds, &HookRegistry::new())),
    ("none-claiming", |rounds| claiming(rounds, &HookRegistry::new())),
    ("none-modifying", |rounds| modifying(rounds, &HookRegistry::new())),
    ("none-gating", |rounds| gating(rounds, &HookRegistry::new())),
    ("none-lazy", |rounds| {
        let hooks = HookRegistry::new();
        rounds!(rounds, {
            hooks.fire_void_with::<Tell>(|| TellPayload { n: black_box(&TELL).n }).await?;
        });
    }),
    ("none-asked", |rounds| {
        let hooks = HookRegistry::new();
        rounds!(rounds, {
            if black_box(hooks.has_handlers::<Tell>()) {
                hooks.fire_void::<Tell>(black_box(&TELL)).await?;
            }
        });
    }),
    ("dyn-fn-8", |rounds| {
        let calls = boxed(8, tell);
        rounds!(rounds, {
            for call in black_box(&calls) {
                call(black_box(&TELL));
            }
        });
    }),
    ("void-sync-1", |rounds| void(rounds, &tellers(1, Form::Sync))),
    ("void-sync-8", |rounds| void(rounds, &tellers(8, Form::Sync))),
    ("void-sync-16", |rounds| void(rounds, &tellers(16, Form::Sync))),
    ("void-ready-1", |rounds| void(rounds, &tellers(1, Form::Ready))),
    ("void-ready-8", |rounds| void(rounds, &tellers(8, Form::Ready))),
    ("void-ready-16", |rounds| void(rounds, &tellers(16, Form::Ready))),
    ("void-annotated-8", |rounds| void(rounds, &annotated::eight())),
    ("void-once-8", |rounds| void(rounds, &tellers(8, Form::Once))),
    ("void-large-8", |rounds| void(rounds, &tellers(8, Form::Large))),
    ("claiming-sync-8", |rounds| claiming(rounds, &askers(8, Form::Sync))),
    ("claiming-ready-8", |rounds| claiming(rounds, &askers(8, Form::Ready))),
    ("claiming-ready-16", |rounds| claiming(rounds, &askers(16, Form::Ready))),
    ("claiming-once-8", |rounds| claiming(rounds, &askers(8, Form::Once))),
    ("modifying-sync-8", |rounds| modifying(rounds, &amenders(8, Form::Sync))),
    ("modifying-ready-8", |rounds| modifying(rounds, &amenders(8, Form::Ready))),
    ("modifying-ready-16", |rounds| modifying(rounds, &amenders(16, Form::Ready))),
    ("gating-sync-8", |rounds| gating(rounds, &passers(8, Form::Sync))),
    ("gating-ready-8", |rounds| gating(rounds, &passers(8, Form::Ready))),
    ("gating-ready-16", |rounds| gating(rounds, &passers(16, Form::Ready))),
    ("beside-10000-handlers", |rounds| beside(rounds, |hooks| elsewhere::handlers(hooks, 10_000))),
    ("beside-1000-points", |rounds| beside(rounds, elsewhere::points)),
    ("beside-1000-plugins", |rounds| beside(rounds, |hooks| elsewhere::plugins(hooks, 1_000))),
    ("beside-settings", |rounds| beside(rounds, elsewhere::settings)),
    ("beside-trace", |rounds| beside(rounds, elsewhere::trace)),
    ("after-trace", |rounds| beside(rounds, elsewhere::traced)),
    ("beside-recording", |rounds| beside(rounds, elsewhere::recording)),
    ("after-recording", |rounds| beside(rounds, elsewhere::recorded)),
    ("heard-8", |rounds| void_heard(rounds, &hearers(8))),
    ("recorded-8", |rounds| recorded(rounds, CapturePolicy::None)),
    ("recorded-full-8", |rounds| recorded(rounds, CapturePolicy::Full)),
];

/// What one more handler takes: the difference of two rows, over eight.
pub(crate) const ONE_MORE: [(&str, &str, &str); 5] = [
    ("void, sync, one more", "void-sync-16", "void-sync-8"),
    ("void, async, one more", "void-ready-16", "void-ready-8"),
    ("claiming, async, one more", "claiming-ready-16", "claiming-ready-8"),
    ("modifying, async, one more", "modifying-ready-16", "modifying-ready-8"),
    ("gating, async, one more", "gating-ready-16", "gating-ready-8"),
];

fn void(rounds: u32, hooks: &HookRegistry) {
    rounds!(rounds, hooks.fire_void::<Tell>(black_box(&TELL)).await?);
}

/// As `void-sync-8`, with these registered as well.
fn beside(rounds: u32, others: fn(&HookRegistry)) {
    let hooks = uncounted(|| {
        let hooks = tellers(8, Form::Sync);
        others(&hooks);
        hooks
    });
    void(rounds, &hooks);
    uncounted(|| drop(hooks));
}

/// What callgrind does not count: with thousands of handlers, set-up takes more or
/// less from run to run, because the seeds of hash maps differ.
#[inline(never)]
fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Fires of a point that serialises.
fn void_heard(rounds: u32, hooks: &HookRegistry) {
    rounds!(rounds, hooks.fire_void::<Hear>(black_box(&HEAR)).await?);
}

/// The same, recorded. What the writer does in between is not the fire's.
fn recorded(rounds: u32, policy: CapturePolicy) {
    let (hooks, recording, mut writer) = uncounted(|| {
        let hooks = hearers(8);
        let recorder = Recorder::into_writer(io::sink()).catalogue(&serialised());
        let (recording, writer) =
            recorder.capture(Hear::NAME, policy).start(&hooks).expect("it begins");
        (hooks, recording, Box::pin(writer.run()))
    });
    for _ in 0..rounds / RECORDED_AT_ONCE {
        void_heard(RECORDED_AT_ONCE, &hooks);
        uncounted(|| write(&recording, writer.as_mut()));
    }
    uncounted(|| drop((recording, writer, hooks)));
}

/// Has the writer write what waits.
fn write(recording: &Recording, mut writer: Pin<&mut impl Future>) {
    let mut task = Context::from_waker(Waker::noop());
    let mut written = pin!(recording.flush());
    while written.as_mut().poll(&mut task).is_pending() {
        let ended = writer.as_mut().poll(&mut task).is_ready();
        assert!(!ended, "the recording goes on");
    }
}

fn claiming(rounds: u32, hooks: &HookRegistry) {
    rounds!(rounds, {
        let claim = hooks.fire_claiming::<Ask>(black_box(&ASK)).await?;
        black_box(claim.is_claimed());
    });
}

fn modifying(rounds: u32, hooks: &HookRegistry) {
    rounds!(rounds, {
        black_box(&hooks.fire_modifying::<Amend>(black_box(&AMEND)).await?);
    });
}

fn gating(rounds: u32, hooks: &HookRegistry) {
    let mut held = Message::new();
    rounds!(rounds, {
        match hooks.fire_gating::<Pass>(held).await? {
            Gate::Passed(message) => held = message,
            Gate::Rejected(_) => unreachable!("all let it pass"),
        }
    });
}

/// Runs a row: what callgrind looks at.
pub(crate) fn run(name: &str, rounds: u32) -> Result<(), String> {
    let row = ROWS.iter().find(|(known, _)| *known == name);
    let (_, row) = row.ok_or_else(|| format!("there is no row `{name}`"))?;
    row(rounds);
    Ok(())
}
