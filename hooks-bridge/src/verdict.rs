//! How answers are read: as the product does, or as its users ask for.

use std::borrow::Cow;

use crate::answer::{Answer, DecidedBy, Decision, Fields, Opinion, Ruling};
use crate::config::Handler;
use crate::dialect::Dialect;
use crate::facts::EventKind;
use crate::printed::{Printed, printed_as_text, printed_strictly};
use crate::rules::{EventRule, Rules};
use crate::runner::{Exit, Failure, Ran};

/// How the answers of commands are read.
///
/// | | `Strict` | `Faithful` |
/// |---|---|---|
/// | a denial, by JSON or by exit code 2 | rejects, with a reason or without | as the product |
/// | a failure at a gate | the gate fails closed | as the product: it goes on, unless it denies or the handler says that it blocks; a point that fails closed stays closed |
/// | two documents, a banner before JSON, text that is not UTF-8 | a failure | as the product |
/// | keys that are not known | are reported | as the product |
/// | a rewrite | earlier commands are asked again about what is left | applied in order |
/// | `ask` | rejects: a gate has no user to ask | as `Strict` |
///
/// The example of [`Answer`] reads one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A no is never lost, and no verdict is no pass.
    #[default]
    Strict,
    /// As the product reads them, in the configured order.
    Faithful,
}

impl Answer {
    /// Reads what a command came to; `None` where the dialect has no such event.
    ///
    /// The example of [`Answer`] does.
    pub fn read(dialect: Dialect, event: &str, mode: Mode, ran: &Ran) -> Option<Self> {
        let rules = dialect.rules();
        Some(read(rules, rules.event(event)?, mode, ran))
    }
}

pub(crate) fn read(rules: &Rules, event: &EventRule, mode: Mode, ran: &Ran) -> Answer {
    let mut answer = match mode {
        Mode::Faithful => (rules.faithful)(event, ran),
        Mode::Strict => strict(rules, event, ran),
    };
    // After a tool nothing can be stopped: why a command says no is for the model to read.
    if event.kind == EventKind::AfterTool
        && let Opinion::Decided(Decision { ruling: Ruling::Deny, reason, .. }) = &answer.opinion
    {
        let said: Vec<_> = reason.iter().chain(&answer.context).cloned().collect();
        answer.context = Some(said.join("\n")).filter(|said| !said.is_empty());
    }
    if !event.halts
        && let Opinion::Decided(decision) = &mut answer.opinion
        && decision.ruling == Ruling::Halt
    {
        decision.ruling = Ruling::Pass;
        return answer.notice("it would have everything stop, which nothing can here");
    }
    answer
}

/// A no is never lost, and a yes of a command that failed is no yes.
fn strict(rules: &Rules, event: &EventRule, ran: &Ran) -> Answer {
    let stdout = (rules.answer_text)(ran);
    let (said, hides) = if event.text_is_context && !event.kind.is_gate() {
        printed_as_text(&stdout)
    } else {
        (printed_strictly(&stdout), false)
    };
    if hides {
        let notice = "there is a JSON object in its text, which is not read as an answer";
        let text = String::from_utf8_lossy(&stdout).trim().to_owned();
        return match ran.exit {
            Exit::Code(0) => Answer::context(&text).notice(notice),
            _ => Answer::failed_by_exit(ran).notice(notice),
        };
    }
    let answers = event.kind != EventKind::Observe && event.kind != EventKind::SessionEnd;
    let (fields, text) = match said {
        Printed::Object(map) => ((rules.fields)(event, &map), None),
        Printed::Text(text) => (Fields::default(), Some(text)),
        Printed::Nothing => (Fields::default(), None),
        Printed::Broken(_) if !answers && ran.exit == Exit::Code(0) => {
            return Answer::none().notice("what it printed is ignored here, and is no answer");
        }
        // Exit code 2 says no, whatever is wrong with stdout.
        Printed::Broken(_) if ran.exit == Exit::Code(2) && event.kind.is_gate() => {
            (Fields::default(), None)
        }
        Printed::Broken(why) => return Answer::bad_output(why, ran),
    };
    match ran.exit {
        Exit::Code(2) if event.kind.is_gate() => exit_2(ran, fields, text.as_deref()),
        Exit::Code(0) => match fields.wrong.first() {
            // Nor is a stop lost with a key beside it.
            Some(wrong) if fields.ruling == Some(Ruling::Halt) && event.halts => {
                let notice = format!("{wrong}; it has everything stop all the same");
                Answer::of(fields).notice(notice)
            }
            Some(wrong) => Answer::bad_output(wrong.clone(), ran),
            None => exit_0(event, fields, text),
        },
        Exit::Code(2)
            if event.kind == EventKind::AfterTool && fields.ruling != Some(Ruling::Halt) =>
        {
            Answer::context(&spoken(ran, text.as_deref()).unwrap_or_default())
        }
        _ if fields.ruling == Some(Ruling::Deny) && event.kind.is_gate()
            || fields.ruling == Some(Ruling::Halt) && event.halts =>
        {
            Answer::of(fields).notice("it said no and failed; the no counts")
        }
        _ => Answer::failed_by_exit(ran),
    }
}

fn exit_0(event: &EventRule, mut fields: Fields, text: Option<String>) -> Answer {
    let can_decide = event.kind.is_gate() || event.kind == EventKind::AfterTool;
    let dropped = fields.ruling.filter(|ruling| !can_decide && *ruling != Ruling::Halt);
    if dropped.is_some() {
        fields.ruling = None;
    }
    let takes_text = event.text_is_context;
    let answer = match text {
        Some(text) if takes_text => Answer::context(&text),
        Some(_) => Answer::none().notice("text on stdout is ignored here"),
        None => Answer::of(fields),
    };
    match dropped {
        Some(ruling) => {
            answer.notice(format!("it says `{}`, which decides nothing here", ruling.as_str()))
        }
        None => answer,
    }
}

fn exit_2(ran: &Ran, fields: Fields, text: Option<&str>) -> Answer {
    // To stop everything beats every other decision, also that of the code.
    if fields.ruling == Some(Ruling::Halt) {
        return Answer::of(fields);
    }
    let contradicts = matches!(fields.ruling, Some(Ruling::Allow | Ruling::Ask | Ruling::Pass));
    let reason = fields.reason.or_else(|| spoken(ran, text));
    let mut answer = Answer::decided(Ruling::Deny, DecidedBy::Exit, reason);
    (answer.context, answer.message) = (fields.context, fields.message);
    if contradicts {
        answer = answer.notice("its JSON does not deny, its exit code 2 does; the code counts");
    }
    answer
}

/// What a command said with its exit code.
fn spoken(ran: &Ran, text: Option<&str>) -> Option<String> {
    [ran.stderr.trim(), text.unwrap_or_default().trim()]
        .into_iter()
        .find(|text| !text.is_empty())
        .map(str::to_owned)
}

/// What an answer comes to at a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Nothing is in the way; what to use in place of the input, if anything.
    Pass(Option<crate::answer::Rewrite>),
    /// It must not pass.
    Reject(String),
    /// Everything is to stop, for this reason: at a stop that is no reason to go on.
    Halt(String),
}

impl Effect {
    /// Why it must not pass, where a no and a stop are the same.
    pub(crate) fn refused(self) -> Result<Option<crate::answer::Rewrite>, String> {
        match self {
            Self::Pass(rewrite) => Ok(rewrite),
            Self::Reject(reason) | Self::Halt(reason) => Err(reason),
        }
    }
}

/// What an answer comes to: a failure stays one, for the policy of the point to decide on,
/// unless the product itself denies then, or the handler says that it blocks.
pub(crate) fn settle(
    mode: Mode,
    rules: &Rules,
    event: &EventRule,
    handler: &Handler,
    opinion: Opinion,
) -> Result<Effect, Failure> {
    match opinion {
        Opinion::None => Ok(Effect::Pass(None)),
        Opinion::Decided(decision) => Ok(decided(decision)),
        Opinion::Failed(failure) => {
            let denies = mode == Mode::Faithful
                && ((rules.failure_denies)(event, &failure) || fails_closed(event, handler));
            if denies {
                Ok(Effect::Reject(format!("the hook failed: {failure}")))
            } else {
                Err(failure)
            }
        }
    }
}

/// Whether a failure of a handler blocks because its file says so. A failure is never a
/// reason to have an agent go on, and what nothing waits for blocks nothing.
pub(crate) fn fails_closed(event: &EventRule, handler: &Handler) -> bool {
    handler.fails_closed && event.failure_blocks && !event.kind.is_stop() && !handler.background
}

fn decided(decision: Decision) -> Effect {
    let Decision { ruling, by: _, reason, rewrite } = decision;
    match ruling {
        Ruling::Pass | Ruling::Allow => Effect::Pass(rewrite),
        Ruling::Deny => Effect::Reject(reason.unwrap_or_else(|| "denied without a reason".into())),
        Ruling::Halt => Effect::Halt(reason.unwrap_or_else(|| "stopped without a reason".into())),
        Ruling::Ask => {
            let reason = reason.unwrap_or_else(|| "it gives no reason".into());
            Effect::Reject(format!("the user would have to be asked: {reason}"))
        }
    }
}

/// All of stdout is the answer.
pub(crate) fn all_of(ran: &Ran) -> Cow<'_, [u8]> {
    Cow::Borrowed(&ran.stdout)
}
