//! Interpreters: what they are told to run, and by which options.

use std::io::Read;
use std::path::Path;

/// Programs whose first argument that is no option is a script, without their versions.
const INTERPRETERS: [&str; 24] = [
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "pwsh", "python",
    "pypy", "node", "nodejs", "ruby", "perl", "deno", "bun", "php", "tsx", "lua", "Rscript",
    "source",
];

/// Interpreters whose option `-c` has a line for them.
pub(super) const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ksh", "mksh", "ash"];

/// Letters of options of shells that change nothing about which file runs. `c` is followed
/// by a line; behind `o` and `O` a value stands.
pub(super) const SHELL_LETTERS: &str = "abcefhiklmnpuvxBCEHPToO";

/// Options of shells that change nothing about which file runs.
pub(super) const HARMLESS_OF_SHELLS: [&str; 5] = ["--", "-", "--norc", "--noprofile", "--posix"];

/// Options of other interpreters, without their values, that change nothing about which
/// file runs.
pub(super) const HARMLESS: [&str; 40] = [
    "--",
    "-u",
    "-B",
    "-I",
    "-s",
    "-S",
    "-E",
    "-O",
    "-OO",
    "-q",
    "-b",
    "-w",
    "-T",
    "-A",
    "-W",
    "-X",
    "-W0",
    "--no-warnings",
    "--enable-source-maps",
    "--max-old-space-size",
    "--experimental-strip-types",
    "--trace-warnings",
    "--quiet",
    "--script",
    "--no-project",
    "--isolated",
    "--offline",
    "--frozen",
    "--locked",
    "--no-sync",
    "--no-config",
    "--python",
    "--with",
    "--extra",
    "--group",
    "--allow-all",
    "--allow-read",
    "--allow-env",
    "--allow-run",
    "--no-prompt",
];

/// Options that load a file before the script.
pub(super) const LOADS: [&str; 5] = ["-r", "--require", "--import", "--env-file", "--rcfile"];

/// Programs that run a script behind the word `run`.
pub(super) const WITH_RUN: [&str; 3] = ["uv", "deno", "bun"];

/// Options of interpreters behind which a value stands, not the script.
pub(super) const WITH_VALUE: [&str; 16] = [
    "-o",
    "-O",
    "-W",
    "-X",
    "-r",
    "--require",
    "--import",
    "--rcfile",
    "--with",
    "--python",
    "-p",
    "--extra",
    "--group",
    "--env-file",
    "--index-url",
    "--with-requirements",
];

/// What programs in other languages call to run or load something.
const CALLS: [&str; 11] = [
    "system", "exec", "execute", "popen", "spawn", "eval", "source", "require", "import",
    "include", "dofile",
];

pub(super) fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    INTERPRETERS.contains(&plain)
}

/// Whether a text may be a program for one that takes such as an argument, as `awk` does:
/// it names what runs others.
pub(super) fn is_program_text(text: &str) -> bool {
    let has_marks = text.contains(|char: char| char.is_whitespace() || "();|&$!".contains(char));
    let mut words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    has_marks && words.any(|word| is_interpreter(word) || CALLS.contains(&word))
}

/// The interpreter that the first line of a script names, of `env` the program behind it.
pub(super) fn interpreter(script: &Path) -> Option<String> {
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
