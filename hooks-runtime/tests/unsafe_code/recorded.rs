//! Fires that are recorded: answers are read where they are, before they are composed, and of a
//! stage the run that its handler has left, also after it failed.

use std::io;
use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use hooks_runtime::record::{CallLine, CapturePolicy, Line, LineKind, Recorder};
use hooks_runtime::{
    AfterExecute, BeforeExecute, BoxError, Finally, FlowContext, HookRegistry, OnError, Verdict,
    hook_points, on,
};
use serde::{Deserialize, Serialize};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::shapes::{Payload, Shape, behave};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    pub text: String,
}

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    /// Heard.
    pub void Heard(Text);
    /// Set.
    pub modifying Dressed(Text) -> { first: String, second: String }
    /// Taken.
    pub claiming Taken(Text) -> Text;
    /// Let through.
    pub gating Judged(Text);
    /// Run.
    pub flow Work(Text) -> Text;
}

/// What was written.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn calls(&self) -> Vec<CallLine> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let calls = text.lines().filter_map(|line| match Line::parse(line).unwrap().kind {
            LineKind::Call(call) => Some(call),
            _ => None,
        });
        calls.collect()
    }
}

/// Records what `work` does.
fn recorded(hooks: &HookRegistry, work: impl FnOnce()) -> Written {
    let written = Written::default();
    let recorder = Recorder::into_writer(written.clone());
    let recorder = recorder.catalogue(&points()).capture("*", CapturePolicy::Full);
    let (recording, writer) = recorder.start(hooks).unwrap();
    work();
    drop((writer, recording));
    written
}

fn text(text: &str) -> Text {
    Text { text: text.to_owned() }
}

async fn pause(shape: Shape, alive: &Arc<AtomicU32>) {
    let payload = Payload { text: String::new(), alive: Arc::clone(alive) };
    behave(shape, &payload).await;
}

async fn rewrite(alive: &Arc<AtomicU32>, flow: &mut FlowContext<Work>) {
    flow.input_mut().unwrap().text.push('1');
    pause(Shape::Suspends, alive).await;
    flow.input_mut().unwrap().text.push('2');
    flow.state_mut().insert(7_u8);
}

async fn fail(alive: &Arc<AtomicU32>, flow: &mut FlowContext<Work>) -> Result<(), BoxError> {
    rewrite(alive, flow).await;
    Err("no".into())
}

async fn panic_at_last(alive: &Arc<AtomicU32>, flow: &mut FlowContext<Work>) {
    rewrite(alive, flow).await;
    panic!("planned");
}

/// Fires are dropped after every number of polls, with handlers that wait and panic.
#[test]
fn l25_answers_are_read_before_they_are_composed() {
    quietly(|| {
        let (hooks, alive) = (HookRegistry::new(), Arc::new(AtomicU32::new(0)));
        for shape in [Shape::Ready, Shape::Suspends, Shape::PanicsLate] {
            let with = (shape, Arc::clone(&alive));
            let heard = async |(shape, alive): &(Shape, Arc<AtomicU32>), _: &Text| {
                pause(*shape, alive).await;
            };
            let dressed = async |(shape, alive): &(Shape, Arc<AtomicU32>), it: &Text| {
                pause(*shape, alive).await;
                DressedResult { first: Some(it.text.clone()), second: None }
            };
            let taken = async |(shape, alive): &(Shape, Arc<AtomicU32>), _: &Text| {
                pause(*shape, alive).await;
                None::<Text>
            };
            let judged = async |(shape, alive): &(Shape, Arc<AtomicU32>), it: &Text| {
                pause(*shape, alive).await;
                Verdict::Replace(Text { text: format!("{}+", it.text) })
            };
            hooks.register(on::<Heard>().handler_with(with.clone(), heard)).unwrap();
            hooks.register(on::<Dressed>().handler_with(with.clone(), dressed)).unwrap();
            hooks.register(on::<Taken>().handler_with(with.clone(), taken)).unwrap();
            hooks.register(on::<Judged>().handler_with(with, judged)).unwrap();
        }
        let payload = text("it");
        let written = recorded(&hooks, || {
            drop_everywhere(&alive, || hooks.fire_void::<Heard>(&payload));
            drop_everywhere(&alive, || hooks.fire_modifying::<Dressed>(&payload));
            drop_everywhere(&alive, || hooks.fire_claiming::<Taken>(&payload));
            drop_everywhere(&alive, || hooks.fire_gating::<Judged>(text("it")));
            drop_everywhere(&alive, || hooks.fire_gating_reported::<Judged>(text("it")));
        });
        let answers: Vec<_> = written.calls().into_iter().filter_map(|call| call.answer).collect();
        let value = |value: &str| answers.iter().any(|it| format!("{it:?}").contains(value));
        assert!(value("it+") && value("first"), "{answers:?}");
    });
}

/// A handler of a stage waits, changes the run in place, answers, recovers, aborts, fails after
/// that and panics.
#[test]
fn l25_what_a_stage_did_to_its_run_is_read_also_after_it_failed() {
    quietly(|| {
        let (hooks, alive) = (HookRegistry::new(), Arc::new(AtomicU32::new(0)));
        let change = |flow: &mut FlowContext<Work>| {
            if let Some(output) = flow.output_mut() {
                output.text.push('3');
            }
        };
        let recover = |flow: &mut FlowContext<Work>| {
            flow.recover(text("recovered"));
        };
        let before = || on::<BeforeExecute<Work>>();
        hooks.register(before().name("rewrite").handler_with(Arc::clone(&alive), rewrite)).unwrap();
        hooks.register(on::<AfterExecute<Work>>().name("change").handler(change)).unwrap();
        hooks.register(on::<OnError<Work>>().name("recover").handler(recover)).unwrap();
        hooks.register(on::<Finally<Work>>().name("change").handler(change)).unwrap();
        let works = async |input: Text| Ok::<_, io::Error>(input);
        let jams = async |_: Text| Err::<Text, _>(io::Error::other("jammed"));
        let written = recorded(&hooks, || {
            drop_everywhere(&alive, || hooks.flow::<Work>().run(text("in"), works));
            drop_everywhere(&alive, || hooks.flow::<Work>().run(text("in"), jams));
            let run = hooks.flow::<Work>().run(text("in"), works);
            assert_eq!(finish(pin!(run)).0.unwrap(), text("in123"));
            for name in ["fail", "panic"] {
                let handle = match name {
                    "fail" => before().name(name).handler_with(Arc::clone(&alive), fail),
                    _ => before().name(name).handler_with(Arc::clone(&alive), panic_at_last),
                };
                let handle = hooks.register(handle).unwrap();
                drop_everywhere(&alive, || hooks.flow::<Work>().run(text("in"), works));
                drop_everywhere(&alive, || hooks.flow::<Work>().run_reported(text("in"), works));
                handle.into_iter().for_each(|handle| drop(hooks.unregister([handle])));
            }
        });
        let calls = written.calls();
        let did = |name: &str| {
            let answer = calls.iter().find(|call| call.handler == name && call.answer.is_some());
            answer.and_then(|call| Some(call.answer.as_ref()?.value()?.to_string())).unwrap()
        };
        assert_eq!(did("rewrite"), r#"{"input":{"text":"in12"},"state":true}"#);
        assert_eq!(did("fail"), r#"{"input":{"text":"in1212"},"state":true}"#);
        assert_eq!(did("recover"), r#"{"recover":{"text":"recovered"}}"#);
    });
}
