//! The error of a flow keeps the errors that caused it (L11).

mod flow_support;
mod support;

use std::error::Error;
use std::fmt;
use std::io;

use flow_support::*;
use hooks_runtime::flow::StageKind;
use hooks_runtime::{BoxError, FlowError, HookRegistry, OnError, on};
use support::{Spiky, keep_quiet, poll_once};

/// The first error of type `E` in the chain of sources.
fn in_chain<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn no_disk() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left")
}

#[tokio::test]
async fn l11_the_operations_error_is_a_source_of_the_flows_error() {
    let hooks = HookRegistry::new();
    let trace = Trace::default();
    let noting = trace.clone();
    let sees = on::<OnError<RunTool>>().name("sees").handler(move |flow: &mut Context| {
        let found = in_chain::<io::Error>(flow.error().unwrap());
        noting.note(format!("{:?}", found.map(io::Error::kind)));
    });
    hooks.register(sees).unwrap();
    let run = hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err(no_disk()));
    let error: Box<dyn Error> = run.await.unwrap_err().into();
    assert_eq!(error.to_string(), "no space left");
    assert_eq!(
        in_chain::<io::Error>(&*error).map(io::Error::kind),
        Some(io::ErrorKind::StorageFull)
    );
    assert_eq!(trace.take(), ["Some(StorageFull)"]);
}

/// What ended the flow is a source of its error, whichever end it was; but only
/// the operation's error is taken for the operation's.
#[tokio::test]
async fn l11_the_error_of_whatever_ended_the_flow_is_a_source_of_its_error() {
    let full = || DiskFull { missing: 7 };
    let operation = async |_| Err::<Answer, _>(DiskFull { missing: 7 });
    let echo = async |Call(text)| Ok::<_, DiskFull>(Answer(text));
    let quiet = HookRegistry::new();
    let with = |handler| {
        let hooks = HookRegistry::new();
        hooks.register(handler).unwrap();
        hooks
    };
    let aborting = with(at(StageKind::BeforeExecute, "aborts", move |flow| {
        flow.abort(full());
        Ok(())
    }));
    let failing = with(at(StageKind::AfterExecute, "fails", move |_| Err(full())));
    let invalid = quiet.flow::<RunTool>().validate(move |_| Err(full()));
    let table: [(Outcome, &str, bool); 4] = [
        (quiet.run_flow::<RunTool, _>(call("ls"), operation).await, "7 bytes short", true),
        (
            invalid.run(call("ls"), echo).await,
            "the input of `tools:run` is not valid: 7 bytes short",
            false,
        ),
        (
            aborting.run_flow::<RunTool, _>(call("ls"), echo).await,
            "`tools:run` was aborted in beforeExecute by `aborts` (built-in): 7 bytes short",
            false,
        ),
        (
            failing.run_flow::<RunTool, _>(call("ls"), echo).await,
            "handler `fails` (built-in) at `tools:run/afterExecute`: 7 bytes short",
            false,
        ),
    ];
    for (outcome, text, own) in table {
        let error = outcome.unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(in_chain(&error), Some(&full()), "{text}");
        // It is there once, and nothing stands between.
        assert_eq!(error.source().and_then(<dyn Error>::downcast_ref), Some(&full()), "{text}");
        assert_eq!(error.downcast_ref(), own.then(full).as_ref(), "{text}");
        match error.downcast::<DiskFull>() {
            Ok(back) => assert!(own && back == full(), "{text}"),
            Err(error) => assert!(!own && error.to_string() == text, "{text}"),
        }
    }
}

/// An error of another type comes back as it was.
#[tokio::test]
async fn l11_an_operations_error_of_another_type_is_given_back() {
    let hooks = HookRegistry::new();
    let error = hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err(no_disk())).await;
    let error = error.unwrap_err();
    assert!(error.downcast_ref::<DiskFull>().is_none());
    let error = error.downcast::<DiskFull>().unwrap_err();
    assert_eq!(error.downcast::<io::Error>().unwrap().kind(), io::ErrorKind::StorageFull);
}

/// Whatever a host makes of its failures: text, a box, an error.
#[tokio::test]
async fn l11_an_operation_may_fail_with_text_or_with_a_boxed_error() {
    let hooks = HookRegistry::new();
    let text = hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err("no such tool")).await;
    assert_eq!(told(&text), "no such tool");
    let owned = async |Call(name)| Err(format!("no tool `{name}`"));
    assert_eq!(told(&hooks.run_flow::<RunTool, _>(call("ls"), owned).await), "no tool `ls`");
    let boxed = async |_| Err(BoxError::from(no_disk()));
    let boxed = hooks.run_flow::<RunTool, _>(call("ls"), boxed).await.unwrap_err();
    let own = boxed.downcast::<io::Error>().unwrap();
    assert_eq!(own.kind(), io::ErrorKind::StorageFull);
}

/// What is meant to panic here.
const HOSTILE: &[&str] =
    &["hostile text", "hostile source", "hostile conversion", "spiky to the end"];

/// Panics whatever it is asked.
#[derive(Debug)]
struct Hostile;

impl fmt::Display for Hostile {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("hostile text");
    }
}

impl Error for Hostile {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        panic!("hostile source");
    }
}

/// Nothing of a hostile error unwinds into the host, nor keeps `Finally` away.
#[tokio::test]
async fn l12_an_error_that_panics_when_printed_does_not_unwind_out_of_a_flow() {
    keep_quiet(HOSTILE);
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let run = hooks.flow::<RunTool>();
    let (outcome, report) = run.run_reported(call("ls"), async |_| Err(Hostile)).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "printing the error panicked: hostile text");
    assert!(error.source().is_some_and(|own| own.is::<Hostile>()));
    assert!(error.downcast::<Hostile>().is_ok());
    assert_eq!(report.flow(), "tools:run");
    let ran = "beforeValidation + afterValidation + beforeExecute + onError + finally +";
    assert_eq!(trace.take().join(" "), ran);

    let refused = hooks.flow::<RunTool>().validate(|_| Err(Hostile));
    let refused = refused.run(call("ls"), async |_| Err(DiskFull { missing: 1 })).await;
    assert_eq!(
        told(&refused),
        "the input of `tools:run` is not valid: printing the error panicked: hostile text"
    );
}

/// An error that panics on its way into a box.
struct Unboxable;

impl From<Unboxable> for BoxError {
    fn from(_: Unboxable) -> Self {
        panic!("hostile conversion");
    }
}

#[tokio::test]
async fn l12_an_error_that_panics_when_converted_is_a_panic_of_the_operation() {
    keep_quiet(HOSTILE);
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err(Unboxable)).await;
    assert!(matches!(outcome, Err(FlowError::Panicked { .. })));
    assert_eq!(told(&outcome), "the operation of `tools:run` panicked: hostile conversion");
    let ran = "beforeValidation + afterValidation + beforeExecute + onError + finally +";
    assert_eq!(trace.take().join(" "), ran);
}

/// A run that is dropped while a handler looks at the error drops that error.
#[test]
fn l12_an_error_that_panics_when_dropped_does_not_unwind_out_of_a_dropped_run() {
    keep_quiet(HOSTILE);
    let hooks = HookRegistry::new();
    let waits = async |_: &mut Context| std::future::pending::<()>().await;
    hooks.register(on::<OnError<RunTool>>().name("waits").handler(waits)).unwrap();
    let sharp = async |_| Err(Spiky { sharp: true });
    let mut run = Box::pin(hooks.run_flow::<RunTool, _>(call("ls"), sharp));
    assert!(poll_once(run.as_mut()).is_pending());
    drop(run);
}
