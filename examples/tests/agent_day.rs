//! The agent's day from end to end: what is said, what every point did, and
//! what is left afterwards.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use hooks_examples::agent::{Event, Message, Outcome, Record, TicketStatus};
use hooks_examples::day;
use hooks_examples::house::House;
use hooks_examples::view::{self, Look};
use hooks_points::catalogue;
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::registry::Owner;
use hooks_runtime::report::{HandlerStatus, SkipReason};
use serde_json::Value;
use support::{assert_golden, fires, points, transcript, without_times};

async fn lived() -> (House, Vec<Record>) {
    let house = day::house().expect("a house");
    let mut records = Vec::new();
    day::live(&house, |record| records.push(record)).await.expect("a day");
    (house, records)
}

/// The record of the request that most of the day is about.
fn main_turn(records: &[Record]) -> &Record {
    record_of(records, day::REQUEST)
}

/// The first record in which this was said.
fn record_of<'a>(records: &'a [Record], words: &str) -> &'a Record {
    let said = |event: &Event| matches!(event, Event::Said { text, .. } if text == words);
    let mut found = records.iter().filter(|it| it.entries.iter().any(|entry| said(&entry.event)));
    found.next().expect("it was heard")
}

#[tokio::test]
async fn the_transcript_is_the_golden_one() {
    let (house, records) = lived().await;
    let summary = view::summary(&house).expect("a summary");
    assert_golden(
        "transcript.txt",
        &without_times(&transcript(Look::default(), &records, &summary)),
    );
}

#[tokio::test]
async fn the_trace_is_the_golden_one() {
    let (_, records) = lived().await;
    let lines = view::json_lines(&records).expect("JSON");
    let trace: String = lines.lines().map(|line| without_elapsed(line) + "\n").collect();
    assert_golden("trace.jsonl", &trace);
}

/// A line of the trace without its times.
fn without_elapsed(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).expect("a line of JSON");
    assert!(line["took_ns"].take().is_u64());
    let report = &mut line["report"];
    if report["flow"].is_null() {
        without_elapsed_rows(report);
    } else {
        let answered = report["operation"]["status"]["kind"] == "not_run";
        assert_eq!(report["operation"]["elapsed_ns"].take().is_u64(), !answered);
        report["stages"].as_array_mut().expect("stages").iter_mut().for_each(without_elapsed_rows);
    }
    line.to_string()
}

/// The handlers of a fire, or of a stage, without their times.
fn without_elapsed_rows(report: &mut Value) {
    for row in report["handlers"].as_array_mut().expect("handlers") {
        let called = row["status"]["kind"] != "filtered";
        assert_eq!(row["elapsed_ns"].take().is_u64(), called, "who was called has a time");
    }
}

#[tokio::test]
async fn l23_every_agent_and_gateway_point_is_fired() {
    let declared = Catalogue::merge([catalogue::agent(), catalogue::gateway()]).expect("one");
    assert_eq!(declared.points().len(), 27);
    let (house, _) = lived().await;
    declared.assert_all_fired(house.agent.hooks());
    // Also no task waits for what never comes, and every constraint names a handler.
    let audit = house.agent.hooks().audit();
    assert!(audit.is_clean(), "{audit}");
    // One point of each of the other groups is fired too.
    let audit = house.agent.hooks().audit_with(&declared);
    assert_eq!(audit.undeclared, ["before_inbound", "tools:call-tool"]);
}

#[tokio::test]
async fn all_five_models_are_in_the_timeline() {
    let (_, records) = lived().await;
    let fired = records.iter().flat_map(fires);
    let models: BTreeSet<_> = fired.map(|fired| fired.report.model().to_string()).collect();
    let all = ["claiming", "flow", "gating", "modifying", "void"];
    assert_eq!(models, all.map(str::to_owned).into());
}

#[tokio::test]
async fn l10_what_a_guard_rejects_begins_no_turn_and_what_is_rewritten_is_heard() {
    let (house, records) = lived().await;
    let refused = record_of(&records, "What is the password of the database?");
    let by = refused.entries.iter().find_map(|entry| match &entry.event {
        Event::Refused { by, reason, .. } => Some((by.as_str(), reason.as_str())),
        _ => None,
    });
    assert_eq!(by, Some(("privacy/no_passwords", "it speaks of a password")));
    let fired = points(refused);
    assert_eq!(fired, ["before_inbound", "message_sending", "before_dispatch", "message_sent"]);

    let history = house.agent.history("telegram:42").await.expect("a session");
    let heard = history.iter().filter_map(|line| match &line.message {
        Message::User(text) => Some(text.as_str()),
        _ => None,
    });
    let masked = "My key is [masked] for you. What do the notes say?";
    assert_eq!(heard.collect::<Vec<_>>(), ["Any news?", "Any news?", masked]);
}

#[tokio::test]
async fn l11_a_file_that_was_read_is_answered_without_the_tool() {
    let (_, records) = lived().await;
    let turn = record_of(&records, "My key is sk-4711 for you. What do the notes say?");
    let runs = fires(turn).into_iter().filter(|fired| fired.report.point() == "tools:call-tool");
    let outcomes: Vec<_> = runs.map(|fired| fired.outcome.clone()).collect();
    let answered = Outcome::Answered { by: "file-cache/answer".into() };
    assert_eq!(outcomes, [Outcome::Completed, answered]);
    // In the turn of the request a process was started between: nothing is remembered.
    let runs = fires(main_turn(&records)).into_iter();
    let mut runs = runs.filter(|fired| fired.report.point() == "tools:call-tool");
    assert!(runs.all(|fired| fired.outcome == Outcome::Completed));
}

#[tokio::test]
async fn l31_a_handler_whose_condition_is_not_met_is_shown_as_left_out() {
    let (_, records) = lived().await;
    let status = |tool: &str| {
        let asked = fires(main_turn(&records)).into_iter();
        let mut asked = asked.filter(|fired| fired.report.point() == "before_tool_call");
        let asked = asked.find(|fired| fired.about == tool).expect("it was asked about");
        asked.report.handler("known_commands").expect("the allowlist").status().clone()
    };
    assert_eq!(status("read_file"), HandlerStatus::Filtered(SkipReason::Condition));
    assert!(matches!(status("run_command"), HandlerStatus::Ran(_)));
}

#[tokio::test]
async fn every_tool_call_has_its_result_and_a_refused_one_an_error() {
    let (house, _) = lived().await;
    let history = house.agent.history("cli:desk").await.expect("a session");
    let mut open: Vec<String> = Vec::new();
    let mut errors = BTreeMap::new();
    for line in &history {
        match &line.message {
            Message::Assistant { calls, .. } => {
                assert_eq!(open, Vec::<String>::new(), "all calls are answered before it speaks");
                open = calls.iter().map(|call| call.id.clone()).collect();
            }
            Message::ToolResult { call_id, is_error, text, .. } => {
                assert_eq!(open.first(), Some(call_id), "results come in the order of the calls");
                open.remove(0);
                errors.insert(call_id.as_str(), is_error.then_some(text.as_str()));
            }
            Message::User(_) => assert_eq!(open, Vec::<String>::new()),
        }
    }
    assert_eq!(errors.len(), 8);
    assert_eq!(errors["c3"], Some("`rm` may not be run, only cat, grep, ls, sort"));
    assert_eq!(errors["c5"], Some("T-7 needs revision: the summary lacks \"tests ran\""));
    assert_eq!(errors.values().flatten().count(), 2, "the others did their work");
}

#[tokio::test]
async fn what_was_refused_did_not_happen_and_what_was_not_did() {
    let (house, records) = lived().await;
    let folder = house.directory().join("workshop");
    assert!(folder.join("notes.txt").exists(), "`rm -rf .` was refused");
    let ran = |tool: &str| {
        let events = main_turn(&records).entries.iter().map(|entry| &entry.event);
        events.filter(|event| matches!(event, Event::Ran { tool: ran, .. } if ran == tool)).count()
    };
    assert_eq!((ran("run_command"), ran("read_file"), ran("complete_ticket")), (1, 1, 2));
    assert_eq!(house.agent.ticket("T-7").expect("T-7").status, TicketStatus::Done);

    let sent = |channel: &hooks_examples::agent::LocalChannel| {
        channel.sent().into_iter().map(|(_, message)| message.text).collect::<Vec<_>>()
    };
    // The adapter's own answer, and the news once: the second time it is suppressed.
    assert_eq!(
        sent(&house.telegram),
        [
            "Welcome. Write to me as to a colleague.",
            "Today is 2026-03-02. T-7 is done.",
            "I do not take that in: it speaks of a password.",
            "I was given no key. The notes say: The release waits for T-7.",
        ]
    );
    assert_eq!(sent(&house.terminal).len(), 4);
}

#[tokio::test]
async fn the_database_has_what_the_agent_did() {
    let (house, _) = lived().await;
    let mut rows = house.plugins.audit.rows().expect("rows");
    // Tools that run side by side end in any order.
    rows.retain(|row| row.subject == "s-2" && row.kind != "turn");
    rows.sort();
    let rows: Vec<_> = rows.iter().map(|row| format!("{}: {}", row.kind, row.detail)).collect();
    assert_eq!(
        rows,
        [
            "refused: run_command: `rm` may not be run, only cat, grep, ls, sort",
            "session: cli:desk",
            "tool: complete_ticket",
            "tool: complete_ticket",
            "tool: list_directory",
            "tool: read_file",
            "tool: spawn_subagent",
            "tool: start_process",
            "tool: unload_plugin",
        ]
    );
}

#[tokio::test]
async fn l19_a_plugin_that_is_unloaded_in_the_middle_is_gone_from_the_same_turn() {
    let (house, records) = lived().await;
    let analytics = |fired: &&hooks_examples::agent::Fired| {
        let mut rows = fired.report.handlers().into_iter();
        rows.any(|row| matches!(row.owner(), Owner::Plugin(id) if id.as_str() == "analytics"))
    };
    let calls: Vec<_> = fires(main_turn(&records))
        .into_iter()
        .filter(|fired| fired.report.point() == "after_llm_call")
        .map(|fired| analytics(&fired))
        .collect();
    // The third and the fourth are the subagent's, whose scope leaves it out.
    assert_eq!(calls, [true, false, false, false, false, false]);
    let left = house.agent.hooks().handlers();
    assert!(left.iter().all(|handler| handler.owner.to_string() != "analytics"));
}

#[tokio::test]
async fn l16_one_scope_serves_the_whole_turn() {
    let (_, records) = lived().await;
    let is_switch = |record: &&Record| points(record).contains(&"personality_switched");
    let switch = records.iter().position(|record| is_switch(&record)).expect("a switch");
    // The turn that switches keeps the scope that it began with to its end.
    let status = |record: &Record| {
        let dispatch = fires(record).into_iter().find(|f| f.report.point() == "before_dispatch");
        dispatch.and_then(|f| f.report.handler("not_twice")).map(|row| row.status().clone())
    };
    assert!(matches!(status(&records[switch]), Some(HandlerStatus::Ran(_))));
    // The next one is the reviewer's, from its first fire on.
    let filtered = Some(HandlerStatus::Filtered(SkipReason::Scope));
    assert_eq!(status(&records[switch + 1]), filtered);
    for fired in fires(&records[switch + 1]) {
        for row in fired.report.handlers() {
            let Owner::Plugin(id) = row.owner() else { continue };
            let admitted =
                ["allowlist", "audit-log", "file-cache", "privacy", "sandboxer", "usage-meter"];
            let ran = matches!(row.status(), HandlerStatus::Ran(_));
            assert_eq!(ran, admitted.contains(&id.as_str()), "{id} at {}", fired.report.point());
        }
    }
}
