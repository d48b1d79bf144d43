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
    pub(crate) project: &'n Path,
    pub(crate) directory: PathBuf,
    pub(crate) plugin: Option<&'n Path>,
}

/// Programs whose first argument that is no option is a script.
const INTERPRETERS: [&str; 14] = [
    "bash", "sh", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "deno", "bun", "php",
    "tsx", "source",
];

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
        // `$(…)`, back quotes and braces are the shell's to work out.
        self.dynamic = line.contains("$(") || line.contains('`') || line.contains("eval ");
        let spaced = spaced(line);
        let Some(words) = shlex::split(&spaced) else {
            self.dynamic = true;
            return;
        };
        let commands: Vec<_> =
            words.split(|word| word == ";").filter(|command| !command.is_empty()).collect();
        self.simple = commands.len() == 1;
        for command in commands {
            if ["cd", "pushd", "."].contains(&command[0].as_str()) {
                // From here on names are from another folder, or of what another file sets.
                self.dynamic = true;
                return;
            }
            let asks = command.iter().any(|word| TESTS.contains(&word.as_str()));
            if asks || (command[0] == "command" && command.iter().any(|word| word == "-v")) {
                self.tested = true;
            } else {
                self.command(command, names);
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
        let is_setting = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
        };
        let mut rest = words.iter().skip_while(|word| {
            is_setting(word) || PREFIXES.contains(&word.as_str()) || word.starts_with('-')
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
        let arguments: Vec<_> = rest.collect();
        let script = arguments.iter().find(|argument| !argument.starts_with('-'));
        let inline = arguments
            .iter()
            .take_while(|it| it.starts_with('-'))
            .any(|option| ["-c", "-m", "-e", "-p", "--eval", "-"].contains(&option.as_str()));
        let interpreted = INTERPRETERS.contains(&name) && !inline;
        for argument in &arguments {
            let is_script = interpreted && Some(argument) == script;
            match names.expand(argument) {
                Some(path) if is_script => self.file(&names.resolve(&path), false),
                Some(path) if path.contains('/') => {
                    let path = names.resolve(&path);
                    if path.is_file() {
                        self.add(path);
                    }
                }
                None if is_script => self.dynamic = true,
                _ => {}
            }
        }
    }

    /// A file that is to be run.
    fn file(&mut self, path: &Path, executed: bool) {
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
    /// The word with the variables that the bridge sets; `None` where it has others.
    fn expand(&self, word: &str) -> Option<String> {
        let project = self.project.to_string_lossy();
        let plugin = self.plugin.map(Path::to_string_lossy);
        let mut word = word.to_owned();
        if let Some(rest) = word.strip_prefix("~/") {
            word = format!("{}/{rest}", std::env::var("HOME").ok()?);
        }
        let home = std::env::var("HOME").ok();
        let variables = [
            ("CLAUDE_PROJECT_DIR", Some(&*project)),
            ("GEMINI_PROJECT_DIR", Some(&*project)),
            ("CURSOR_PROJECT_DIR", Some(&*project)),
            ("CLAUDE_PLUGIN_ROOT", plugin.as_deref()),
            ("PLUGIN_ROOT", plugin.as_deref()),
            ("CURSOR_PLUGIN_ROOT", plugin.as_deref()),
            ("HOME", home.as_deref()),
        ];
        for (name, value) in variables {
            let Some(value) = value else { continue };
            word = word.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
        }
        (!word.contains('$')).then_some(word)
    }

    fn resolve(&self, path: &str) -> PathBuf {
        // Without the `.` of `./script` in the middle.
        self.directory.join(path).components().collect()
    }
}

/// The line with the operators of the shell as words of their own, where they are not
/// quoted. `>&` and `&>` are no operators between commands.
fn spaced(line: &str) -> String {
    let (mut spaced, mut quote, mut escaped) = (String::new(), None, false);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        let plain = quote.is_none() && !escaped;
        let redirects = spaced.ends_with(['>', '<']) || chars.peek() == Some(&'>');
        match char {
            ';' | '(' | ')' | '\n' if plain => spaced.push_str(" ; "),
            '|' | '&' if plain && !redirects => spaced.push_str(" ; "),
            _ => spaced.push(char),
        }
        match (quote, char) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    spaced
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
        let names =
            Names { project: Path::new("/no/shop"), directory: "/no/shop".into(), plugin: None };
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
