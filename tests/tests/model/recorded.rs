//! The recording of a case: it changes nothing, and can be read.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use hooks_runtime::HookRegistry;
use hooks_runtime::record::{
    CallStatus, CapturePolicy, Line, LineKind, RecordWriter, Recorder, Recording,
};

use crate::points::catalogue;

/// A recording under way, and what it has written.
pub struct Recorded {
    recording: Recording,
    writer: RecordWriter,
    text: Text,
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Recorded {
    pub fn start(hooks: &HookRegistry) -> Self {
        let text = Text::default();
        let recorder = Recorder::into_writer(text.clone()).catalogue(&catalogue()).queue(1 << 20);
        let recorder = recorder.capture("*", CapturePolicy::Full);
        let (recording, writer) = recorder.start(hooks).unwrap();
        Self { recording, writer, text }
    }

    /// Ends it, and looks at every line. How many fires there are.
    pub fn check(self) -> u64 {
        let Self { recording, writer, text } = self;
        drop(writer);
        let summary = recording.summary();
        drop(recording);
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = text.lines().map(|line| Line::parse(line).unwrap()).collect();
        assert_eq!((lines.len() as u64, summary.dropped), (summary.lines, 0));
        assert!(lines.iter().zip(0..).all(|(line, seq)| line.seq == seq), "every line is there");
        let mut fires = BTreeSet::new();
        let mut lines = lines.into_iter().map(|line| line.kind).peekable();
        while let Some(kind) = lines.next() {
            let LineKind::Fire(fire) = kind else { continue };
            assert!(fires.insert(fire.fire), "a fire is recorded once");
            for place in 0..fire.calls {
                let Some(LineKind::Call(call)) = lines.next() else { panic!("a call of {fire:?}") };
                assert_eq!((call.fire, call.place), (fire.fire, place));
                let was_called = call.status != CallStatus::Filtered;
                assert_eq!(call.call.is_some(), was_called, "{call:?}");
                assert_eq!(call.decision.is_some(), call.status == CallStatus::Ran, "{call:?}");
                // Nothing is in shadow here: what was decided had an effect.
                assert_eq!(call.effect, call.decision);
                // In a stage also what it did to the run before it failed.
                let answers = match &*call.model {
                    "void" => false,
                    "stage" => call.decision.is_some() || call.failure.is_some(),
                    _ => call.decision.is_some(),
                };
                assert_eq!(call.answer.is_some(), answers, "{call:?}");
                assert!(call.answer.is_none_or(|answer| answer.value().is_some()));
            }
            for _ in 0..fire.steps {
                assert!(
                    matches!(lines.next(), Some(LineKind::Step(step)) if step.fire == fire.fire)
                );
            }
        }
        assert_eq!(fires.len() as u64, summary.fires);
        summary.fires
    }
}
