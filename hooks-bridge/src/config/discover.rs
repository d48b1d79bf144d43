//! Where the files are.

use std::path::{Path, PathBuf};

use super::{Origin, Source};
use crate::dialect::Dialect;

/// Those that exist, the user's own before the project's.
pub(super) fn files(dialect: Dialect, project: &Path, home: Option<&Path>) -> Vec<Source> {
    let under = |root: &Path, origin: &Origin| {
        // Files of the current folder are named as they are from there.
        let root = if root == Path::new(".") { Path::new("") } else { root };
        let named = dialect.rules().format.files.iter().filter(|name| name.starts_with('.'));
        let found = named.flat_map(|name| {
            if name.ends_with('/') { folder(&root.join(name)) } else { one(root.join(name)) }
        });
        found.map(|file| Source::new(dialect, file, origin.clone())).collect::<Vec<_>>()
    };
    let mut sources = home.map(|home| under(home, &Origin::User)).unwrap_or_default();
    sources.extend(under(project, &Origin::Project));
    sources
}

fn one(file: PathBuf) -> Vec<PathBuf> {
    if file.is_file() { vec![file] } else { Vec::new() }
}

/// The JSON files of a folder, by name.
fn folder(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|it| it == "json") && file.is_file())
        .collect();
    files.sort();
    files
}
