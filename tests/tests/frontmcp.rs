//! What FrontMCP's document says of flows, stage by stage: the order of
//! handlers, what they see and change. Whom they run for is in
//! `frontmcp_owners.rs`, the sequences of stages in `frontmcp_sequences.rs`,
//! whole runs in `frontmcp_runs.rs`.

mod flow_support;

use flow_support::*;
use hooks_runtime::flow::StageKind;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, HookPoint,
    HookRegistry, OnError, on,
};

async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
    Ok(Answer(text))
}

async fn fails(_: Call) -> Result<Answer, DiskFull> {
    Err(DiskFull { missing: 7 })
}

#[test]
fn l28_each_stage_is_a_point_named_for_its_flow() {
    let names = [
        BeforeValidation::<RunTool>::NAME,
        AfterValidation::<RunTool>::NAME,
        BeforeExecute::<RunTool>::NAME,
        AfterExecute::<RunTool>::NAME,
        OnError::<RunTool>::NAME,
        Finally::<RunTool>::NAME,
    ];
    assert_eq!(
        names,
        [
            "tools:run/beforeValidation",
            "tools:run/afterValidation",
            "tools:run/beforeExecute",
            "tools:run/afterExecute",
            "tools:run/onError",
            "tools:run/finally",
        ]
    );
    assert_eq!(BeforeExecute::<PrintPage>::NAME, "print_page/beforeExecute");
    assert_eq!(names, StageKind::ALL.map(|stage| format!("tools:run/{stage}")));
}

/// The document's own example has 100 before 50. Ported it is -100 before -50:
/// the lower number runs first here, as everywhere.
#[tokio::test]
async fn l04_the_lower_number_runs_first_then_the_order_of_registration() {
    let hooks = HookRegistry::new();
    let trace = Trace::default();
    let noting = |name: &'static str, priority: i32| {
        let trace = trace.clone();
        on::<BeforeExecute<RunTool>>()
            .name(name)
            .priority(priority)
            .handler(move |_: &mut Context| trace.note(name))
    };
    hooks
        .register([
            noting("late", 5),
            noting("second", -50),
            noting("default, registered first", 0),
            noting("first", -100),
            noting("default, registered second", 0),
        ])
        .unwrap();
    let held_back = trace.clone();
    hooks
        .register(
            on::<BeforeExecute<RunTool>>()
                .name("low in number, but after late")
                .priority(-1000)
                .after("late")
                .handler(move |_: &mut Context| held_back.note("low in number, but after late")),
        )
        .unwrap();
    hooks.run_flow::<RunTool, _>(call("ls"), echo).await.unwrap();
    assert_eq!(
        trace.take(),
        [
            "first",
            "second",
            "default, registered first",
            "default, registered second",
            "late",
            "low in number, but after late",
        ]
    );
}

#[tokio::test]
async fn l18_a_group_of_handlers_is_registered_whole_or_not_at_all() {
    let hooks = HookRegistry::new();
    let trace = Trace::default();
    let noting = |name: &'static str| {
        let trace = trace.clone();
        at(StageKind::BeforeExecute, name, move |_| {
            trace.note(name);
            Ok(())
        })
    };
    let error = hooks.register([noting("log"), noting("time"), noting("log")]).unwrap_err();
    let hooks_runtime::RegisterError::Duplicate(duplicate) = &error else { panic!("{error}") };
    let place = duplicate.first;
    assert_eq!(
        error.to_string(),
        format!(
            "`log` (built-in) is registered at `tools:run/beforeExecute` already: give it another \
             name, or say `replace`; the first is at {place}, the second at {place}"
        )
    );
    hooks.run_flow::<RunTool, _>(call("ls"), echo).await.unwrap();
    assert_eq!(trace.take(), [""; 0]);
    hooks.register([noting("log"), noting("time")]).unwrap();
    hooks.run_flow::<RunTool, _>(call("ls"), echo).await.unwrap();
    assert_eq!(trace.take(), ["log", "time"]);
}

/// A handler belongs to the stage of one flow.
#[tokio::test]
async fn l11_handlers_of_one_flow_take_no_part_in_another() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let printed: Outcome = hooks.run_flow::<PrintPage, _>(call("page 1"), echo).await;
    assert_eq!(told(&printed), "answered: page 1");
    assert_eq!(trace.take(), [""; 0]);
}

#[tokio::test]
async fn l11_the_context_has_flow_and_stage() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    for stage in StageKind::ALL {
        let trace = trace.clone();
        hooks
            .register(at(stage, "teller", move |flow| {
                trace.note(format!("{} {}", flow.flow(), flow.stage()));
                Ok(())
            }))
            .unwrap();
    }
    let _: Outcome = hooks.run_flow::<RunTool, _>(call("ls"), fails).await;
    assert_eq!(
        trace.take(),
        [
            "tools:run beforeValidation",
            "tools:run afterValidation",
            "tools:run beforeExecute",
            "tools:run onError",
            "tools:run finally",
        ]
    );
}

/// What a handler of a stage sees, in one line.
fn seen(flow: &Context) -> String {
    let input = flow.input().map(|Call(text)| text);
    let output = flow.output().map(|Answer(text)| text);
    let error = flow.error().map(ToString::to_string);
    format!("{}: {input:?} {output:?} {error:?}", flow.stage())
}

/// A registry whose handlers note what they see.
fn seeing(trace: &Trace) -> HookRegistry {
    let hooks = HookRegistry::new();
    for stage in StageKind::ALL {
        let trace = trace.clone();
        hooks
            .register(at(stage, "seer", move |flow| {
                trace.note(seen(flow));
                Ok(())
            }))
            .unwrap();
    }
    hooks
}

/// Input until the operation takes it, output from after_execute on, error in
/// on_error and after it.
#[tokio::test]
async fn l11_input_output_and_error_are_seen_where_there_is_one() {
    let trace = Trace::default();
    let hooks = seeing(&trace);

    let _: Outcome = hooks.run_flow::<RunTool, _>(call("ls"), echo).await;
    assert_eq!(
        trace.take(),
        [
            r#"beforeValidation: Some("ls") None None"#,
            r#"afterValidation: Some("ls") None None"#,
            r#"beforeExecute: Some("ls") None None"#,
            r#"afterExecute: None Some("ls") None"#,
            r#"finally: None Some("ls") None"#,
        ]
    );

    let _: Outcome = hooks.run_flow::<RunTool, _>(call("ls"), fails).await;
    assert_eq!(
        trace.take()[3..],
        [
            r#"onError: None None Some("7 bytes short")"#,
            r#"finally: None None Some("7 bytes short")"#,
        ]
    );

    // The input is still there when the operation did not get it.
    let _: Outcome =
        hooks.flow::<RunTool>().validate(|_| Err("it is empty")).run(call(""), echo).await;
    assert_eq!(
        trace.take(),
        [
            r#"beforeValidation: Some("") None None"#,
            r#"onError: Some("") None Some("the input of `tools:run` is not valid: it is empty")"#,
            r#"finally: Some("") None Some("the input of `tools:run` is not valid: it is empty")"#,
        ]
    );
}

#[tokio::test]
async fn l11_the_input_can_be_rewritten_until_the_operation_starts() {
    let trace = Trace::default();
    let hooks = traced(&trace, |flow| {
        let stage = flow.stage();
        let Some(Call(text)) = flow.input_mut() else { return Ok(()) };
        text.push_str(match stage {
            StageKind::BeforeValidation => " -l",
            StageKind::AfterValidation => " -a",
            StageKind::BeforeExecute => " /",
            stage => panic!("there is an input in {stage}"),
        });
        Ok(())
    });
    let validated = trace.clone();
    let outcome: Outcome = hooks
        .flow::<RunTool>()
        .validate(move |Call(text)| -> Result<(), &str> {
            // What is validated is what the handlers before it made of it.
            validated.note(text);
            Ok(())
        })
        .run(call("ls"), echo)
        .await;
    assert_eq!(told(&outcome), "answered: ls -l -a /");
    assert_eq!(trace.take()[2], "ls -l");
}

#[tokio::test]
async fn l11_the_output_can_be_rewritten_from_after_execute_on() {
    let hooks = HookRegistry::new();
    let change = |name, stage, mark: &'static str| {
        at(stage, name, move |flow| {
            if let Some(Answer(text)) = flow.output_mut() {
                text.push_str(mark);
            }
            Ok(())
        })
    };
    hooks
        .register([
            change("early", StageKind::BeforeExecute, " too early"),
            change("one", StageKind::AfterExecute, " [signed]"),
            change("two", StageKind::AfterExecute, " [sealed]"),
        ])
        .unwrap();
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), echo).await;
    assert_eq!(told(&outcome), "answered: ls [signed] [sealed]");
}

/// In finally the outcome stands: an answer is not taken there, so the output
/// must not change by another door, least of all by a handler that fails.
#[tokio::test]
async fn l11_finally_cannot_change_the_output() {
    let hooks = HookRegistry::new();
    hooks
        .register(at(StageKind::Finally, "scribbler", |flow| {
            if let Some(Answer(text)) = flow.output_mut() {
                text.push_str(" scribbled on");
            }
            Err(DiskFull { missing: 3 })
        }))
        .unwrap();
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), echo).await;
    assert_eq!(told(&outcome), "answered: ls");
}

/// The last answer before the operation counts, and later handlers see it.
#[tokio::test]
async fn l11_an_answer_is_seen_by_the_stages_after_it() {
    let trace = Trace::default();
    let hooks = seeing(&trace);
    hooks
        .register(at(StageKind::AfterValidation, "cache", |flow| {
            assert!(flow.respond(Answer("from the cache".into())));
            Ok(())
        }))
        .unwrap();
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: from the cache");
    assert_eq!(
        trace.take(),
        [
            r#"beforeValidation: Some("ls") None None"#,
            r#"afterValidation: Some("ls") None None"#,
            r#"beforeExecute: Some("ls") Some("from the cache") None"#,
            r#"afterExecute: Some("ls") Some("from the cache") None"#,
            r#"finally: Some("ls") Some("from the cache") None"#,
        ]
    );
}

/// In on_error the operation's error has its own type, and only its own.
#[tokio::test]
async fn l11_on_error_sees_the_operations_error_with_its_type() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    for stage in [StageKind::OnError, StageKind::Finally] {
        let trace = trace.clone();
        hooks
            .register(at(stage, "seer", move |flow| {
                trace.note(format!(
                    "{:?} {:?}",
                    flow.operation_error::<DiskFull>(),
                    flow.operation_error::<std::fmt::Error>()
                ));
                Ok(())
            }))
            .unwrap();
    }
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), fails).await;
    assert_eq!(trace.take(), ["Some(DiskFull { missing: 7 }) None"; 2]);
    // The host gets it back by value.
    assert_eq!(outcome.unwrap_err().downcast::<DiskFull>().unwrap(), DiskFull { missing: 7 });

    // What is not the operation's error is not taken for it.
    let _: Outcome =
        hooks.flow::<RunTool>().validate(|_| Err("it is empty")).run(call(""), echo).await;
    assert_eq!(trace.take(), ["None None"; 2]);

    // Another operation, another error type: the handlers stay as they are.
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err(std::fmt::Error)).await;
    assert_eq!(trace.take(), ["None Some(Error)"; 2]);
    assert_eq!(outcome.unwrap_err().downcast::<std::fmt::Error>().unwrap(), std::fmt::Error);
}

#[derive(Debug, PartialEq)]
struct Started(u32);

/// State is typed, is seen by the later stages of its run, and by no other
/// run, not even one that is under way at the same time.
#[tokio::test]
async fn l11_state_is_shared_within_a_run_and_with_no_other() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    let noting = trace.clone();
    hooks
        .register([
            at(StageKind::BeforeValidation, "start", |flow| {
                let length = flow.input().map_or(0, |Call(text)| text.len() as u32);
                assert_eq!(flow.state_mut().insert(Started(length)), None, "a new run is empty");
                Ok(())
            }),
            at(StageKind::BeforeExecute, "count", |flow| {
                flow.state_mut().get_mut::<Started>().unwrap().0 += 100;
                Ok(())
            }),
            at(StageKind::Finally, "stop", move |flow| {
                noting.note(format!("{:?}", flow.state().get::<Started>()));
                assert_eq!(flow.state_mut().remove::<u8>(), None, "no handler put one there");
                assert!(flow.state_mut().remove::<Started>().is_some());
                assert_eq!(flow.state().get::<Started>(), None);
                Ok(())
            }),
        ])
        .unwrap();
    let slow = async |Call(text): Call| {
        tokio::task::yield_now().await;
        Ok::<_, DiskFull>(Answer(text))
    };
    // Polls the first one first, unlike the runtime's own.
    let (one, two) = futures::join!(
        hooks.run_flow::<RunTool, _>(call("ls"), slow),
        hooks.run_flow::<RunTool, _>(call("cat"), slow),
    );
    assert_eq!((told(&one), told(&two)), ("answered: ls".into(), "answered: cat".into()));
    assert_eq!(trace.take(), ["Some(Started(102))", "Some(Started(103))"]);
    // And in a run that fails.
    let _: Outcome = hooks.run_flow::<RunTool, _>(call("ls"), fails).await;
    assert_eq!(trace.take(), ["Some(Started(102))"]);
}
