//! What one command costs through the bridge, beside the same command spawned with tokio
//! alone, in turn and in the same run.
//!
//! `cargo bench -p hooks-bridge`

use std::process::Stdio;
use std::time::{Duration, Instant};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::{Environment, Invocation, Limits, Program, Runner};
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
use serde_json::json;
use tokio::io::AsyncWriteExt;

const ROUNDS: usize = 300;

/// The limit that this project wants to keep.
const MOST: f64 = 1.15;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // `cargo test` runs it too, and wants to know only that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 3 };
    let lines = [("sh", "cat >/dev/null"), ("bash", "grep -q 'rm -rf' && exit 2; exit 0")];
    println!(
        "command                               bare     runner       fire   runner/bare   fire/bare"
    );
    for (shell, line) in lines {
        let runner = Runner::new(Limits::default());
        let hooks = hooks(shell, line);
        let (mut bare, mut run, mut fire) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            bare.push(timed(spawn(shell, line)).await);
            run.push(timed(async { drop(runner.run(invocation(shell, line)).await) }).await);
            fire.push(timed(async { drop(hooks.fire_gating::<UsingTool>(call()).await) }).await);
        }
        let [bare, run, fire] = [bare, run, fire].map(median);
        let ratio = |time: Duration| time.as_secs_f64() / bare.as_secs_f64();
        let kept = if ratio(run).max(ratio(fire)) <= MOST { "kept" } else { "short" };
        println!(
            "{:32} {bare:>9.2?}  {run:>9.2?}  {fire:>9.2?}   {:>11.3}   {:>9.3}   at most {MOST}: {kept}",
            format!("{shell} -c '{line}'").chars().take(32).collect::<String>(),
            ratio(run),
            ratio(fire),
        );
    }
}

async fn timed(work: impl Future<Output = ()>) -> Duration {
    let began = Instant::now();
    work.await;
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn stdin() -> Vec<u8> {
    json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" } })
        .to_string()
        .into_bytes()
}

/// What a host would write with tokio alone.
async fn spawn(shell: &str, line: &str) {
    let mut child = tokio::process::Command::new(shell)
        .args(["-c", line])
        .env_clear()
        .envs(Environment::default().variables([]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut pipe = child.stdin.take().expect("a pipe");
    let _ = pipe.write_all(&stdin()).await;
    drop(pipe);
    let output = child.wait_with_output().await.expect("an end");
    assert!(output.stdout.is_empty());
}

fn invocation(shell: &str, line: &str) -> Invocation {
    Invocation { stdin: stdin(), ..Invocation::new(Program::shell(shell, line)) }
}

fn hooks(shell: &str, line: &str) -> HookRegistry {
    let text = json!({ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": line, "shell": shell } ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", Plan::read_text(&source, &text.to_string(), "/"));
    hooks.register(bridge.gate::<UsingTool>()).expect("a registration");
    hooks
}

fn call() -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "ls" }),
    }
}
