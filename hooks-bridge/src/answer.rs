//! What a command said: it decided, it had no opinion, or it failed. Never mistaken for
//! one another.

use serde_json::{Map, Value};

use crate::runner::{Cause, Exit, Failure, Ran};

/// What a command said.
///
/// ```
/// use hooks_bridge::runner::{Exit, Ran};
/// use hooks_bridge::{Answer, DecidedBy, Dialect, Mode, Opinion, Ruling};
///
/// let ran = Ran { exit: Exit::Code(2), stdout: Vec::new(), stderr: "no deploys today".into() };
/// let answer = Answer::read(Dialect::ClaudeCode, "PreToolUse", Mode::Strict, &ran).unwrap();
/// let Opinion::Decided(decision) = answer.opinion else { panic!() };
/// assert_eq!((decision.ruling, decision.by), (Ruling::Deny, DecidedBy::Exit));
/// assert_eq!(decision.reason.as_deref(), Some("no deploys today"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it said to the question.
    pub opinion: Opinion,
    /// What the model is to read.
    pub context: Option<String>,
    /// What the user is to read.
    pub message: Option<String>,
    /// What is odd about the answer.
    pub notices: Vec<String>,
}

/// What a command said to the question.
///
/// The example of [`Answer`] has one.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// It decided.
    Decided(Decision),
    /// It has nothing to say.
    None,
    /// It failed, which says nothing about what it would have decided.
    Failed(Failure),
}

/// A decision.
///
/// The example of [`Answer`] has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What it comes to.
    pub ruling: Ruling,
    /// Whether it said so, or its exit code did: a code may be an accident.
    pub by: DecidedBy,
    /// Why.
    pub reason: Option<String>,
    /// What to use in place of the input.
    pub rewrite: Option<Rewrite>,
}

/// What a decision comes to.
///
/// The example of [`Answer`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ruling {
    /// It goes on as it would without the command, but for a rewrite or context.
    Pass,
    /// It is allowed, without asking the user.
    Allow,
    /// The user is to be asked.
    Ask,
    /// It is denied; of a stop: the agent is to go on.
    Deny,
    /// Everything is to stop.
    Halt,
}

/// How a decision was made.
///
/// The example of [`Answer`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// By what the command printed as JSON.
    Json,
    /// By its exit code, of which text on stdout or stderr may be the reason.
    Exit,
}

/// What to use in place of the input.
///
/// ```
/// use hooks_bridge::Rewrite;
/// use serde_json::json;
///
/// let input = json!({ "command": "ls", "cwd": "/srv" });
/// let merge = Rewrite::Merge(json!({ "command": "ls -l" }).as_object().unwrap().clone());
/// assert_eq!(merge.apply(&input), json!({ "command": "ls -l", "cwd": "/srv" }));
/// assert_eq!(Rewrite::Replace(json!({})).apply(&input), json!({}));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Rewrite {
    /// This, whole.
    Replace(Value),
    /// The input with these keys set.
    Merge(Map<String, Value>),
}

impl Rewrite {
    /// The input as rewritten.
    ///
    /// The example of [`Rewrite`] does it.
    pub fn apply(&self, input: &Value) -> Value {
        match (self, input) {
            (Self::Replace(input), _) => input.clone(),
            (Self::Merge(keys), Value::Object(input)) => {
                let mut merged = input.clone();
                merged.extend(keys.clone());
                Value::Object(merged)
            }
            (Self::Merge(keys), _) => Value::Object(keys.clone()),
        }
    }
}

/// What a dialect reads from the keys of an answer.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) ruling: Option<Ruling>,
    pub(crate) reason: Option<String>,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) context: Option<String>,
    pub(crate) message: Option<String>,
    /// Keys that the dialect does not have.
    pub(crate) unknown: Vec<String>,
    /// Keys whose values it does not take.
    pub(crate) wrong: Vec<String>,
}

impl Fields {
    /// One more ruling of the same answer: the one that stops more counts, so that no key
    /// takes back the no of another.
    pub(crate) fn rule(&mut self, ruling: Option<Ruling>) {
        self.ruling = self.ruling.max(ruling);
    }
}

impl Answer {
    pub(crate) fn none() -> Self {
        Self { opinion: Opinion::None, context: None, message: None, notices: Vec::new() }
    }

    pub(crate) fn failed(cause: Cause, ran: &Ran) -> Self {
        let failure = Failure::new(cause).with_stderr(ran.stderr.clone());
        Self { opinion: Opinion::Failed(failure), ..Self::none() }
    }

    /// How the command ended is a failure.
    pub(crate) fn failed_by_exit(ran: &Ran) -> Self {
        let cause = match ran.exit {
            Exit::Code(code) => Cause::Exit(code),
            Exit::Signal(signal) => Cause::Signal(signal),
        };
        Self::failed(cause, ran)
    }

    pub(crate) fn bad_output(what: impl Into<String>, ran: &Ran) -> Self {
        Self::failed(Cause::BadOutput(what.into()), ran)
    }

    pub(crate) fn decided(ruling: Ruling, by: DecidedBy, reason: Option<String>) -> Self {
        let decision = Decision { ruling, by, reason, rewrite: None };
        Self { opinion: Opinion::Decided(decision), ..Self::none() }
    }

    /// Text on stdout that the model is to read.
    pub(crate) fn context(text: &str) -> Self {
        let answer = Self::decided(Ruling::Pass, DecidedBy::Exit, None);
        Self { context: Some(text.to_owned()), ..answer }
    }

    pub(crate) fn notice(mut self, notice: impl Into<String>) -> Self {
        self.notices.push(notice.into());
        self
    }

    /// What was read from JSON.
    pub(crate) fn of(fields: Fields) -> Self {
        let Fields { ruling, reason, rewrite, context, message, unknown, wrong: _ } = fields;
        let decides = ruling.is_some() || rewrite.is_some() || context.is_some();
        let opinion = if decides {
            let ruling = ruling.unwrap_or(Ruling::Pass);
            Opinion::Decided(Decision { ruling, by: DecidedBy::Json, reason, rewrite })
        } else {
            Opinion::None
        };
        let notices = if unknown.is_empty() {
            Vec::new()
        } else {
            vec![format!("its answer has keys that mean nothing here: {}", unknown.join(", "))]
        };
        Self { opinion, context, message, notices }
    }

    /// The failure, if it is one.
    ///
    /// ```
    /// use hooks_bridge::runner::{Cause, Exit, Ran};
    /// use hooks_bridge::{Answer, Dialect, Mode};
    ///
    /// let ran = Ran { exit: Exit::Code(1), stdout: Vec::new(), stderr: String::new() };
    /// let answer = Answer::read(Dialect::Codex, "PreToolUse", Mode::Strict, &ran).unwrap();
    /// assert_eq!(answer.failure().unwrap().cause, Cause::Exit(1));
    /// ```
    pub fn failure(&self) -> Option<&Failure> {
        match &self.opinion {
            Opinion::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// The decision, if it is one.
    ///
    /// ```
    /// use hooks_bridge::runner::{Exit, Ran};
    /// use hooks_bridge::{Answer, Dialect, Mode};
    ///
    /// let ran = Ran { exit: Exit::Code(0), stdout: b"{}".to_vec(), stderr: String::new() };
    /// let answer = Answer::read(Dialect::Cursor, "preToolUse", Mode::Strict, &ran).unwrap();
    /// assert_eq!(answer.decision(), None);
    /// ```
    pub fn decision(&self) -> Option<&Decision> {
        match &self.opinion {
            Opinion::Decided(decision) => Some(decision),
            _ => None,
        }
    }
}

impl Opinion {
    /// One word: whether there is an opinion.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Decided(_) => "decided",
            Self::None => "no_opinion",
            Self::Failed(_) => "failed",
        }
    }
}

impl DecidedBy {
    /// One word.
    ///
    /// ```
    /// assert_eq!(hooks_bridge::DecidedBy::Exit.as_str(), "exit");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Exit => "exit",
        }
    }
}

impl Ruling {
    /// One word.
    ///
    /// ```
    /// assert_eq!(hooks_bridge::Ruling::Deny.as_str(), "deny");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Halt => "halt",
        }
    }
}
