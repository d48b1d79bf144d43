//! What the tests of commands share.
#![allow(dead_code, unreachable_pub)] // each test uses some of it

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with scripts, which goes with the value.
pub struct Scripts(tempfile::TempDir);

impl Scripts {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes an executable script and returns its path. It is another process that has the
    /// file open: what another test starts meanwhile would inherit it from this one, and a file
    /// that is open for writing cannot be run.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let mut copying = Command::new("sh");
        copying.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(&path).stdin(Stdio::piped());
        let mut copying = copying.spawn().expect("a shell");
        copying.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        assert!(copying.wait().expect("it ends").success());
        path
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }
}

/// Runs the tool in a folder, with nothing in the user's own.
pub fn tool(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", "/no/configuration")
        .env("HOME", "/no/home")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool");
    // A tool that refuses its arguments does not read.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    child.wait_with_output().expect("it ends")
}

/// The children of this process that have ended and were not reaped.
pub fn zombies() -> usize {
    let me = std::process::id();
    let stats = fs::read_dir("/proc").expect("proc").flatten().filter_map(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let mut words = rest.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse::<u32>().ok()?))
    });
    stats.filter(|(state, parent)| state == "Z" && *parent == me).count()
}

pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("proc").count()
}

/// How long a process is to sleep: longer than any test, and found by that number in its
/// command line, in this run of the tests and no other.
pub fn nap(seconds: u32) -> String {
    format!("{seconds}.{:07}", std::process::id())
}

/// Processes whose command line has that text.
pub fn processes(text: &str) -> usize {
    let lines = fs::read_dir("/proc").expect("proc").flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        fs::read(entry.path().join("cmdline")).ok()
    });
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// Waits for what another process does, which gives no signal that could be awaited.
pub async fn eventually(what: &str, mut met: impl FnMut() -> bool) {
    let began = Instant::now();
    while !met() {
        assert!(began.elapsed() < Duration::from_secs(10), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
