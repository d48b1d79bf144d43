//! A scripted day of the agent: every point is fired, and most of what can
//! happen happens.

use std::error::Error;
use std::time::{Duration, SystemTime};

use hooks_points::{AcceptanceCheck, AcceptanceSpec};
use serde_json::json;

use crate::agent::{AgentError, FixedClock, Goal, Record, ScriptedModel, Step, call, line};
use crate::house::House;

/// The person's request that most of the day is about.
pub const REQUEST: &str = "Close ticket T-7, then clear the folder.";

/// The day on which the script plays.
pub fn date() -> FixedClock {
    // The second of March 2026, nine in the morning.
    FixedClock(SystemTime::UNIX_EPOCH + Duration::from_hours(492_345))
}

/// The house with the scripted model in it.
pub fn house() -> Result<House, Box<dyn Error + Send + Sync>> {
    House::new(Box::new(script()), date())
}

/// Lives through the day; hands on what came of each thing in it.
pub async fn live(house: &House, mut each: impl FnMut(Record)) -> Result<(), AgentError> {
    let (inlet, inbox) = line();
    inlet.write("telegram", "42", "/start");
    inlet.write("cli", "desk", "help");
    inlet.write("cli", "desk", REQUEST);
    inlet.write("telegram", "42", "Any news?");
    inlet.write("telegram", "42", "Any news?");
    inlet.write("cli", "desk", "/personality reviewer");
    inlet.write("cli", "desk", "Any news?");
    drop(inlet);
    house.agent.serve(inbox, &mut each).await;
    for record in house.agent.settle().await {
        each(record);
    }
    // Once the process has ended: until then files may change, and none is remembered.
    let (inlet, inbox) = line();
    inlet.write("telegram", "42", "What is the password of the database?");
    inlet.write("telegram", "42", "My key is sk-4711 for you. What do the notes say?");
    drop(inlet);
    house.agent.serve(inbox, &mut each).await;
    for goal in goals() {
        let (_, record) = house.agent.pursue(&goal).await?;
        each(record);
    }
    Ok(())
}

/// What the model says and asks for.
pub(crate) fn script() -> ScriptedModel {
    ScriptedModel::default()
        .when(
            REQUEST,
            [
                Step::Ask(
                    "I look around first.",
                    vec![
                        call("c1", "read_file", json!({ "path": "notes.txt" })),
                        call("c2", "list_directory", json!({ "path": "/" })),
                        call("c3", "run_command", json!({ "command": "rm -rf ." })),
                        call("c4", "unload_plugin", json!({ "plugin": "analytics" })),
                    ],
                ),
                Step::Ask(
                    "Nothing may be deleted. I close the ticket and have the list counted.",
                    vec![
                        call(
                            "c5",
                            "complete_ticket",
                            json!({ "ticket": "T-7", "summary": "The notes are written." }),
                        ),
                        call(
                            "c6",
                            "spawn_subagent",
                            json!({ "prompt": "What is open?", "personality": "reviewer" }),
                        ),
                        call("c7", "start_process", json!({ "command": "sort todo.txt" })),
                    ],
                ),
                Step::Ask(
                    "Once more, with the tests.",
                    vec![call(
                        "c8",
                        "complete_ticket",
                        json!({ "ticket": "T-7", "summary": "Notes written, tests ran." }),
                    )],
                ),
                Step::Say("{c8}. Of the list, {c6} Nothing is cleared: {c3}. There are {c2}."),
            ],
        )
        .when(
            "In one line: What is open?",
            [
                Step::Ask("", vec![call("r1", "run_command", grep("open"))]),
                Step::Say("{r1} items are open."),
            ],
        )
        .when("Any news?", [Step::Say("{system} T-7 is done.")])
        .when(
            "My key is [masked] for you. What do the notes say?",
            [
                Step::Ask("", vec![call("n1", "read_file", json!({ "path": "notes.txt" }))]),
                Step::Ask(
                    "I make sure of it.",
                    vec![call("n2", "read_file", json!({ "path": "notes.txt" }))],
                ),
                Step::Say("I was given no key. The notes say: {n2}"),
            ],
        )
        .when("Write the line for the changelog.", [Step::Say("Hooks are added.")])
        .when(
            "Write the line for the changelog. The last attempt was turned down: it has to name \
             the version",
            [Step::Say("1.2.0: hooks are added.")],
        )
        .when("Find a name for the release.", [Step::Say("Untitled.")])
        .when("Translate the notes.", [Step::Fail("the dictionary is locked")])
        .when(
            "Announce the release.",
            [
                Step::Ask("", vec![call("q1", "ask_person", json!({ "question": "To whom?" }))]),
                Step::Say("I wait for an answer."),
            ],
        )
}

fn grep(word: &str) -> serde_json::Value {
    json!({ "command": format!("grep -c {word} todo.txt") })
}

/// Four goals that end in the four ways in which goals end.
fn goals() -> [Goal; 4] {
    let goal = |id: &str, title: &str, prompt: &str| Goal {
        id: id.to_owned(),
        title: title.to_owned(),
        prompt: prompt.to_owned(),
        origin: "cli".to_owned(),
        personality_id: "builder".to_owned(),
        acceptance: None,
        attempts: 2,
    };
    [
        Goal {
            acceptance: Some(has_to("it has to name the version", "1.2.0")),
            ..goal("G-1", "changelog", "Write the line for the changelog.")
        },
        Goal {
            acceptance: Some(has_to("it has to be a name", "Release")),
            attempts: 1,
            ..goal("G-2", "name", "Find a name for the release.")
        },
        goal("G-3", "translation", "Translate the notes."),
        goal("G-4", "announcement", "Announce the release."),
    ]
}

fn has_to(description: &str, contain: &str) -> AcceptanceSpec {
    let check = AcceptanceCheck {
        id: "text".to_owned(),
        description: description.to_owned(),
        command: Some(contain.to_owned()),
    };
    AcceptanceSpec { checks: vec![check], rubric: Vec::new(), threshold: 1.0 }
}
