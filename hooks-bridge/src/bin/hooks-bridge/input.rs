//! What the tool reads beside hook files: a payload, and grants.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use hooks_bridge::trust::{Grants, GrantsError};
use serde_json::Value;

use crate::Failure;

/// The largest payload.
const LARGEST: u64 = 64 << 20;

/// The folder of the project, as it is called everywhere else.
pub(crate) fn project(folder: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    let shown = hooks_runtime::report::escaped(&folder.display().to_string()).to_string();
    if !folder.is_dir() {
        return Err(format!("`{shown}` is no folder: write that of the project").into());
    }
    Ok(folder.canonicalize()?)
}

/// The payload on stdin; why it is none, where it is no JSON.
pub(crate) fn payload() -> Result<Result<Value, String>, Failure> {
    let (mut stdin, mut bytes) = (io::stdin().lock(), Vec::new());
    if stdin.is_terminal() {
        eprintln!(
            "note: type the payload as JSON and end it with Ctrl-D, or give a file: `< payload.json`"
        );
    }
    stdin.by_ref().take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("the payload on stdin has more than {} MiB", LARGEST >> 20).into());
    }
    Ok(serde_json::from_slice(&bytes).map_err(|error| {
        let empty = bytes.trim_ascii().is_empty();
        let what = if empty { "there is no payload".into() } else { error.to_string() };
        format!("one JSON object is expected on stdin, such as the event has it: {what}")
    }))
}

/// The grants of the operator: in a file of theirs, outside of the project.
pub(crate) fn grants(file: Option<PathBuf>, project: &Path) -> Result<Grants, Failure> {
    if let Some(file) = file {
        let grants = Grants::read(&file, project)?;
        if !file.exists() {
            let shown = hooks_runtime::report::escaped(&file.display().to_string()).to_string();
            eprintln!("note: there is no file `{shown}`, so nothing is granted");
        }
        return Ok(grants);
    }
    let Some(file) = usual() else { return Ok(Grants::default()) };
    match Grants::read(&file, project) {
        // The project is the home folder, or above it: all can be shown, and nothing of it
        // is granted.
        Err(error @ GrantsError::InProject(_)) => {
            eprintln!("note: {error}, and name it with `--grants FILE`; nothing is granted here");
            Ok(Grants::default())
        }
        grants => Ok(grants?),
    }
}

/// Where the grants are when nothing else is said.
fn usual() -> Option<PathBuf> {
    // One that is empty or relative counts as not set.
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    folder.map(|folder| folder.join("hooks-bridge/grants"))
}
