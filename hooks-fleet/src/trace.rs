//! Where a fire belongs in a distributed trace.

use std::fmt;

use thiserror::Error;

/// Where a fire belongs in a distributed trace: a value of its scope. It travels with the calls
/// of remote handlers, whose fires have it in their scopes, and as headers of the messages, for
/// those on the way. The form is that of W3C Trace Context.
///
/// ```
/// use hooks_fleet::TraceContext;
/// use hooks_runtime::HookRegistry;
///
/// let hooks = HookRegistry::new();
/// // From the library that traces, for the span that this fire is in:
/// let span = TraceContext::new("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")?;
/// let traced = hooks.with(span.with_state("vendor=t61rcWkgMzE")?);
/// // Fire through `traced`; a handler elsewhere makes its own span a child of that one:
/// assert_eq!(traced.get::<TraceContext>().unwrap().tracestate(), Some("vendor=t61rcWkgMzE"));
/// # Ok::<_, hooks_fleet::BadTraceContext>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    traceparent: String,
    tracestate: Option<String>,
}

/// Why a text is no trace context.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` is not as W3C Trace Context has it: {problem}")]
pub struct BadTraceContext {
    name: &'static str,
    problem: &'static str,
}

/// The longest list of vendors' states that everybody passes on.
const MAX_STATE: usize = 512;

impl TraceContext {
    /// The span of that `traceparent`.
    pub fn new(traceparent: impl Into<String>) -> Result<Self, BadTraceContext> {
        let traceparent = traceparent.into();
        match problem_of(&traceparent) {
            None => Ok(Self { traceparent, tracestate: None }),
            Some(problem) => Err(BadTraceContext { name: "traceparent", problem }),
        }
    }

    /// With what vendors say of it: the `tracestate`.
    pub fn with_state(mut self, tracestate: impl Into<String>) -> Result<Self, BadTraceContext> {
        let tracestate = tracestate.into();
        let problem = if tracestate.len() > MAX_STATE {
            "it has more than 512 characters"
        } else if !tracestate.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            "it has characters that are not printable"
        } else {
            self.tracestate = Some(tracestate);
            return Ok(self);
        };
        Err(BadTraceContext { name: "tracestate", problem })
    }

    /// The version, the trace, the span and the flags, such as
    /// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// What vendors say of it.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }
}

/// What is wrong with a `traceparent`. One of a later version may go on after the flags.
fn problem_of(text: &str) -> Option<&'static str> {
    let parts: Vec<_> = text.splitn(5, '-').collect();
    let &[version, trace, span, flags, ref later @ ..] = &parts[..] else {
        return Some("it has fewer than four parts");
    };
    let digits = |part: &str, count: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        part.len() == count && part.bytes().all(is_digit)
    };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    if !(digits(version, 2) && digits(trace, 32) && digits(span, 16) && digits(flags, 2)) {
        Some("its parts are 2, 32, 16 and 2 small hexadecimal digits")
    } else if version == "ff" {
        Some("there is no version ff")
    } else if is_zero(trace) || is_zero(span) {
        Some("a trace and a span are not zero")
    } else if version == "00" && !later.is_empty() {
        Some("version 00 ends with the flags")
    } else if text.len() > MAX_STATE || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Some("it has characters that are not printable, or too many")
    } else {
        None
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.traceparent)
    }
}
