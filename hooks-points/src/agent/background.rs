//! Work that goes on beside the conversation.

use crate::types::BackgroundJob;

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires when a process that a session left running in the background ended.
    #[payload(derive(PartialEq))]
    pub void ProcessComplete {
        /// The process.
        process_id: String,
        /// The session that started it.
        session_id: String,
        /// The key by which the host finds the session again.
        session_key: String,
        /// The exit code.
        exit_code: i32,
        /// What it wrote to its standard output.
        stdout: String,
        /// What it wrote to its standard error.
        stderr: String,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    }

    /// Fires after every change of a background job to a state it will not
    /// leave again: done, failed or aborted.
    #[payload(derive(PartialEq))]
    pub void OnBackgroundJobComplete {
        /// The job.
        job: BackgroundJob,
    }
}
