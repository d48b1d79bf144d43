//! Files that others may have written: read where they have an end, and up to a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file, as far as it is one: a device or a pipe has no end, and to open a pipe
/// may wait for ever.
pub(crate) fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::other("it is a folder, and a file is expected"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is a device or a pipe, and a file is expected"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {} MiB", most >> 20)));
    }
    Ok(bytes)
}
