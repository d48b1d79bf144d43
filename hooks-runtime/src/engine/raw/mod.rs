//! The unsafe code of this crate, all of it, behind a safe face.
//!
//! What it promises to the safe code around it, and what each promise rests on:
//!
//! | invariant | kept by | test that fails without |
//! |---|---|---|
//! | A list lives while a thread reads its snapshot, or a fire with pending calls counts it. | `snapshot.rs`, `threads.rs`, `barrier.rs` | `unsafe_code/threads.rs`, `schedules/tests` |
//! | A handler's value lives while a thread runs it or a call of it is pending; its removal releases it when neither is so. | `handler.rs`, `invoke.rs`, `quick.rs`, `threads.rs` | `unsafe_code/removal.rs`, `schedules/tests/plugin_removal.rs` |
//! | A future lies in memory that its fire owns, is not moved after its first poll, and is dropped once, before that memory, also when anything unwinds. | `storage.rs`, `frame.rs`, `call.rs`, `invoke.rs` | `unsafe_code/shapes.rs`, `panics.rs`, `hostile.rs` |
//! | The input and the accumulator outlive the calls that borrow them; between polls there are only raw pointers to them. | `shell.rs`, `call.rs` | `unsafe_code/models.rs` |
//! | A handler is called only in a fire of the point that it was registered for. | `handler.rs`, `invoke.rs` | `unsafe_code/points.rs` |
//! | A condition is asked about a payload of the point of its handler, and lives as long as that. | `condition.rs`, `handler.rs`, `invoke.rs`, `quick.rs` | `unsafe_code/conditions.rs` |
//! | A context is used no longer than its call lasts. | `context.rs` | `unsafe_code/models.rs` |
//!
//! Each file argues for its part. Two points hold for all of them.
//!
//! **Two kinds of fences.** On Linux the readers' side of the protocol is a
//! compiler fence and the writers' side is `membarrier(2)`. The proofs (Miri, the
//! model checkers, `ThreadSanitizer`) run with a fence of the processor on both
//! sides, because they do not know that call. The protocol is the same, and what
//! it needs of the fences is one thing: when a reader stores and then loads, and
//! a writer stores and then loads, at least one of them sees the other's store.
//! `membarrier` makes every thread of the process pass a full fence between the
//! writer's store and its load: a reader's two steps are both before it, both
//! after it, or around it. Before it, the writer sees the store; after it, the
//! reader sees the writer's; around it, the reader's store was made before the
//! writer looks.
//!
//! **Unwinding.** Code of users is called in `invoke.rs`, `quick.rs` and in drops that
//! are contained, nowhere else, and all catch what unwinds. No value that owns a
//! future or a user's value is dropped by unwinding: futures are known to the
//! frame before their first poll and dropped by its owner afterwards.

mod barrier;
mod call;
mod condition;
mod contained;
mod context;
mod frame;
mod future;
mod handler;
mod invoke;
mod quick;
mod shell;
mod snapshot;
mod storage;
mod threads;

pub(crate) use barrier::is_refused as barrier_is_refused;
pub(crate) use call::{Call, CallStep};
pub(crate) use condition::ErasedCondition;
pub(crate) use contained::Contained;
pub use context::{FireKey, HookContext};
pub(crate) use frame::{Frame, Watch};
pub(crate) use handler::{EntryRef, ErasedHandler, HandlerCell, HandlerRef, Invoke};
pub(crate) use invoke::{Asked, Invocation, with_waker};
pub(crate) use quick::{Quickly, call_all, resume_all};
pub(crate) use shell::{Composition, FireFuture};
pub(crate) use snapshot::{SnapshotCell, Unguarded};
pub(crate) use storage::NodeId;
pub(crate) use threads::{ActiveStep, Nested, Published, RawStep, RunStep, Step, chain};
