//! The tool calls of a round, with tools and plugins of the tests' own.

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hooks_examples::agent::{
    Agent, Channel, LocalChannel, Message, ReadFile, Sandbox, ScriptedModel, Setup, Step, Tool,
    ToolContext, call, definition, line,
};
use hooks_examples::day;
use hooks_points::{
    AfterToolCall, AfterToolCallPayload, BeforeToolCall, BeforeToolCallPayload,
    BeforeToolCallResult, Personality, ToolDefinition, ToolResult,
};
use hooks_runtime::{HookRegistry, handlers, hook_handler};
use serde_json::{Value, json};
use support::points;
use tempfile::TempDir;
use tokio::sync::Barrier;
use tokio::time::timeout;

/// Comes back only when two of it run at the same time.
#[derive(Debug)]
struct Meet(Barrier);

impl Tool for Meet {
    fn definition(&self) -> ToolDefinition {
        definition("meet", "Waits for another.", &[])
    }

    fn run<'a>(&'a self, _: &'a Value, _: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            self.0.wait().await;
            ToolResult::success("met")
        })
    }
}

/// An agent whose model asks for these calls, and then says that it is done.
fn agent(hooks: HookRegistry, folder: &TempDir, calls: &[(&str, Value)]) -> Agent {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(index, (tool, args))| call(&format!("c{index}"), tool, args.clone()));
    let model = ScriptedModel::default()
        .when("go", [Step::Ask("", calls.collect()), Step::Say("done")])
        .when("again", [Step::Say("still here")]);
    let channel: Arc<dyn Channel> = Arc::new(LocalChannel::new("cli"));
    Agent::new(Setup {
        hooks,
        model: Box::new(model),
        clock: Box::new(day::date()),
        sandbox: Sandbox::new(folder.path()).expect("a sandbox"),
        tools: vec![Box::new(Meet(Barrier::new(2))), Box::new(ReadFile)],
        personalities: vec![Personality { id: "one".into(), ..Default::default() }],
        channels: vec![channel],
        tickets: Vec::new(),
    })
    .expect("an agent")
}

/// The results that stand in the history after these messages: text, and
/// whether it is an error.
async fn results(agent: &Agent, messages: &[&str]) -> (Vec<(String, bool)>, Vec<&'static str>) {
    let (inlet, inbox) = line();
    for message in messages {
        inlet.write("cli", "desk", message);
    }
    drop(inlet);
    let mut fired = Vec::new();
    let serving = agent.serve(inbox, |record| fired.extend(points(&record)));
    // The clock is paused: it jumps to the limit as soon as no task can go on.
    timeout(Duration::from_secs(1), serving).await.expect("the agent does not hang");
    let history = agent.history("cli:desk").await.expect("a session");
    let results = history.into_iter().filter_map(|line| match line.message {
        Message::ToolResult { text, is_error, .. } => Some((text, is_error)),
        _ => None,
    });
    (results.collect(), fired)
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_round_run_side_by_side() {
    let folder = TempDir::new().expect("a folder");
    let calls = [("meet", json!({})), ("meet", json!({}))];
    let agent = agent(HookRegistry::new(), &folder, &calls);
    // One after another they would wait for each other for ever.
    let (results, _) = results(&agent, &["go"]).await;
    assert_eq!(results, [("met".to_owned(), false), ("met".to_owned(), false)]);
}

#[tokio::test(start_paused = true)]
async fn all_calls_are_asked_about_before_any_of_them_runs() {
    let folder = TempDir::new().expect("a folder");
    let calls = [("meet", json!({})), ("meet", json!({}))];
    let agent = agent(HookRegistry::new(), &folder, &calls);
    let (_, fired) = results(&agent, &["go"]).await;
    let tools: Vec<_> = fired.into_iter().filter(|point| point.ends_with("tool_call")).collect();
    let [before, after] = ["before_tool_call", "after_tool_call"];
    assert_eq!(tools, [before, before, after, after]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_exist_answers_so() {
    let folder = TempDir::new().expect("a folder");
    let agent = agent(HookRegistry::new(), &folder, &[("fly", json!({}))]);
    let (results, fired) = results(&agent, &["go"]).await;
    let expected = "there is no tool `fly` here: use one that is on offer".to_owned();
    assert_eq!(results, [(expected, true)]);
    assert!(fired.contains(&"after_tool_call"));
}

#[tokio::test(start_paused = true)]
async fn the_sandbox_holds_without_any_plugin() {
    let folder = TempDir::new().expect("a folder");
    let outside = TempDir::new().expect("another folder");
    std::fs::write(outside.path().join("secret"), "s").expect("a file");
    let secret = outside.path().join("secret").display().to_string();
    let calls = [("read_file", json!({ "path": secret })), ("read_file", json!({}))];
    let agent = agent(HookRegistry::new(), &folder, &calls);
    let (results, _) = results(&agent, &["go"]).await;
    let outside = format!("`{secret}` is outside of the sandbox: give a path inside of it");
    assert_eq!(
        results,
        [(outside, true), ("`path` is missing: give it as a text".to_owned(), true)]
    );
}

#[hook_handler(BeforeToolCall, on_failure = "closed")]
fn cannot_judge(call: &BeforeToolCallPayload) -> Result<Option<BeforeToolCallResult>, String> {
    match call.tool_call_id.as_str() {
        "c1" => Err("the rule book is gone".to_owned()),
        _ => Ok(None),
    }
}

#[tokio::test(start_paused = true)]
async fn l13_a_guard_that_fails_closed_stops_the_round_and_the_history_stays_whole() {
    let folder = TempDir::new().expect("a folder");
    let hooks = HookRegistry::new();
    hooks.register(handlers![cannot_judge]).expect("registered");
    let agent = agent(hooks, &folder, &[("meet", json!({})), ("meet", json!({}))]);
    let (results, fired) = results(&agent, &["go", "again"]).await;
    let error = results[0].0.clone();
    assert!(error.contains("cannot_judge") && error.contains("the rule book is gone"), "{error}");
    assert_eq!(results, [(error.clone(), true), (error, true)], "both calls are answered");
    assert!(!fired.contains(&"after_tool_call"), "nothing ran");
    // The session goes on, and every turn that began has ended.
    assert_eq!(fired.iter().filter(|point| **point == "agent_done").count(), 2);
    assert_eq!(fired.last(), Some(&"message_sent"));
}

#[hook_handler(AfterToolCall, on_failure = "closed")]
fn cannot_record(_: &AfterToolCallPayload) -> Result<(), &'static str> {
    Err("the disk is full")
}

#[tokio::test(start_paused = true)]
async fn l13_a_recorder_that_fails_closed_ends_the_turn_after_all_calls_are_answered() {
    let folder = TempDir::new().expect("a folder");
    let hooks = HookRegistry::new();
    hooks.register(handlers![cannot_record]).expect("registered");
    let agent = agent(hooks, &folder, &[("meet", json!({})), ("meet", json!({}))]);
    let (results, fired) = results(&agent, &["go"]).await;
    assert_eq!(results, [("met".to_owned(), false), ("met".to_owned(), false)]);
    let round_trips = fired.iter().filter(|point| **point == "after_llm_call").count();
    assert_eq!(round_trips, 1, "the turn ended early");
    assert_eq!(fired.iter().filter(|point| **point == "agent_done").count(), 1);
    assert_eq!(fired.last(), Some(&"message_sent"), "the person is told");
}
