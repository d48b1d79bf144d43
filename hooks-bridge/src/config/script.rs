//! Which programs and files a command names, as far as that can be known without running
//! it.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::entry::HandlerKind;

/// What a command names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Files that exist: programs and scripts that are named by path.
    pub(crate) files: Vec<PathBuf>,
    /// Scripts and programs that are named by path and do not exist.
    pub(crate) missing: Vec<PathBuf>,
    /// Programs that are run by path and may not be executed.
    pub(crate) not_executable: Vec<PathBuf>,
    /// Programs that are not found by `PATH`.
    pub(crate) not_found: Vec<String>,
    /// Whether what runs is worked out by the shell, so that it is not known before.
    pub(crate) dynamic: bool,
    /// Whether it is one command, which runs its script whatever happens.
    pub(crate) simple: bool,
    /// Whether an earlier command has asked what is there.
    tested: bool,
}

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

/// Programs whose first argument that is no option is a script.
const INTERPRETERS: [&str; 14] = [
    "bash", "sh", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "deno", "bun", "php",
    "tsx", "source",
];

/// Interpreters whose option `-c` has a line for them.
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];

/// Options of interpreters behind which a value stands, not the script.
const WITH_VALUE: [&str; 8] = ["-o", "-O", "-W", "-X", "-r", "--require", "--import", "--rcfile"];

/// Beginnings of variables that change which programs are found or what they load.
const LOADING: [&str; 9] =
    ["PATH", "BASH_ENV", "ENV", "LD_", "PYTHON", "NODE_", "PERL5", "RUBY", "IFS"];

/// Words that run what follows.
const PREFIXES: [&str; 16] = [
    "exec", "env", "nohup", "command", "time", "sudo", "setsid", "{", "!", "if", "then", "else",
    "elif", "while", "until", "do",
];

/// Words that ask whether a file or a program is there: what follows may do without it.
const TESTS: [&str; 6] = ["[", "[[", "test", "which", "type", "hash"];

/// What a shell has itself.
const BUILT_IN: [&str; 24] = [
    "fi", "for", "done", "case", "esac", "cd", "echo", "true", "false", "exit", "printf", "export",
    "set", "read", "wait", "trap", "eval", ":", "kill", "unset", "local", "}", "return", "shift",
];

/// Whether a command only asks whether a file or a program is there. By its own name: a
/// script may be given such a word.
fn only_asks(command: &[String]) -> bool {
    let mut words = command.iter().map(String::as_str);
    let first = words.find(|word| *word == "command" || !PREFIXES.contains(word));
    match first {
        Some("command") => words.next() == Some("-v"),
        Some(name) => TESTS.contains(&name),
        None => false,
    }
}

impl Scripts {
    pub(crate) fn of(kind: &HandlerKind, names: &Names<'_>) -> Self {
        let mut found = Self::default();
        match kind {
            HandlerKind::Shell { line, .. } => found.line(line, names),
            HandlerKind::Exec { program, arguments } => {
                found.simple = true;
                let words: Vec<_> = std::iter::once(program).chain(arguments).cloned().collect();
                found.command(&words, names);
            }
            HandlerKind::Http { .. } => {}
        }
        found
    }

    fn line(&mut self, line: &str, names: &Names<'_>) {
        let spaced = Spaced::of(line);
        // What the shell works out: `$(…)`, back quotes, what a line reads or sets itself.
        let marks = ["$(", "`", "eval ", "{}", "<<"];
        self.dynamic |= marks.iter().any(|mark| line.contains(mark))
            || spaced.quotes_dollar
            || names.are_set_in(line);
        let Some(words) = shlex::split(&spaced.text) else {
            self.dynamic = true;
            return;
        };
        let commands: Vec<_> =
            words.split(|word| word == ";").filter(|command| !command.is_empty()).collect();
        self.simple = commands.len() == 1;
        let mut elsewhere = false;
        for command in commands {
            // From here on names are from another folder, or of what another file sets.
            elsewhere |= ["cd", "pushd", "popd", "."].contains(&command[0].as_str());
            if elsewhere {
                self.dynamic = true;
                self.mentioned(command, names);
            } else if only_asks(command) {
                self.tested = true;
            } else {
                self.command(command, names);
            }
        }
    }

    /// The files that words name, where it cannot be told which of them run.
    fn mentioned(&mut self, words: &[String], names: &Names<'_>) {
        for word in words {
            // The value of an option, or of a variable.
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            for word in [word.as_str(), value] {
                let path = names.expand(word).map(|path| names.resolve(&path));
                if let Some(path) = path.filter(|path| path.is_file()) {
                    self.add(path);
                }
            }
        }
    }

    /// A script that is not there now, where the command cannot do without it.
    pub(crate) fn missing_now(&self) -> Option<&Path> {
        let named = self.files.iter().chain(&self.missing).filter(|_| self.simple);
        named.map(PathBuf::as_path).find(|file| !file.exists())
    }

    /// One program and its arguments.
    fn command(&mut self, words: &[String], names: &Names<'_>) {
        let set = words.iter().map_while(|word| setting(word));
        set.for_each(|(name, value)| self.variable(name, value, names));
        let mut rest = words.iter().skip_while(|word| {
            setting(word).is_some() || PREFIXES.contains(&word.as_str()) || word.starts_with('-')
        });
        let Some(program) = rest.next() else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        let Some(expanded) = names.expand(program) else {
            self.dynamic = true;
            return;
        };
        if expanded.contains('/') {
            self.file(&names.resolve(&expanded), true);
        } else if !self.tested
            && !BUILT_IN.contains(&name)
            && !INTERPRETERS[13..].contains(&name)
            && !on_path(name)
        {
            self.not_found.push(expanded);
        }
        let arguments: Vec<_> = rest.cloned().collect();
        self.mentioned(&arguments, names);
        if INTERPRETERS.contains(&name) {
            self.interpreted(name, &arguments, names);
        }
    }

    /// The arguments of an interpreter: a script, or the program itself.
    fn interpreted(&mut self, name: &str, arguments: &[String], names: &Names<'_>) {
        let is_shell = SHELLS.contains(&name);
        let is_program = |option: &&String| {
            let grouped = is_shell && !option.starts_with("--") && option.contains('c');
            grouped || ["-c", "-m", "-e", "-p", "--eval", "-"].contains(&option.as_str())
        };
        let mut options = arguments.iter().take_while(|it| it.starts_with('-'));
        if options.any(|option| is_program(&option)) {
            let program = arguments.iter().find(|argument| !argument.starts_with('-'));
            let (outer, inner) = (self.simple, program.filter(|_| is_shell));
            match inner {
                Some(line) => self.line(line, names),
                None => self.dynamic = true,
            }
            self.simple &= outer;
            return;
        }
        let mut after_value_option = false;
        let script = arguments.iter().find(|argument| {
            let is_value = after_value_option;
            after_value_option = WITH_VALUE.contains(&argument.as_str());
            !is_value && !argument.starts_with('-')
        });
        match script.map(|script| names.expand(script)) {
            Some(Some(path)) => self.file(&names.resolve(&path), false),
            Some(None) => self.dynamic = true,
            None => {}
        }
    }

    /// A variable that the entry or its line sets: it may name a file, or change what is
    /// found and loaded.
    pub(crate) fn variable(&mut self, name: &str, value: &str, names: &Names<'_>) {
        self.mentioned(&[value.to_owned()], names);
        self.dynamic |= LOADING.iter().any(|loading| name.starts_with(loading));
    }

    /// A file that is to be run.
    fn file(&mut self, path: &Path, executed: bool) {
        if path.to_string_lossy().contains(['*', '?', '[', '{', '<']) && !path.is_file() {
            self.dynamic = true;
            return;
        }
        if !path.is_file() {
            if !self.tested {
                self.missing.push(path.to_owned());
            }
            return;
        }
        if executed && !is_executable(path) {
            self.not_executable.push(path.to_owned());
        }
        if let Some(interpreter) = interpreter(path).filter(|_| executed)
            && !(if interpreter.contains('/') {
                Path::new(&interpreter).exists()
            } else {
                on_path(&interpreter)
            })
        {
            self.not_found.push(interpreter);
        }
        self.add(path.to_owned());
    }

    fn add(&mut self, path: PathBuf) {
        if !self.files.contains(&path) {
            self.files.push(path);
        }
    }
}

impl Names<'_> {
    /// The word as the command sees it; `None` where that is not known.
    fn expand(&self, word: &str) -> Option<String> {
        if !self.shell {
            let fill = |word: String, (name, value): &(&str, String)| {
                word.replace(&format!("${{{name}}}"), value)
            };
            return Some(self.variables.iter().fold(word.to_owned(), fill));
        }
        let mut expanded = String::new();
        let mut rest = word;
        if let Some(path) = word.strip_prefix("~/") {
            (expanded, rest) = (format!("{}/", self.variable("HOME")?), path);
        }
        while let Some((before, after)) = rest.split_once('$') {
            let braced = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            let end = after.find(|char: char| !is_of_name(char)).unwrap_or(after.len());
            let (name, behind) = braced.unwrap_or_else(|| after.split_at(end));
            expanded.push_str(before);
            expanded.push_str(self.variable(name)?);
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
    fn are_set_in(&self, line: &str) -> bool {
        let is_set = |name: &str| {
            line.match_indices(name).any(|(at, _)| {
                let (before, behind) = (&line[..at], &line[at + name.len()..]);
                !before.ends_with(|char| char == '$' || char == '{' || is_of_name(char))
                    && !behind.starts_with(is_of_name)
            })
        };
        self.variables.iter().any(|(name, _)| is_set(name))
    }

    fn resolve(&self, path: &str) -> PathBuf {
        // Without the `.` of `./script` in the middle.
        self.directory.join(path).components().collect()
    }
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// A word that sets a variable: its name and its value.
fn setting(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| !name.is_empty() && name.chars().all(is_of_name))
}

/// A line with the operators of the shell as words of their own, where they are not
/// quoted. `>&` and `&>` are no operators between commands.
struct Spaced {
    text: String,
    /// Whether there is a `$` that the shell takes as it is.
    quotes_dollar: bool,
}

impl Spaced {
    fn of(line: &str) -> Self {
        let (mut text, mut quote, mut escaped) = (String::new(), None, false);
        let mut quotes_dollar = false;
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            let plain = quote.is_none() && !escaped;
            let redirects = text.ends_with(['>', '<']) || chars.peek() == Some(&'>');
            quotes_dollar |= char == '$' && (escaped || quote == Some('\''));
            match char {
                ';' | '(' | ')' | '\n' if plain => text.push_str(" ; "),
                '|' | '&' if plain && !redirects => text.push_str(" ; "),
                _ => text.push(char),
            }
            match (quote, char) {
                _ if escaped => escaped = false,
                (None | Some('"'), '\\') => escaped = true,
                (None, '\'' | '"') => quote = Some(char),
                (Some(open), close) if open == close => quote = None,
                _ => {}
            }
        }
        Self { text, quotes_dollar }
    }
}

/// The interpreter that the first line of a script names, of `env` the program behind it.
fn interpreter(script: &Path) -> Option<String> {
    let mut begin = [0; 256];
    let read = std::fs::File::open(script).and_then(|mut file| file.read(&mut begin)).ok()?;
    let line = begin[..read].split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if program.rsplit('/').next() != Some("env") {
        return Some(program.to_owned());
    }
    words.find(|word| !word.starts_with('-')).map(str::to_owned)
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(line: &str) -> Scripts {
        let names = Names {
            directory: "/no/shop".into(),
            variables: vec![("CLAUDE_PROJECT_DIR", "/no/shop".into())],
            shell: true,
        };
        let kind = HandlerKind::Shell { shell: "sh".into(), line: line.into() };
        Scripts::of(&kind, &names)
    }

    #[test]
    fn what_a_command_names() {
        let missing = |line: &str| scripts(line).missing;
        assert_eq!(missing("python3 check.py --fast"), [Path::new("/no/shop/check.py")]);
        assert_eq!(missing("\"$CLAUDE_PROJECT_DIR\"/a.sh x"), [Path::new("/no/shop/a.sh")]);
        assert_eq!(missing("true && bash -eu ./b.sh; true"), [Path::new("/no/shop/b.sh")]);
        assert!(missing("cd sub && bash -eu ./b.sh").is_empty());
        assert!(scripts("cd sub && bash -eu ./b.sh").dynamic);
        assert_eq!(
            scripts("[ -f a.sh ] && ./a.sh || no-such-tool"),
            scripts("[ -f b ] && ./b"),
            "it asks"
        );
        assert!(
            scripts("command -v no-such-tool && no-such-tool x").not_found.is_empty(),
            "it asks"
        );
        assert!(scripts("true && { echo a; }; if true; then exit 2; fi").not_found.is_empty());
        assert!(scripts("python3 check.py").missing_now().is_some());
        assert_eq!(missing("FOO=1 exec node a.js|cat"), [Path::new("/no/shop/a.js")]);
        assert!(missing("bash -c 'exit 2'").is_empty());
        assert!(missing("cat > out.log 2>&1").is_empty());
        assert_eq!(scripts("no-such-tool --x").not_found, ["no-such-tool"]);
        assert!(scripts("bash $(find . -name x)").dynamic);
        assert!(scripts("bash $SOMETHING/x.sh").dynamic);
        assert_eq!(scripts("/bin/sh -c true").files, [Path::new("/bin/sh")]);
    }
}
