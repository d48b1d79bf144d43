//! Whether a command may be started: its files are what was granted, and are there.

use std::sync::Arc;

use super::Command;
use crate::bridge::Shared;
use crate::config::Entry;
use crate::runner::{Cause, Failure};
use crate::trust::Bytes;
use crate::verdict::Mode;

/// What is asked before a command is started: when its turn comes, and once more where it had
/// to wait after that, for others to end or, where nothing waits for it, for its task to begin.
pub(super) struct Ready {
    shared: Arc<Shared>,
    entry: Arc<Entry>,
    granted: Arc<Bytes>,
}

impl Ready {
    pub(super) fn of(command: &Command) -> Self {
        let Command { shared, entry, granted, .. } = command;
        let (shared, entry, granted) = (shared.clone(), entry.clone(), granted.clone());
        Self { shared, entry, granted }
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        let Shared { trust, project, mode, .. } = &*self.shared;
        trust.check(&self.entry, project, &self.granted)?;
        match self.entry.scripts.missing_now() {
            // The exit code of an interpreter without a script may be that of a denial.
            Some(missing) if *mode == Mode::Strict => {
                Err(Failure::new(Cause::Missing(missing.to_owned())))
            }
            _ => Ok(()),
        }
    }
}
