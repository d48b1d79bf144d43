//! Texts and times as the API has them.

use std::time::{Duration, SystemTime};

use hooks_runtime::registry::Owner;

/// Longer texts of handlers are cut: a page shows many of them.
const LONGEST: usize = 1_000;

/// How an operator names a handler: as `HandlerInfo::address`.
pub(crate) fn address(point: &str, owner: &Owner, handler: &str) -> String {
    match owner.plugin() {
        None => format!("{point}:{handler}"),
        Some(plugin) => format!("{point}:{plugin}/{handler}"),
    }
}

/// The text, cut where it is very long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Whole nanoseconds, as the runtime writes times.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970, as a page reads them.
pub(crate) fn unix_ms(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
