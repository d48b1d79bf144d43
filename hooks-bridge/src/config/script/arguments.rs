//! What programs do with their arguments: run one, read one, or neither.

use super::Scripts;
use super::names::Names;
use super::programs::{
    ELSEWHERE, SETS, SHELLS, WITH_RUN, WITH_VALUE, is_inert, is_interpreter, runs_by_name,
};
use super::word::{Dollars, Word};

impl Scripts {
    /// The arguments of a program, which may be or name what it runs.
    pub(super) fn arguments(&mut self, name: &str, arguments: &[Word], names: &Names<'_>) {
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
            // A program or a task of the project, by its name: it need not be on `PATH`.
            self.dynamic = true;
            return self.arguments(&path, &arguments[script + 1..], names);
        }
        self.file(&file, false);
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
