//! What the tests of recordings share.
#![allow(dead_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hooks_runtime::HookRegistry;
use hooks_runtime::record::{CallLine, FireLine, Line, LineKind, Recorder};
use serde_json::Value;

/// What was written, as far as it was.
#[derive(Clone, Debug, Default)]
pub struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    pub fn get(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub fn lines(&self) -> Vec<Line> {
        self.get().lines().map(|line| Line::parse(line).unwrap()).collect()
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records what `work` does. The lines.
pub async fn recorded(
    hooks: &HookRegistry,
    ask: impl FnOnce(Recorder) -> Recorder,
    work: impl AsyncFnOnce(),
) -> Vec<Line> {
    let text = Text::default();
    let (recording, writer) = ask(Recorder::into_writer(text.clone())).start(hooks).unwrap();
    work().await;
    drop(writer);
    recording.close().await;
    text.lines()
}

pub fn fires(lines: &[Line]) -> Vec<&FireLine> {
    let fire = |line| match &Line::kind(line) {
        LineKind::Fire(fire) => Some(fire),
        _ => None,
    };
    lines.iter().filter_map(fire).collect()
}

pub fn calls(lines: &[Line]) -> Vec<&CallLine> {
    let call = |line| match &Line::kind(line) {
        LineKind::Call(call) => Some(call),
        _ => None,
    };
    lines.iter().filter_map(call).collect()
}

trait Kind {
    fn kind(&self) -> &LineKind;
}

impl Kind for Line {
    fn kind(&self) -> &LineKind {
        &self.kind
    }
}

/// The call of that handler.
#[track_caller]
pub fn call<'l>(lines: &'l [Line], handler: &str) -> &'l CallLine {
    let calls = calls(lines);
    let mut named = calls.iter().filter(|call| call.handler == handler);
    let found = named.next().unwrap_or_else(|| panic!("`{handler}` is among {calls:#?}"));
    assert!(named.next().is_none(), "one call of {handler}");
    found
}

/// What that handler answered.
#[track_caller]
pub fn answer(lines: &[Line], handler: &str) -> Value {
    let answer = call(lines, handler).answer.as_ref().expect("it has an answer");
    answer.value().expect("it is recorded").clone()
}

/// An empty folder, which is gone with this.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hooks-record-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of the files in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
