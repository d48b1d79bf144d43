//! What the agent's hooks do, recorded in a file.

use std::error::Error;
use std::path::{Path, PathBuf};

use hooks_points::catalogue;
use hooks_runtime::HookRegistry;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::record::{CapturePolicy, RecordSummary, Recorder, Recording};

type Failure = Box<dyn Error + Send + Sync>;

/// A recording of the agent under way.
#[derive(Debug)]
pub struct Recorded {
    recording: Recording,
    path: PathBuf,
}

/// All points that the agent may fire, which serialise.
pub fn points() -> [Catalogue; 4] {
    [catalogue::agent(), catalogue::gateway(), catalogue::lifecycle(), catalogue::mcp()]
}

impl Recorded {
    /// Records what happens in this registry from now on, with all payloads, in place of what
    /// is in that file.
    pub fn start(hooks: &HookRegistry, path: &Path) -> Result<Self, Failure> {
        if path.is_file() {
            std::fs::remove_file(path)?;
        }
        let recorder = Recorder::to(path).capture("*", CapturePolicy::Full);
        let recorder = points().iter().fold(recorder, Recorder::catalogue);
        let (recording, writer) = recorder.start(hooks)?;
        tokio::spawn(writer.run());
        Ok(Self { recording, path: path.to_owned() })
    }

    /// Ends the recording; says where it is, and what is in it.
    pub async fn close(self) -> String {
        let path = self.path.display();
        let RecordSummary { fires, dropped, .. } = self.recording.close().await;
        let left_out = if dropped > 0 { format!(", without {dropped}") } else { String::new() };
        format!("the recording is in `{path}`: {fires} fires{left_out}")
    }
}
