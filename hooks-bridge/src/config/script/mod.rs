//! Which programs and files a command names, as far as that can be known without running
//! it.

mod arguments;
mod folder;
mod interpreters;
mod line;
mod names;
mod programs;
#[cfg(test)]
mod tests;
mod word;

use std::path::{Path, PathBuf};

use super::entry::HandlerKind;
use folder::Folder;
use interpreters::{interpreter, is_program_text};
use line::{Join, Line, Part};
use programs::{
    BUILT_IN, CHANGES, COMPOUND, ELSEWHERE, HARMLESS_BEFORE, MOVES, PREFIXES, TESTS, is_executable,
    is_inert, loads, on_path,
};

use word::Word;

pub(crate) use names::Names;

/// The longest line that is read. What is longer is worked out when it runs.
const LONGEST: usize = 16 << 10;

/// What a command names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// The script that runs, of several the last.
    pub(crate) script: Option<PathBuf>,
    /// Files that exist: programs and scripts that are named by path, and what else the
    /// command names that is a file.
    pub(crate) files: Vec<PathBuf>,
    /// What it names that would be covered if it were there.
    pub(crate) absent: Vec<PathBuf>,
    /// Scripts and programs among them that the command cannot do without.
    pub(crate) missing: Vec<PathBuf>,
    /// Programs that are run by path and may not be executed.
    pub(crate) not_executable: Vec<PathBuf>,
    /// Programs that are not found by `PATH`.
    pub(crate) not_found: Vec<String>,
    /// Whether what runs is worked out by the shell, or found in the project by a program,
    /// so that it is not known before.
    pub(crate) dynamic: bool,
    /// Whether it is one command, which runs its script whatever happens.
    pub(crate) simple: bool,
    /// Whether an earlier command has asked what is there.
    tested: bool,
}

impl Scripts {
    pub(crate) fn of(kind: &HandlerKind, names: &Names<'_>) -> Self {
        let mut found = Self::default();
        match kind {
            HandlerKind::Shell { line, .. } => found.line(line, names),
            HandlerKind::Exec { program, arguments } => {
                found.simple = true;
                let words = std::iter::once(program).chain(arguments);
                let words: Vec<_> = words.map(|word| Word::plain(word)).collect();
                found.command(&words, names);
            }
            HandlerKind::Http { .. } => {}
        }
        found
    }

    /// A script that is not there now, where the command cannot do without it.
    pub(crate) fn missing_now(&self) -> Option<&Path> {
        let named = self.files.iter().chain(&self.missing).filter(|_| self.simple);
        named.map(PathBuf::as_path).find(|file| !file.exists())
    }

    /// What it names that was not there when it was read, and is now.
    pub(crate) fn appeared(&self) -> impl Iterator<Item = &PathBuf> {
        self.absent.iter().filter(|file| file.is_file())
    }

    fn line(&mut self, text: &str, names: &Names<'_>) {
        if text.len() > LONGEST {
            return self.dynamic = true;
        }
        let line = Line::read(text);
        self.dynamic |= line.dynamic || names.are_set_in(text);
        self.simple = line.commands() == 1;
        let mut folder = Folder::Known(names.directory.clone());
        let (mut outside, mut depends) = (Vec::new(), false);
        for (index, part) in line.parts.iter().enumerate() {
            match part {
                Part::Join(Join::Open) => outside.push(folder.clone()),
                Part::Join(Join::Close) => folder = outside.pop().unwrap_or(Folder::Unknown),
                Part::Join(join) => folder.joined(*join),
                Part::Command(words) => {
                    // What follows may not happen, or happen several times.
                    depends |= words[0].is(&COMPOUND);
                    let name = first(words).map_or("", |word| word.text.as_str());
                    let directory = folder.path().unwrap_or(&names.directory).to_owned();
                    let names = Names { directory, ..names.clone() };
                    if MOVES.contains(&name) {
                        let (before, behind) = line.parts.split_at(index);
                        folder = match folder {
                            Folder::Unknown => Folder::Unknown,
                            _ if line.ambiguous || depends => Folder::Unknown,
                            _ => Folder::moved(words, before, &behind[1..], &names),
                        };
                        self.dynamic |= folder == Folder::Unknown;
                        self.mentioned(&words[1..], &names);
                    } else if only_asks(words) {
                        self.tested = true;
                        self.dynamic |= words.iter().any(Word::evaluates);
                    } else if folder.path().is_some() {
                        self.command(words, &names);
                    } else if !is_inert(name) {
                        self.dynamic = true;
                        self.mentioned(words, &names);
                    }
                }
            }
        }
    }

    /// One program and its arguments.
    fn command(&mut self, words: &[Word], names: &Names<'_>) {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.input {
                break;
            }
            // Without a shell the first word is the program, whatever it looks like.
            if let Some((name, value)) = word.setting().filter(|_| names.shell || at > 0) {
                self.set(name, &value, names);
            } else if word.text.starts_with('-') && at > 0 {
                self.dynamic |= !word.is(&HARMLESS_BEFORE) || words[..at].iter().any(is_sudo);
            } else if !word.is(&PREFIXES) {
                break;
            }
            at += 1;
        }
        let Some((program, arguments)) = words[at..].split_first() else { return };
        if program.input {
            return self.named(&words[at..], names);
        }
        let Some(expanded) = names.expand(program).filter(|_| !program.matches) else {
            self.dynamic = true;
            return self.mentioned(arguments, names);
        };
        let name = expanded.rsplit('/').next().unwrap_or(&expanded).to_owned();
        if expanded.contains('/') {
            self.file(&names.resolve(&expanded), true);
        } else if !self.tested && !is_built_in(&expanded) && !on_path(&expanded) {
            self.not_found.push(expanded);
        }
        self.arguments(&name, arguments, names);
    }

    /// A variable that the entry sets: it may name a file, or change what is found and
    /// loaded.
    pub(crate) fn variable(&mut self, name: &str, value: &str, names: &Names<'_>) {
        self.set(name, &Word::plain(value), names);
    }

    fn set(&mut self, name: &str, value: &Word, names: &Names<'_>) {
        self.named(std::slice::from_ref(value), names);
        self.dynamic |= loads(name) || value.evaluates();
    }

    /// The files that words name, where it cannot be told which of them run.
    fn mentioned(&mut self, words: &[Word], names: &Names<'_>) {
        for word in words {
            let line = word.text.contains(char::is_whitespace)
                && ["cd ", "./", "../"].iter().any(|mark| word.text.contains(mark));
            self.dynamic |= line || is_program_text(&word.text) || word.is(&ELSEWHERE);
            self.dynamic |=
                word.matches || word.text.contains("{}") || names.expand(word).is_none();
        }
        self.named(words, names);
    }

    /// The files that words name.
    fn named(&mut self, words: &[Word], names: &Names<'_>) {
        for expanded in words.iter().filter_map(|word| names.expand(word)) {
            // The value of an option or of a variable, and the words of a line.
            let value = expanded.split_once('=').map_or("", |(_, value)| value);
            let inner =
                expanded.split(|char: char| char.is_whitespace() || ";|&()'\"".contains(char));
            let inner = inner.filter(|inner| inner.len() != expanded.len());
            for path in [expanded.as_str(), value].into_iter().chain(inner) {
                if !path.is_empty() && !path.starts_with('-') {
                    self.add(names.resolve(path));
                }
            }
        }
    }

    /// A file that is to be run.
    fn file(&mut self, path: &Path, executed: bool) {
        self.add(path.to_owned());
        self.script = Some(path.to_owned());
        if !path.is_file() {
            if !self.tested {
                self.missing.push(path.to_owned());
            }
            return;
        }
        if executed && !is_executable(path) {
            self.not_executable.push(path.to_owned());
        }
        let interpreter = interpreter(path).filter(|_| executed);
        let is_there = |program: &String| {
            if program.contains('/') { Path::new(program).exists() } else { on_path(program) }
        };
        self.not_found.extend(interpreter.filter(|program| !is_there(program)));
    }

    fn add(&mut self, path: PathBuf) {
        let list = if path.is_file() { &mut self.files } else { &mut self.absent };
        // As it is written: part by part takes long where there are many.
        if !list.iter().any(|other| other.as_os_str() == path.as_os_str()) {
            list.push(path);
        }
    }
}

/// The word that says what a command is.
fn first(words: &[Word]) -> Option<&Word> {
    words.iter().find(|word| word.setting().is_none() && !word.is(&PREFIXES))
}

/// Whether a command only asks whether a file or a program is there. By its own name: a
/// script may be given such a word.
fn only_asks(command: &[Word]) -> bool {
    let mut words = command.iter();
    let first = words.find(|word| word.is(&["command"]) || !word.is(&PREFIXES));
    first.is_some_and(|first| {
        let asks = |word: &Word| word.is(&["-v"]);
        // `hash -p` says what a word runs.
        let names_one = first.is(&["hash"]) && command.iter().any(|it| it.text.starts_with('-'));
        if first.is(&["command"]) {
            words.next().is_some_and(asks)
        } else {
            first.is(&TESTS) && !names_one
        }
    })
}

fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name) || CHANGES.contains(&name)
}

fn is_sudo(word: &Word) -> bool {
    word.is(&["sudo"])
}
