//! What names in a command stand for.

use std::path::PathBuf;

use super::word::{Dollars, Word, is_of_name};

/// What names in a command stand for.
#[derive(Clone, Debug)]
pub(crate) struct Names<'n> {
    /// Where the command runs.
    pub(crate) directory: PathBuf,
    /// The variables that it sees, as far as they are the same in every fire.
    pub(crate) variables: Vec<(&'n str, String)>,
    /// Whether a shell reads it.
    pub(crate) shell: bool,
}

impl Names<'_> {
    /// The word as the command sees it; `None` where that is not known.
    pub(super) fn expand(&self, word: &Word) -> Option<String> {
        if !self.shell {
            let fill = |word: String, (name, value): &(&str, String)| {
                word.replace(&format!("${{{name}}}"), value)
            };
            return Some(self.variables.iter().fold(word.text.clone(), fill));
        }
        if word.dollars == Dollars::Both {
            return None;
        }
        let (mut expanded, mut rest) = (String::new(), word.text.as_str());
        if word.home {
            let path = rest.strip_prefix("~/")?;
            (expanded, rest) = (format!("{}/", self.variable("HOME")?), path);
        }
        while let Some((before, after)) =
            rest.split_once('$').filter(|_| word.dollars == Dollars::Read)
        {
            let braced = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            let end = after.find(|char: char| !is_of_name(char)).unwrap_or(after.len());
            let (name, behind) = braced.unwrap_or_else(|| after.split_at(end));
            expanded.push_str(before);
            let value = self.variable(name)?;
            if word.splits && value.contains([' ', '\t', '\n', '*', '?', '[']) {
                return None;
            }
            expanded.push_str(value);
            rest = behind;
        }
        Some(expanded + rest)
    }

    fn variable(&self, name: &str) -> Option<&str> {
        // Of two the last one is set.
        let found = self.variables.iter().rfind(|(other, _)| *other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a line may set one of the variables: it names one without reading it.
    pub(super) fn are_set_in(&self, line: &str) -> bool {
        let is_set = |name: &str| {
            line.match_indices(name).any(|(at, _)| {
                let (before, behind) = (&line[..at], &line[at + name.len()..]);
                !before.ends_with(|char| char == '$' || char == '{' || is_of_name(char))
                    && !behind.starts_with(is_of_name)
            })
        };
        self.variables.iter().any(|(name, _)| is_set(name))
    }

    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        // Without the `.` of `./script` in the middle.
        self.directory.join(path).components().collect()
    }
}
