//! The directory that the tools work in.

use std::io;
use std::path::{Path, PathBuf};

use hooks_points::{ToolErrorCode, ToolResult};
use tokio::process::Command;

/// The directory that the tools work in, and do not leave.
///
/// It keeps paths inside and gives commands no shell and no environment. It is
/// no jail: a command that is run can still open any file by itself. Which
/// commands may run is for the plugins to say.
#[derive(Clone, Debug)]
pub struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    /// A sandbox at an existing directory.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of that path, if it exists and is inside.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, ToolResult> {
        let found = self.root.join(path).canonicalize().map_err(|error| {
            ToolResult::failure(ToolErrorCode::InputInvalid, format!("`{path}`: {error}"))
        })?;
        if found.starts_with(&self.root) {
            Ok(found)
        } else {
            let error = format!("`{path}` is outside of the sandbox: give a path inside of it");
            Err(ToolResult::failure(ToolErrorCode::InputInvalid, error))
        }
    }

    /// A command to be run here: a program and its arguments, no shell.
    pub(crate) fn command(&self, line: &str) -> Result<Command, ToolResult> {
        let words = shlex::split(line).filter(|words| !words.is_empty()).ok_or_else(|| {
            let error = format!("`{line}` is no command: give a program and its arguments");
            ToolResult::failure(ToolErrorCode::InputInvalid, error)
        })?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.root).env_clear().kill_on_drop(true);
        command.stdin(std::process::Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Ok(command)
    }
}
