//! The variable by which all processes of a run are known, wherever they went.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the variable.
pub(super) const NAME: &str = "HOOKS_BRIDGE_RUN";

/// The value of the variable in one run: no other run has it, in this process or in
/// another.
///
/// A command of a host that is itself run by a bridge has the mark of its host before its
/// own, so that both runs find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Self {
        static OF_HOST: OnceLock<String> = OnceLock::new();
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let of_host = OF_HOST.get_or_init(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let outer = std::env::var(NAME).map(|outer| outer + ":").unwrap_or_default();
            format!("{outer}{}-{:x}", std::process::id(), now.as_nanos())
        });
        Self(format!("{of_host}-{}", RUNS.fetch_add(1, Ordering::Relaxed)))
    }

    /// The variable, as a command gets it.
    pub(super) fn variable(&self) -> (OsString, OsString) {
        (NAME.into(), (&self.0).into())
    }

    /// Whether an environment, as `/proc` shows it, has the mark.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))] // there is no `/proc` to read
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        environment.split(|byte| *byte == 0).any(|variable| {
            let value = variable.strip_prefix(NAME.as_bytes());
            let value = value.and_then(|value| value.strip_prefix(b"="));
            let behind = value.and_then(|value| value.strip_prefix(self.0.as_bytes()));
            behind.is_some_and(|behind| behind.first().is_none_or(|byte| *byte == b':'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_whole_and_before_that_of_a_run_within() {
        let mark = Mark("7-a-1".into());
        assert!(mark.is_in(b"A=b\0HOOKS_BRIDGE_RUN=7-a-1\0C=d\0"));
        assert!(mark.is_in(b"HOOKS_BRIDGE_RUN=7-a-1:9-b-0"));
        for other in ["HOOKS_BRIDGE_RUN=7-a-12", "HOOKS_BRIDGE_RUN=9-b-0:7-a-1", "X=7-a-1", ""] {
            assert!(!mark.is_in(other.as_bytes()), "{other}");
        }
        assert_ne!(Mark::new(), Mark::new());
    }
}
