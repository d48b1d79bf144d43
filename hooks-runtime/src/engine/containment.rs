//! Panics of users' code: caught, kept apart from its values, and logged.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::observe::log;

/// What a panic carried.
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// The message of a panic, whatever it carried.
///
/// The payload is dropped here, guarded: its own drop may panic.
pub(crate) fn message_of(payload: PanicPayload) -> String {
    let message = if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "the panic carried no text".to_owned()
    };
    discard(Some(payload));
    message
}

/// Drops what a panic carried, even when that panics in turn. What panics
/// again and again is leaked in the end: better than a fire that hangs.
pub(crate) fn discard(mut panic: Option<PanicPayload>) {
    for _ in 0..8 {
        let Some(payload) = panic else { return };
        panic = catch(|| drop(payload)).err();
    }
    std::mem::forget(panic);
}

/// Runs `work`; a panic in it comes back.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, PanicPayload> {
    catch_unwind(AssertUnwindSafe(work))
}

/// Runs `work`; a panic in it comes back as its message.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch(work).map_err(message_of)
}

/// Drops `value`, which is the user's; a panic in that goes to the log.
pub(crate) fn drop_contained<T>(what: &str, value: T) {
    if let Err(message) = contained(|| drop(value)) {
        log::drop_panicked(what, &message);
    }
}

/// Logs a panic in the drop of a handler's future that is not the handler's
/// outcome.
#[cold]
pub(crate) fn log_in_drop(panic: PanicPayload) {
    log::future_panicked_in_drop(&message_of(panic));
}

/// Logs a panic in the drop of values that a handler's answer displaced, or
/// that came too late to be part of the outcome.
#[cold]
pub(crate) fn log_spared(message: &str) {
    log::drop_panicked("what came too late", message);
}

/// The text of an error that belongs to the user, even when it panics.
pub(crate) fn shown(error: &dyn Display) -> String {
    shown_as("error", error)
}

/// The same for the reason of a rejection.
pub(crate) fn shown_reason(reason: &dyn Display) -> String {
    shown_as("reason", reason)
}

fn shown_as(what: &str, value: &dyn Display) -> String {
    contained(|| value.to_string())
        .unwrap_or_else(|message| format!("printing the {what} panicked: {message}"))
}
