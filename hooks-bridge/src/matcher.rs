//! Matchers: which tool, source or text an entry is for.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use fancy_regex::{CompileError, Error, Regex, RegexBuilder};

use crate::rules::{EventRule, Matching, Rules, Subject};

/// How much an expression may try; then it counts as a match, so that no check is left
/// out because of its matcher.
const MOST_STEPS: usize = 10_000;

/// The longest text that an expression is tried on: one step of look-around may read all
/// of it. A longer one counts as a match.
const LONGEST: usize = 16 << 10;

/// How many bytes one expression may take when it is compiled: most take the first, one with
/// large counts such as `\w{1,64}` the last.
const SIZES: [usize; 3] = [16 << 10, 128 << 10, 4 << 20];

/// What the expressions may take that are read together: a file may have very many, and they
/// are compiled before it is trusted.
#[derive(Debug)]
pub(crate) struct Room {
    /// How many bytes are left.
    left: Cell<usize>,
    /// Those that are compiled: one that is written again takes nothing.
    known: RefCell<HashMap<String, Regex>>,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: Cell::new(64 << 20), known: RefCell::default() }
    }
}

/// A matcher, compiled as its dialect reads it.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    All,
    /// Any of these names.
    Names(Vec<String>),
    Expression(Box<Regex>),
    /// No expression that can be read here, so it is this text.
    Unread {
        text: String,
        error: String,
    },
}

impl Matcher {
    /// Compiles a matcher; the error says what is wrong with it.
    pub(crate) fn compile(
        rules: &Rules,
        event: &EventRule,
        text: Option<&str>,
        room: &Room,
    ) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        if text.is_empty() || rules.everything.contains(&text) || event.subject == Subject::Nothing
        {
            return Ok(Self::All);
        }
        let is_list = |also: &str| {
            text.chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_' || also.contains(char))
        };
        let looks_around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|mark| text.contains(mark));
        if looks_around && !rules.looks_around {
            return Err(format!(
                "{} has no look-around in matchers, and drops `{text}`",
                rules.product
            ));
        }
        match event.matching.unwrap_or(rules.matching) {
            Matching::ListOrAnywhere(also) if is_list(also) => Ok(Self::names(text)),
            Matching::ListOrWhole if is_list("- ,|") => Ok(Self::names(text)),
            Matching::Literal => Ok(Self::Names(vec![text.to_owned()])),
            Matching::Whole | Matching::ListOrWhole => {
                let whole = expression(&format!("^(?:{text})$"), text, room);
                // An error is to be at its place in what was written.
                let in_place = |error| expression(text, text, room).err().unwrap_or(error);
                whole.map_err(|error| in_place(error).into())
            }
            Matching::Anywhere => match expression(text, text, room) {
                Ok(matcher) => Ok(matcher),
                Err(Problem::Unread(error)) => Ok(Self::Unread { text: text.to_owned(), error }),
                Err(Problem::TooLarge(what)) => Err(what),
            },
            Matching::ListOrAnywhere(_) => Ok(expression(text, text, room)?),
        }
    }

    fn names(text: &str) -> Self {
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        Self::Names(names.map(str::to_owned).collect())
    }

    /// Why it is not read as the expression that it is meant to be.
    pub(crate) fn unread(&self) -> Option<&str> {
        match self {
            Self::Unread { error, .. } => Some(error),
            _ => None,
        }
    }

    pub(crate) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Unread { text, .. } => text == subject,
            Self::Expression(expression) => {
                subject.len() > LONGEST || expression.is_match(subject).unwrap_or(true)
            }
        }
    }
}

/// Why a text is not compiled.
enum Problem {
    /// It is no expression that can be read here.
    Unread(String),
    /// It would take too much memory.
    TooLarge(String),
}

impl From<Problem> for String {
    fn from(problem: Problem) -> Self {
        let (Problem::Unread(what) | Problem::TooLarge(what)) = problem;
        what
    }
}

fn expression(pattern: &str, written: &str, room: &Room) -> Result<Matcher, Problem> {
    if let Some(known) = room.known.borrow().get(pattern) {
        return Ok(Matcher::Expression(Box::new(known.clone())));
    }
    for size in SIZES {
        // Look-around divides it into parts, each of which may be that large.
        let takes = size * (1 + pattern.len() / 16);
        let Some(rest) = room.left.get().checked_sub(takes) else { break };
        let mut builder = RegexBuilder::new(pattern);
        match builder.backtrack_limit(MOST_STEPS).delegate_size_limit(size).build() {
            Ok(expression) => {
                room.left.set(rest);
                room.known.borrow_mut().insert(pattern.to_owned(), expression.clone());
                return Ok(Matcher::Expression(Box::new(expression)));
            }
            // To find that out has its cost too.
            Err(error) if is_too_large(&error) => room.left.set(rest),
            Err(error) => {
                let what = format!("the matcher `{written}` is no expression: {error}");
                return Err(Problem::Unread(what));
            }
        }
    }
    Err(Problem::TooLarge(format!(
        "the matcher `{written}` takes too much memory, alone or with those before it: write \
         smaller counts, or fewer of them"
    )))
}

fn is_too_large(error: &Error) -> bool {
    let Error::CompileError(error) = error else { return false };
    matches!(&**error, CompileError::InnerError(error) if error.size_limit().is_some())
}

/// Whether a permission rule such as `Bash(git *)` is for a call. One that cannot be
/// read is, so that no check is left out.
pub(crate) fn rule_applies(rule: &str, tool: &str, input: &serde_json::Value) -> bool {
    let (name, pattern) = match rule.trim().split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(pattern) => (name, Some(pattern)),
            None => return true,
        },
        None => (rule.trim(), None),
    };
    if name != tool {
        return false;
    }
    let Some(pattern) = pattern else { return true };
    let text = |key: &str| input.get(key).and_then(serde_json::Value::as_str);
    if tool == "Bash" {
        let Some(line) = text("command") else { return true };
        let applies = |command: &String| is_unclear(command) || wildcard(pattern, command);
        return subcommands(line).iter().any(applies);
    }
    match ["file_path", "path", "url", "pattern"].into_iter().find_map(text) {
        Some(subject) => wildcard(pattern.trim_start_matches("./"), subject),
        None => true,
    }
}

/// The commands of a line: each part between operators, and what is in `$(…)` and in back
/// quotes, without leading settings of variables.
fn subcommands(line: &str) -> Vec<String> {
    let line = line.replace("\\\n", " ");
    let parts = line.split(['&', '|', ';', '\n', '(', ')', '`']);
    let is_setting = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let leads = |word: &&str| is_setting(word) || LEADING.contains(word);
    let bare = |part: &str| part.split_whitespace().skip_while(leads).collect::<Vec<_>>().join(" ");
    parts.map(bare).map(|part| part.trim_end_matches('$').trim_end().to_owned()).collect()
}

/// Words of a shell before a command.
const LEADING: [&str; 10] =
    ["{", "!", "if", "then", "else", "elif", "while", "until", "do", "time"];

/// Whether the program of a command is written so that only a shell can tell it: quoted,
/// escaped, behind a redirection.
fn is_unclear(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    program.contains(['"', '\'', '\\', '$', '<', '>', '{', '*', '?', '['])
}

/// Whether a text is of a pattern in which `*` stands for anything, and `:*` at its end
/// for anything that follows a word.
fn wildcard(pattern: &str, text: &str) -> bool {
    let spelled;
    let pattern = match pattern.strip_suffix(":*") {
        Some(prefix) => {
            if text == prefix {
                return true;
            }
            spelled = format!("{prefix} *");
            &spelled
        }
        None => pattern,
    };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::Dialect;

    fn compiled(rules: &Rules, event: &EventRule, matcher: &str) -> Result<Matcher, String> {
        Matcher::compile(rules, event, Some(matcher), &Room::default())
    }

    fn matched(dialect: Dialect, event: &str, matcher: &str, subject: &str) -> bool {
        let rules = dialect.rules();
        let event = rules.event(event).unwrap();
        compiled(rules, event, matcher).unwrap().matches(subject)
    }

    #[test]
    fn each_dialect_has_its_own_anchors() {
        let claude = |matcher, tool| matched(Dialect::ClaudeCode, "PreToolUse", matcher, tool);
        assert!(claude("Edit|Write", "Write") && claude("Edit, Write", "Write"));
        assert!(!claude("Edit", "NotebookEdit"));
        assert!(claude("Edit.*", "NotebookEdit"), "an expression is not anchored");
        assert!(!claude("bash", "Bash") && claude("", "Bash") && claude("*", "Bash"));
        assert!(claude("^(?!Bash$).*", "Read") && !claude("^(?!Bash$).*", "Bash"), "look-around");
        let copilot = |matcher, tool| matched(Dialect::Copilot, "preToolUse", matcher, tool);
        assert!(!copilot("edit.*", "notebook_edit") && copilot(".*edit", "notebook_edit"));
        let gemini = |event, matcher, subject| matched(Dialect::Gemini, event, matcher, subject);
        assert!(gemini("BeforeTool", "write", "write_file"));
        assert!(gemini("BeforeTool", "a[", "a["), "no expression, so it is literal");
        assert!(!gemini("SessionStart", "start", "startup"), "compared as it is");
    }

    #[test]
    fn an_expression_that_is_none_is_an_error_where_the_dialect_says_so() {
        let rules = Dialect::Codex.rules();
        let error = compiled(rules, &rules.events[0], "a[").unwrap_err();
        assert!(error.starts_with("the matcher `a[` is no expression"), "{error}");
        let error = compiled(rules, &rules.events[0], "^(?!Bash)").unwrap_err();
        assert_eq!(error, "Codex CLI has no look-around in matchers, and drops `^(?!Bash)`");
    }

    #[test]
    fn an_expression_that_does_not_end_counts_as_a_match() {
        let slow = "(x+x+)+(?=y)z";
        let subject = "x".repeat(60);
        assert!(matched(Dialect::ClaudeCode, "PreToolUse", slow, &subject));
    }

    #[test]
    fn permission_rules() {
        let bash = |rule: &str, line: &str| rule_applies(rule, "Bash", &json!({ "command": line }));
        assert!(bash("Bash", "ls") && bash("Bash(git *)", "git push"));
        assert!(!bash("Bash(git *)", "gitk") && !bash("Read", "git push"));
        assert!(bash("Bash(git push:*)", "cd a && X=1 git push --force"));
        assert!(bash("Bash(rm *)", "echo $(rm -r x)") && bash("Bash(rm *)", "echo `rm x`"));
        assert!(bash("Bash(git *", "ls"), "what cannot be read applies");
        let read = |rule: &str| rule_applies(rule, "Read", &json!({ "file_path": "/a/.env" }));
        assert!(read("Read(*.env)") && !read("Read(*.txt)"));
    }
}
