//! A flow to try the stages on, and a trace of what ran.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::fmt;
use std::sync::{Arc, Mutex};

use hooks_runtime::flow::{Stage, StageKind};
use hooks_runtime::handler::On;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, HookPoint, HookRegistry, OnError, Registration, hook_points, on,
};

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call(pub String);

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer(pub String);

/// The operation's own error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskFull {
    pub missing: u32,
}

impl fmt::Display for DiskFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes short", self.missing)
    }
}

impl std::error::Error for DiskFull {}

hook_points! {
    /// One run of a tool.
    #[hook(name = "tools:run")]
    pub flow RunTool(Call) -> Answer;

    /// Another flow, which shares nothing with the first.
    pub flow PrintPage(Call) -> Answer;
}

pub type Context = FlowContext<RunTool>;
pub type Outcome = Result<Answer, FlowError>;

pub fn call(text: &str) -> Call {
    Call(text.into())
}

/// What ran, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub fn note(&self, what: impl fmt::Display) {
        self.0.lock().unwrap().push(what.to_string());
    }

    /// All of it so far; the next call starts anew.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// What a point must be to be a stage of `RunTool`.
pub trait RunToolStage: HookPoint<Payload = Context, Model = Stage> {}
impl<S: HookPoint<Payload = Context, Model = Stage>> RunToolStage for S {}

/// A handler at a stage that is known only when the test runs.
pub fn at(
    stage: StageKind,
    name: &'static str,
    handler: impl Fn(&mut Context) -> Result<(), DiskFull> + Send + Sync + 'static,
) -> Registration {
    fn typed<S: RunToolStage>(
        name: &'static str,
        handler: impl Fn(&mut Context) -> Result<(), DiskFull> + Send + Sync + 'static,
    ) -> Registration {
        let start: On<S> = on::<S>().name(name);
        start.handler(handler)
    }
    match stage {
        StageKind::BeforeValidation => typed::<BeforeValidation<RunTool>>(name, handler),
        StageKind::AfterValidation => typed::<AfterValidation<RunTool>>(name, handler),
        StageKind::BeforeExecute => typed::<BeforeExecute<RunTool>>(name, handler),
        StageKind::AfterExecute => typed::<AfterExecute<RunTool>>(name, handler),
        StageKind::OnError => typed::<OnError<RunTool>>(name, handler),
        StageKind::Finally => typed::<Finally<RunTool>>(name, handler),
    }
}

/// Two handlers at every stage: the first notes the stage and then does what
/// `act` says, the second notes `+`.
pub fn traced(
    trace: &Trace,
    act: impl Fn(&mut Context) -> Result<(), DiskFull> + Clone + Send + Sync + 'static,
) -> HookRegistry {
    let hooks = HookRegistry::new();
    for stage in StageKind::ALL {
        let (first, second, act) = (trace.clone(), trace.clone(), act.clone());
        hooks
            .register([
                at(stage, "actor", move |flow| {
                    first.note(flow.stage());
                    act(flow)
                }),
                at(stage, "second", move |_| {
                    second.note("+");
                    Ok(())
                }),
            ])
            .unwrap();
    }
    hooks
}

/// The outcome in words.
pub fn told(outcome: &Outcome) -> String {
    match outcome {
        Ok(Answer(text)) => format!("answered: {text}"),
        Err(error) => error.to_string(),
    }
}
