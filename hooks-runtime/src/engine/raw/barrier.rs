//! A fence that is cheap for one side: readers of the snapshot pay nothing for
//! it, writers pay for both.
//!
//! A reader publishes what it is about to use and then looks whether that is
//! still current; a writer makes it no longer current and then looks who has
//! published it. For one of them to see the other, each must do its two steps
//! in this order for all to see. With `membarrier(2)` the writer asks the kernel
//! to run a full fence on every thread of the process, so that for the reader
//! it is enough that the compiler keeps the order. Where the call does not exist
//! or is refused, and under tools that do not know it, both sides use a fence of
//! the processor. Which of the two it is is settled once, before the first
//! reader.
#![allow(unsafe_code)]

use crate::sync::atomic::{Ordering, fence};

/// How the reader's side is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderFence {
    /// The compiler keeps the order, the writer does the rest.
    Compiler,
    /// A fence of the processor.
    Processor,
}

/// How the reader's side is done where the quickest way of a fire is taken: as
/// this kind of process can. Where the kernel refuses that, no fire takes it.
pub(crate) const QUICK: ReaderFence =
    if asymmetric::IS_KNOWN { ReaderFence::Compiler } else { ReaderFence::Processor };

/// How the reader's side is done in this process.
pub(crate) fn reader_fence() -> ReaderFence {
    if asymmetric::is_available() { ReaderFence::Compiler } else { ReaderFence::Processor }
}

/// The reader's side: what was stored before is visible to a writer, or what a
/// writer stored before its side is visible from here on.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn light(reader: ReaderFence) {
    match reader {
        ReaderFence::Compiler => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        ReaderFence::Processor => fence(Ordering::SeqCst),
    }
}

/// The writer's side. False where the kernel refused the call although it had
/// accepted it before: then nothing is known of the readers.
#[must_use]
pub(crate) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    reader_fence() == ReaderFence::Processor || asymmetric::run()
}

/// Whether the kernel refuses the call although it had accepted it before, as where
/// a filter of system calls was set in between. Nothing that was published before
/// can be released then.
pub(crate) fn is_refused() -> bool {
    !heavy()
}

#[cfg(all(target_os = "linux", not(any(miri, schedules, fences))))]
mod asymmetric {
    use crate::sync::statics::OnceLock;

    pub(super) const IS_KNOWN: bool = true;

    // From `linux/membarrier.h`.
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    pub(super) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        // Both, because a filter of system calls may accept only one.
        *AVAILABLE.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && run())
    }

    pub(super) fn run() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(not(all(target_os = "linux", not(any(miri, schedules, fences)))))]
use unsupported as asymmetric;

#[cfg(not(all(target_os = "linux", not(any(miri, schedules, fences)))))]
mod unsupported {
    pub(super) const IS_KNOWN: bool = false;

    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn run() -> bool {
        false
    }
}
