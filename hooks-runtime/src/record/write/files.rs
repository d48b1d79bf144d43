//! The files of a recording: none is overwritten, and each begins with a header.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::record::read::{numbered, numbered_path};
use crate::record::slot::nanoseconds;

/// How large and how old a file becomes, and how many there are.
#[derive(Debug)]
pub(in crate::record) struct FileLimits {
    pub(in crate::record) bytes: u64,
    pub(in crate::record) age: Option<Duration>,
    pub(in crate::record) files: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { bytes: 64 * 1_024 * 1_024, age: None, files: 16 }
    }
}

/// The files of a recording.
#[derive(Debug)]
pub(in crate::record) struct Files {
    path: PathBuf,
    limits: FileLimits,
    current: Option<Current>,
}

/// The file that is written to.
#[derive(Debug)]
struct Current {
    path: PathBuf,
    file: File,
    /// How much was written to it, and how often.
    bytes: u64,
    writes: u64,
    began_ns: u64,
}

impl Files {
    pub(super) fn new(path: PathBuf, limits: FileLimits) -> Self {
        Self { path, limits, current: None }
    }

    /// Whether a new file is to be begun, once so many bytes more are written.
    pub(super) fn is_due(&self, now_ns: u64, more: usize) -> bool {
        let Some(current) = &self.current else { return true };
        // The header alone is no reason for another.
        if current.writes < 2 && more == 0 {
            return false;
        }
        let age = now_ns.saturating_sub(current.began_ns);
        current.bytes + more as u64 >= self.limits.bytes
            || self.limits.age.is_some_and(|most| age >= nanoseconds(most))
    }

    /// Begins the next file, and removes the oldest where there are too many.
    pub(super) fn begin(&mut self, now_ns: u64) -> io::Result<()> {
        self.current = None;
        // Its own name would be passed over as taken, and the recording be beside it.
        if self.path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut known = numbered(&self.path)?;
        if fs::exists(&self.path)? {
            known.insert(0, (0, self.path.clone()));
        }
        let after = |number: u64| {
            let none = || io::Error::other("no number is left for the next file");
            number.checked_add(1).ok_or_else(none)
        };
        let mut number = known.last().map_or(Ok(0), |(newest, _)| after(*newest))?;
        let (path, file) = loop {
            let path = numbered_path(&self.path, number);
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                // Another recording was quicker.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    number = after(number)?;
                }
                Err(error) => return Err(error),
            }
        };
        self.current = Some(Current { path, file, bytes: 0, writes: 0, began_ns: now_ns });
        let too_many = (known.len() + 1).saturating_sub(self.limits.files);
        for (_, oldest) in &known[..too_many.min(known.len())] {
            // One that cannot be removed is none of this recording's business.
            let _ = fs::remove_file(oldest);
        }
        Ok(())
    }

    /// Writes lines that end with a line. Where that fails, the file is left with whole lines,
    /// as far as that can be done, and another is to be begun.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let Some(mut current) = self.current.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        current.write(text)?;
        self.current = Some(current);
        Ok(())
    }
}

impl Current {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        // Nothing else says so: a file that was removed is written to all the same.
        if !is_there(&self.path, &self.file) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed"));
        }
        if let Err(error) = self.file.write_all(text) {
            if self.bytes == 0 {
                let _ = fs::remove_file(&self.path);
            } else {
                let _ = self.file.set_len(self.bytes);
            }
            return Err(error);
        }
        self.bytes += text.len() as u64;
        self.writes += 1;
        Ok(())
    }
}

/// Whether the file is still at its path, also where another one is there now. Where that
/// cannot be told, writing to it tells.
#[cfg(unix)]
fn is_there(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;

    let has_name = file.metadata().is_ok_and(|file| file.nlink() > 0);
    has_name && fs::exists(path).unwrap_or(true)
}

#[cfg(not(unix))]
fn is_there(path: &Path, _: &File) -> bool {
    fs::exists(path).unwrap_or(true)
}
