//! What files were when a grant was found to cover them, to say which one has changed.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::digest::LARGEST;
use crate::config::Entry;
use crate::files;

/// The SHA-256 of each file that a command names; none of one that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes(Vec<(PathBuf, Option<[u8; 32]>)>);

impl Bytes {
    pub(super) fn of(entry: &Entry) -> Self {
        let files = entry.scripts.files.iter();
        Self(files.map(|file| (file.clone(), sum(file))).collect())
    }

    /// The first that is not what it was.
    pub(super) fn changed(&self) -> Option<&Path> {
        let mut files = self.0.iter();
        files.find(|(file, before)| sum(file) != *before).map(|(file, _)| file.as_path())
    }
}

fn sum(file: &Path) -> Option<[u8; 32]> {
    Some(Sha256::digest(files::read(file, LARGEST).ok()?).into())
}
