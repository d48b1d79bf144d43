//! Where the files are.

use std::path::{Path, PathBuf};

use super::{Origin, Source};
use crate::dialect::Dialect;

/// Those that exist: what is managed on the machine whose root that is, then the user's own
/// and the project's, in the order of the dialect.
pub(super) fn files(
    dialect: Dialect,
    machine: &Path,
    project: &Path,
    home: Option<&Path>,
) -> Vec<Source> {
    let files = &dialect.rules().format.files;
    let managed = under(dialect, machine, files.managed, &Origin::Managed);
    let user = home.map(|home| under(dialect, home, files.user, &Origin::User)).unwrap_or_default();
    let project = of_project(dialect, project);
    let (first, second) = if files.project_first { (project, user) } else { (user, project) };
    [managed, first, second].concat()
}

/// Those of a project alone.
pub(crate) fn of_project(dialect: Dialect, project: &Path) -> Vec<Source> {
    under(dialect, project, dialect.rules().format.files.project, &Origin::Project)
}

fn under(dialect: Dialect, root: &Path, names: &[&str], origin: &Origin) -> Vec<Source> {
    // Files of the current folder are named as they are from there.
    let root = if root == Path::new(".") { Path::new("") } else { root };
    let found = names.iter().flat_map(|name| {
        let path = root.join(name.trim_start_matches('/'));
        if name.ends_with('/') { folder(&path) } else { one(path) }
    });
    found.map(|file| Source::new(dialect, file, origin.clone())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file with its folders.
    fn write(root: &Path, name: &str) {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "{}").unwrap();
    }

    #[test]
    fn every_place_of_every_dialect_is_found_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let [machine, home, project] = ["m", "h", "p"].map(|name| folder.path().join(name));
        for name in ["etc/cursor/hooks.json", "etc/github-copilot/policy.d/b.json"] {
            write(&machine, name);
        }
        write(&machine, "etc/github-copilot/policy.d/a.json");
        write(&machine, "etc/github-copilot/policy.d/notes.txt");
        let names = [
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".codex/hooks.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".cursor/hooks.json",
            ".copilot/hooks/a.json",
            ".copilot/settings.json",
            ".github/hooks/a.json",
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
        ];
        for name in names {
            write(&home, name);
            write(&project, name);
        }
        let found = |dialect: Dialect| -> Vec<String> {
            let files = files(dialect, &machine, &project, Some(&home));
            let shown = files.iter().map(|source| {
                let file = source.file.strip_prefix(folder.path()).unwrap();
                format!("{:?} {}", source.origin, file.display())
            });
            shown.collect()
        };
        let expected: [&[&str]; 5] = [
            &[
                "User h/.claude/settings.json",
                "Project p/.claude/settings.json",
                "Project p/.claude/settings.local.json",
            ],
            &[
                "User h/.codex/hooks.json",
                "User h/.codex/config.toml",
                "Project p/.codex/hooks.json",
                "Project p/.codex/config.toml",
            ],
            &["Project p/.gemini/settings.json", "User h/.gemini/settings.json"],
            &[
                "Managed m/etc/cursor/hooks.json",
                "User h/.cursor/hooks.json",
                "Project p/.cursor/hooks.json",
            ],
            &[
                "Managed m/etc/github-copilot/policy.d/a.json",
                "Managed m/etc/github-copilot/policy.d/b.json",
                "User h/.copilot/hooks/a.json",
                "User h/.copilot/settings.json",
                "Project p/.github/hooks/a.json",
                "Project p/.github/copilot/settings.json",
                "Project p/.github/copilot/settings.local.json",
            ],
        ];
        for (dialect, expected) in Dialect::ALL.into_iter().zip(expected) {
            assert_eq!(found(dialect), expected, "{dialect}");
        }
    }
}
