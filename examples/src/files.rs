//! Files that the examples write.

use std::path::{Path, PathBuf};

/// Whether both are one file, of which the second text would be written over the first.
/// What is there and no file, such as `/dev/null`, takes both.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| -> Option<PathBuf> {
        path.canonicalize().or_else(|_| std::path::absolute(path)).ok()
    };
    let is_file = !one.exists() || one.is_file();
    is_file && whole(one).is_some_and(|one| Some(one) == whole(other))
}
