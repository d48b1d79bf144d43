//! What the tests of replays share: a recording in a folder of its own.
#![allow(dead_code, reason = "each test uses its part of this")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hooks_runtime::HookRegistry;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::record::{CapturePolicy, Recorder, Recording};

/// A folder that goes when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hooks-replay-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Records all that is fired from now on, with all values.
pub fn record(hooks: &HookRegistry, catalogue: &Catalogue, path: &Path) -> Recording {
    record_as(hooks, catalogue, path, CapturePolicy::Full)
}

/// The same, with what that policy leaves of the values.
pub fn record_as(
    hooks: &HookRegistry,
    catalogue: &Catalogue,
    path: &Path,
    policy: CapturePolicy,
) -> Recording {
    let recorder = Recorder::to(path).catalogue(catalogue).capture("*", policy);
    let (recording, writer) = recorder.start(hooks).unwrap();
    tokio::spawn(writer.run());
    recording
}
