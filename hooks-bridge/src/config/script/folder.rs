//! Where the commands of a line run: `cd` changes it for those behind it.

use std::path::{Component, Path, PathBuf};

use super::line::{Join, Part};
use super::names::Names;
use super::word::Word;

/// The longest path that a system takes.
const LONGEST: usize = 4096;

/// Where the next command of a line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// Where nothing of the line has changed it, or `cd` has and ends the line if it fails.
    Known(PathBuf),
    /// Where `cd` has changed it, behind `&&`: those that run without its success are
    /// elsewhere.
    Behind(PathBuf),
    Unknown,
}

impl Folder {
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Known(path) | Self::Behind(path) => Some(path),
            Self::Unknown => None,
        }
    }

    /// Where a command runs that is joined so.
    pub(super) fn joined(&mut self, join: Join) {
        if matches!(join, Join::Or | Join::Next | Join::Beside) && matches!(self, Self::Behind(_)) {
            *self = Self::Unknown;
        }
    }

    /// Where `cd` leads, which is between these parts.
    pub(super) fn moved(cd: &[Word], before: &[Part], behind: &[Part], names: &Names<'_>) -> Self {
        let Some(path) = target(cd, names) else { return Self::Unknown };
        // Behind `||` it may not happen, in a pipe it is another shell's.
        let happens = match before.last() {
            Some(Part::Join(join)) => !matches!(join, Join::Or | Join::Pipe | Join::Close),
            _ => true,
        };
        if !happens {
            return Self::Unknown;
        }
        let ends = |part: &Part| matches!(part, Part::Command(words) if ends(words));
        match behind {
            [Part::Join(Join::And), ..] => Self::Behind(path),
            [Part::Join(Join::Or), end, Part::Join(Join::Next), ..] if ends(end) => {
                Self::Known(path)
            }
            _ => Self::Unknown,
        }
    }
}

/// Whether a command ends the line for sure: with a second number `exit` does not.
fn ends(words: &[Word]) -> bool {
    let is_code = |word: &Word| !word.input && word.text.chars().all(|it| it.is_ascii_digit());
    words[0].is(&["exit"]) && words.len() <= 2 && words[1..].iter().all(is_code)
}

/// The folder that is named, where the shell takes it as it is.
fn target(cd: &[Word], names: &Names<'_>) -> Option<PathBuf> {
    let [program, folder] = cd else { return None };
    if !program.is(&["cd"]) || folder.matches {
        return None;
    }
    let text = names.expand(folder).filter(|text| !text.is_empty() && !text.starts_with('-'))?;
    // A shell leaves a link by `..` to where the link is, not to where it leads.
    let climbs = Path::new(&text).components().any(|part| part == Component::ParentDir);
    let path = (!climbs).then(|| names.resolve(&text))?;
    (path.as_os_str().len() < LONGEST).then_some(path)
}
