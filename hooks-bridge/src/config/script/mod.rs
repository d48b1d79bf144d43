//! Which programs and files a command names, as far as that can be known without running
//! it.

mod folder;
mod line;
mod names;
mod programs;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::entry::HandlerKind;
use folder::Folder;
use line::{Join, Line, Part, Word};
use programs::{
    BUILT_IN, ELSEWHERE, LOADING, MOVES, PREFIXES, SETS, SHELLS, TESTS, WITH_RUN, WITH_VALUE,
    interpreter, is_executable, is_inert, is_interpreter, on_path, runs_by_name,
};

pub(crate) use names::Names;

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
        let line = Line::read(text);
        self.dynamic |= line.dynamic || names.are_set_in(text);
        self.simple = line.commands() == 1;
        let mut folder = Folder::Known(names.directory.clone());
        let mut outside = Vec::new();
        for (index, part) in line.parts.iter().enumerate() {
            match part {
                Part::Join(Join::Open) => outside.push(folder.clone()),
                Part::Join(Join::Close) => folder = outside.pop().unwrap_or(Folder::Unknown),
                Part::Join(join) => folder.joined(*join),
                Part::Command(words) => {
                    let name = first(words).map_or("", |word| word.text.as_str());
                    let directory = folder.path().unwrap_or(&names.directory).to_owned();
                    let names = Names { directory, ..names.clone() };
                    if MOVES.contains(&name) {
                        let (before, behind) = line.parts.split_at(index);
                        folder = match folder {
                            Folder::Unknown => Folder::Unknown,
                            _ => Folder::moved(words, before, &behind[1..], &names),
                        };
                        self.dynamic |= folder == Folder::Unknown;
                        self.mentioned(&words[1..], &names);
                    } else if only_asks(words) {
                        self.tested = true;
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
            if let Some((name, value)) = word.setting() {
                self.set(name, &value, names);
            } else if word.text.starts_with('-') {
                self.dynamic |= word.is(&ELSEWHERE) || word.text.contains('=');
            } else if !word.is(&PREFIXES) {
                break;
            }
            at += 1;
        }
        let Some((program, arguments)) = words[at..].split_first() else { return };
        let Some(expanded) = names.expand(program).filter(|_| !program.matches) else {
            self.dynamic = true;
            return self.mentioned(arguments, names);
        };
        let name = expanded.rsplit('/').next().unwrap_or(&expanded).to_owned();
        if expanded.contains('/') {
            self.file(&names.resolve(&expanded), true);
        } else if !self.tested && !BUILT_IN.contains(&expanded.as_str()) && !on_path(&expanded) {
            self.not_found.push(expanded);
        }
        self.arguments(&name, arguments, names);
    }

    fn arguments(&mut self, name: &str, arguments: &[Word], names: &Names<'_>) {
        if SETS.contains(&name) {
            let set = arguments.iter().filter_map(Word::setting);
            return set.for_each(|(name, value)| self.set(name, &value, names));
        }
        if is_inert(name) {
            return self.named(arguments, names);
        }
        let runs = WITH_RUN.contains(&name) && arguments.first().is_some_and(|it| it.is(&["run"]));
        let is_program =
            |word: &Word| is_interpreter(word.text.rsplit('/').next().unwrap_or_default());
        self.dynamic |= runs_by_name(name) || name == "eval" || (name == "uv" && !runs);
        if name == "trap"
            && let Some(action) = arguments.first()
        {
            self.within(action, names);
        } else if runs || is_interpreter(name) {
            self.named(arguments, names);
            self.interpreted(name, &arguments[usize::from(runs)..], names);
        } else if let Some(at) = arguments.iter().position(is_program) {
            // A program that runs another one: `timeout 5 bash check.sh`.
            self.mentioned(&arguments[..at], names);
            self.command(&arguments[at..], names);
        } else {
            self.mentioned(arguments, names);
        }
    }

    /// The arguments of an interpreter: a script, or the program itself.
    fn interpreted(&mut self, name: &str, arguments: &[Word], names: &Names<'_>) {
        let is_shell = SHELLS.contains(&name);
        let is_program = |option: &&Word| {
            let text = &option.text;
            let grouped = is_shell && !text.starts_with("--") && text.contains('c');
            grouped || option.is(&["-c", "-m", "-e", "-p", "--eval", "-"]) && name != "uv"
        };
        let mut options = arguments.iter().take_while(|it| it.text.starts_with('-'));
        if options.any(|option| is_program(&option)) {
            let program = arguments.iter().find(|argument| !argument.text.starts_with('-'));
            return match program.filter(|_| is_shell) {
                Some(line) => self.within(line, names),
                None => self.dynamic = true,
            };
        }
        let mut after_value_option = false;
        let script = arguments.iter().position(|argument| {
            let is_value = after_value_option;
            after_value_option = argument.is(&WITH_VALUE);
            !is_value && !argument.text.starts_with('-')
        });
        let options = &arguments[..script.unwrap_or(arguments.len())];
        self.mentioned(options, names);
        self.dynamic |= options.iter().any(|option| option.is(&ELSEWHERE) || option.is(&["-m"]));
        let Some(script) = script else { return };
        let Some(path) = names.expand(&arguments[script]).filter(|_| !arguments[script].matches)
        else {
            return self.dynamic = true;
        };
        let file = names.resolve(&path);
        if WITH_RUN.contains(&name) && !file.is_file() && !path.contains(['/', '.']) {
            // A program or a task of the project, by its name.
            self.dynamic = true;
            return self.command(&arguments[script..], names);
        }
        self.file(&file, false);
    }

    /// A line within a line, which a shell of its own reads.
    fn within(&mut self, line: &Word, names: &Names<'_>) {
        let outer = self.simple;
        // What the outer shell puts into it is text to the inner one. What is not known
        // there is not known here either.
        let text = names.expand(line).unwrap_or_else(|| line.text.clone());
        self.dynamic |= line.reads && line.quotes;
        self.line(&text, &Names { shell: true, ..names.clone() });
        self.simple &= outer;
    }

    /// A variable that the entry sets: it may name a file, or change what is found and
    /// loaded.
    pub(crate) fn variable(&mut self, name: &str, value: &str, names: &Names<'_>) {
        self.set(name, &Word::plain(value), names);
    }

    fn set(&mut self, name: &str, value: &Word, names: &Names<'_>) {
        self.named(std::slice::from_ref(value), names);
        self.dynamic |= LOADING.iter().any(|loading| name.starts_with(loading));
    }

    /// The files that words name, where it cannot be told which of them run.
    fn mentioned(&mut self, words: &[Word], names: &Names<'_>) {
        for word in words {
            let line = word.text.contains(char::is_whitespace)
                && ["cd ", "./", "../"].iter().any(|mark| word.text.contains(mark));
            self.dynamic |=
                word.matches || line || word.text.contains("{}") || names.expand(word).is_none();
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
        let is_there = |program: &String| match program.contains('/') {
            true => Path::new(program).exists(),
            false => on_path(program),
        };
        self.not_found.extend(interpreter.filter(|program| !is_there(program)));
    }

    fn add(&mut self, path: PathBuf) {
        let list = if path.is_file() { &mut self.files } else { &mut self.absent };
        if !list.contains(&path) {
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
    first.is_some_and(|first| match first.is(&["command"]) {
        true => words.next().is_some_and(|word| word.is(&["-v"])),
        false => first.is(&TESTS),
    })
}
