//! The files of a recording.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::ReadError;

/// The files that belong to a recording, in the order in which they were written.
pub(super) fn files_of(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let open = |error: io::Error| ReadError::open(path, &error);
    let mut files = numbered(path).map_err(open)?;
    if fs::exists(path).map_err(open)? {
        files.insert(0, (0, path.to_owned()));
    }
    if files.is_empty() {
        return Err(open(io::Error::new(io::ErrorKind::NotFound, "there is no such file")));
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// The path of the file of that number.
pub(in crate::record) fn numbered_path(path: &Path, number: u64) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(OsString::from(format!(".{number}")));
    name.into()
}

/// The files `path.1`, `path.2` and so on that there are, with their numbers.
pub(in crate::record) fn numbered(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let prefix = name.as_encoded_bytes();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let found = entry?.file_name();
        let number = found.as_encoded_bytes().strip_prefix(prefix);
        let number = number.and_then(|rest| rest.strip_prefix(b"."));
        let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        // `parse` takes a sign and leading zeros, which no file of a recording has.
        if let Some(number @ 1..) = number
            && numbered_path(path, number).file_name() == Some(&found)
        {
            files.push((number, numbered_path(path, number)));
        }
    }
    files.sort_unstable();
    Ok(files)
}
