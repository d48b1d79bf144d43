//! What programs do with their arguments: run one, read one, or neither.

use super::Scripts;
use super::interpreters::{
    HARMLESS, HARMLESS_OF_SHELLS, LOADS, SHELL_LETTERS, SHELLS, WITH_RUN, WITH_VALUE,
    is_interpreter, is_program_text,
};
use super::names::Names;
use super::programs::{ASSIGNS, CHANGES, SETS, is_inert, loads, runs_by_name};
use super::word::{Dollars, Word, is_of_name};

impl Scripts {
    /// The arguments of a program, which may be or name what it runs.
    pub(super) fn arguments(&mut self, name: &str, arguments: &[Word], names: &Names<'_>) {
        self.dynamic |= CHANGES.contains(&name) || assigns_unknown(name, arguments, names);
        if SETS.contains(&name) {
            let set = arguments.iter().filter_map(Word::setting);
            return set.for_each(|(name, value)| self.set(name, &value, names));
        }
        if is_inert(name) {
            self.dynamic |= name == "git" && arguments.iter().any(configures_git);
            return self.named(arguments, names);
        }
        let runs = WITH_RUN.contains(&name) && arguments.first().is_some_and(|it| it.is(&["run"]));
        let is_program =
            |word: &Word| is_interpreter(word.text.rsplit('/').next().unwrap_or_default());
        let pipes = |word: &Word| name.ends_with("awk") && word.text.contains('|');
        self.dynamic |= arguments.iter().any(pipes);
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
        let (mut line, mut at) = (false, 0);
        while let Some(option) = arguments.get(at).filter(|it| is_option(it, is_shell)) {
            at += 1;
            let value = arguments.get(at);
            let is_known = if is_shell && is_letters(option) {
                let letters = &option.text[1..];
                line |= option.text.starts_with('-') && letters.contains('c');
                // A profile is read first.
                self.dynamic |= letters.contains(['l', 'i']);
                at += letters.matches(['o', 'O']).count();
                letters.chars().all(|it| SHELL_LETTERS.contains(it))
            } else {
                at += usize::from(option.is(&WITH_VALUE));
                self.is_known(option, value, is_shell, names)
            };
            if !is_known {
                // What follows may be its value, and that a program.
                self.dynamic = true;
                return self.mentioned(arguments, names);
            }
            if option.is(&["--", "-"]) {
                break;
            }
        }
        let at = at.min(arguments.len());
        self.mentioned(&arguments[..at], names);
        let Some(script) = arguments.get(at) else {
            // It reads what it runs.
            return self.dynamic = true;
        };
        if line {
            return self.within(script, names);
        }
        let Some(path) = names.expand(script).filter(|_| !script.matches) else {
            return self.dynamic = true;
        };
        let file = names.resolve(&path);
        if WITH_RUN.contains(&name) && !file.is_file() && !path.contains(['/', '.']) {
            // A program or a task of the project, by its name: it need not be on `PATH`.
            self.dynamic = true;
            let rest = &arguments[at + 1..];
            return if WITH_RUN.contains(&path.as_str()) {
                self.mentioned(rest, names);
            } else {
                self.arguments(&path, rest, names);
            };
        }
        // A folder, or a name that is completed, has the script in it or beside it. A
        // device has it from elsewhere. Some take `..` for the folder before it, also of a link.
        self.dynamic |= !is_shell && (!file.is_file() || path.contains(".."));
        self.dynamic |= file.starts_with("/dev") || file.starts_with("/proc");
        self.file(&file, false);
    }

    /// Whether an option is known, and changes nothing about which file runs.
    fn is_known(
        &mut self,
        option: &Word,
        value: Option<&Word>,
        is_shell: bool,
        names: &Names<'_>,
    ) -> bool {
        let (name, inner) = match option.text.split_once('=') {
            Some((name, inner)) => (name, Some(Word { text: inner.to_owned(), ..option.clone() })),
            None => (option.text.as_str(), None),
        };
        if LOADS.contains(&name) {
            // A module that is found by its name is somewhere in the project.
            let file = inner.as_ref().or(value).and_then(|word| names.expand(word));
            let is_file = |file: String| file.contains('/') && names.resolve(&file).is_file();
            self.dynamic |= !file.is_some_and(is_file);
            return true;
        }
        let known: &[&str] = if is_shell { &HARMLESS_OF_SHELLS } else { &HARMLESS };
        known.contains(&name)
    }

    /// A line within a line, which a shell of its own reads.
    fn within(&mut self, line: &Word, names: &Names<'_>) {
        let outer = self.simple;
        // What the outer shell puts into it is text to the inner one. What is not known
        // there is not known here either.
        let text = names.expand(line).unwrap_or_else(|| line.text.clone());
        self.dynamic |= line.dollars == Dollars::Both;
        self.line(&text, &Names { shell: true, ..names.clone() });
        self.simple &= outer;
    }
}

fn is_option(word: &Word, is_shell: bool) -> bool {
    !word.input && (word.text.starts_with('-') || (is_shell && word.text.starts_with('+')))
}

/// Whether an option of a shell is letters behind a sign.
fn is_letters(option: &Word) -> bool {
    option.text.len() > 1 && option.text[1..].chars().all(|it| it.is_ascii_alphabetic())
}

/// Whether a word of the shell may set a variable that is not known, or one that changes
/// what is found.
fn assigns_unknown(name: &str, arguments: &[Word], names: &Names<'_>) -> bool {
    let variables = match name {
        "for" => &arguments[..arguments.len().min(1)],
        "printf" if !arguments.iter().any(|it| it.text.starts_with("-v")) => &[],
        _ if name == "printf" || ASSIGNS.contains(&name) || SETS.contains(&name) => arguments,
        _ => &[],
    };
    variables.iter().any(|word| {
        let text = word.text.trim_start_matches("-v");
        let is_plain = || text.chars().all(is_of_name) || text.starts_with('-') || word.input;
        let is_set = SETS.contains(&name) && (word.setting().is_some() || is_plain());
        let is_known = !SETS.contains(&name) || is_set;
        loads(text) || word.evaluates() || names.expand(word).is_none() || !is_known
    })
}

/// Whether a word has `git` run something, or read other settings.
fn configures_git(word: &Word) -> bool {
    let is_option = ["-c", "-x", "--exec", "--config-env", "--ext-diff"]
        .iter()
        .any(|option| word.text.starts_with(option));
    is_option || is_program_text(&word.text)
}
