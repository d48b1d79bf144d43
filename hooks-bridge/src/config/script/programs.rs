//! Programs that are known by name, and what can be asked of a file.

use std::path::Path;

/// Options that change the folder, or run a line: the files are not known then.
pub(super) const ELSEWHERE: [&str; 12] = [
    "-C",
    "--chdir",
    "-S",
    "--split-string",
    "--directory",
    "--project",
    "--module",
    "--cwd",
    "-execdir",
    "-okdir",
    "--wd",
    "--working-directory",
];

/// Options of words that run what follows which change nothing about that.
pub(super) const HARMLESS_BEFORE: [&str; 12] =
    ["--", "-i", "-u", "-n", "-p", "-a", "-l", "-c", "-f", "-w", "-v", "-0"];

/// Beginnings of variables that change which programs are found or what they load.
const LOADING: [&str; 30] = [
    "PATH",
    "BASH",
    "SHELLOPTS",
    "PS4",
    "ENV",
    "LD_",
    "DYLD_",
    "GCONV_PATH",
    "PYTHON",
    "NODE_",
    "npm_",
    "NPM_",
    "DENO_",
    "BUN_",
    "UV_",
    "PERL5",
    "RUBY",
    "PHP",
    "LUA_",
    "JAVA_",
    "GIT_",
    "PAGER",
    "EDITOR",
    "LESS",
    "ZDOTDIR",
    "FPATH",
    "IFS",
    "CDPATH",
    "HOME",
    "XDG_CONFIG_",
];

/// Words that run what follows.
pub(super) const PREFIXES: [&str; 17] = [
    "exec", "env", "nohup", "command", "builtin", "time", "sudo", "setsid", "{", "!", "if", "then",
    "else", "elif", "while", "until", "do",
];

/// Words that ask whether a file or a program is there: what follows may do without it.
pub(super) const TESTS: [&str; 6] = ["[", "[[", "test", "which", "type", "hash"];

/// Words that change the folder, or read a file that may.
pub(super) const MOVES: [&str; 5] = ["cd", "pushd", "popd", ".", "source"];

/// Words that begin what may not happen, or happen several times.
pub(super) const COMPOUND: [&str; 11] =
    ["if", "then", "else", "elif", "while", "until", "do", "for", "case", "select", "{"];

/// Words that change what other words mean, or set variables in ways of their own.
pub(super) const CHANGES: [&str; 12] = [
    "alias",
    "unalias",
    "enable",
    "shopt",
    "function",
    "select",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "coproc",
    "trap",
];

/// Words that set the variables that they are given.
pub(super) const ASSIGNS: [&str; 3] = ["read", "for", "unset"];

/// Words that set variables.
pub(super) const SETS: [&str; 5] = ["export", "declare", "typeset", "readonly", "local"];

/// What a shell has itself.
pub(super) const BUILT_IN: [&str; 28] = [
    "fi", "for", "done", "case", "esac", "cd", "echo", "true", "false", "exit", "printf", "export",
    "set", "read", "wait", "trap", "eval", ":", "kill", "unset", "local", "}", "return", "shift",
    "declare", "typeset", "readonly", "source",
];

/// Programs that run none of their arguments, nor what these name.
const INERT: [&str; 22] = [
    "fi", "for", "done", "case", "esac", "echo", "true", "false", "exit", "printf", "set", "read",
    "wait", ":", "kill", "unset", "}", "return", "shift", "grep", "jq", "git",
];

/// Programs that find what they run in the project, by names that are no files, or that run
/// what a text for them says.
const BY_NAME: [&str; 51] = [
    "sed",
    "ed",
    "ex",
    "vim",
    "emacs",
    "gdb",
    "expect",
    "xargs",
    "parallel",
    "su",
    "runuser",
    "chroot",
    "nsenter",
    "unshare",
    "systemd-run",
    "ssh",
    "ninja",
    "cmake",
    "meson",
    "bazel",
    "dotnet",
    "composer",
    "eslint",
    "prettier",
    "jest",
    "vitest",
    "mocha",
    "make",
    "just",
    "task",
    "npm",
    "npx",
    "pnpm",
    "pnpx",
    "yarn",
    "bunx",
    "cargo",
    "go",
    "gradle",
    "mvn",
    "rake",
    "bundle",
    "poetry",
    "pipenv",
    "tox",
    "nox",
    "pytest",
    "uvx",
    "pre-commit",
    "lefthook",
    "docker",
];

/// Whether a variable of that name changes which programs are found or what they load.
pub(super) fn loads(name: &str) -> bool {
    LOADING.iter().any(|loading| name.starts_with(loading))
}

pub(super) fn is_inert(name: &str) -> bool {
    INERT.contains(&name) || TESTS.contains(&name)
}

pub(super) fn runs_by_name(name: &str) -> bool {
    BY_NAME.contains(&name)
}

pub(super) fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
}

pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
