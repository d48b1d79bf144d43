//! The model behind HTTP, against a server that the test starts itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use hooks_examples::agent::{ChatCompletions, Event, line};
use hooks_examples::day;
use hooks_examples::house::House;
use serde_json::{Value, json};

/// What a server was asked: the first line, the authorization, the body.
type Asked = (String, String, Value);

/// A server that gives these answers, one a connection, and then returns what
/// it was asked.
fn server(answers: Vec<(u16, String)>) -> (String, JoinHandle<Vec<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let serving = thread::spawn(move || {
        let mut asked = Vec::new();
        for (status, answer) in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a reader"));
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a line");
                if line.trim().is_empty() {
                    break;
                }
                head.push(line.trim().to_owned());
            }
            let header = |name: &str| {
                head.iter().find_map(|line| {
                    let (key, value) = line.split_once(": ")?;
                    key.eq_ignore_ascii_case(name).then(|| value.to_owned())
                })
            };
            let length = header("content-length").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.expect("a length")];
            reader.read_exact(&mut body).expect("a body");
            let body = serde_json::from_slice(&body).expect("JSON");
            asked.push((head[0].clone(), header("authorization").unwrap_or_default(), body));
            let length = answer.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}");
            write!(stream, "{head}\r\nconnection: close\r\n\r\n{answer}").expect("an answer");
        }
        asked
    });
    (url, serving)
}

fn completion(message: &Value, finish_reason: &str) -> (u16, String) {
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 });
    (200, json!({ "id": "x", "choices": [choice], "usage": usage }).to_string())
}

/// What the agent says to this message, or how its turn fails.
async fn talk(url: &str, message: &str) -> (House, Vec<String>) {
    let model = ChatCompletions::new(url, "small", Some("the-key".to_owned()));
    assert!(!format!("{model:?}").contains("the-key"), "a key is not for logs");
    let house = House::new(Box::new(model), day::date()).expect("a house");
    let (inlet, inbox) = line();
    inlet.write("cli", "desk", message);
    drop(inlet);
    let mut said = Vec::new();
    let note = |record: hooks_examples::agent::Record| {
        said.extend(record.entries.into_iter().filter_map(|entry| match entry.event {
            Event::Said { text, .. } | Event::Failed(text) => Some(text),
            _ => None,
        }));
    };
    house.agent.serve(inbox, note).await;
    (house, said)
}

#[tokio::test]
async fn a_turn_with_tools_speaks_the_chat_completions_shape() {
    let asks = |id: &str, name: &str, arguments: Value| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": id, "type": "function", "function": function })
    };
    let calls = [
        asks("a", "read_file", json!({ "path": "notes.txt" })),
        asks("b", "run_command", json!({ "command": "rm notes.txt" })),
    ];
    let (url, serving) = server(vec![
        completion(
            &json!({ "role": "assistant", "content": null, "tool_calls": calls }),
            "tool_calls",
        ),
        completion(&json!({ "role": "assistant", "content": "It waits for T-7." }), "stop"),
    ]);
    let (house, said) = talk(&url, "What does the release wait for?").await;
    assert_eq!(said, ["What does the release wait for?", "It waits for T-7."]);
    assert_eq!(house.plugins.usage.total().input_tokens, 14);

    let asked = serving.join().expect("a server");
    let (line, key, first) = &asked[0];
    assert_eq!(
        (line.as_str(), key.as_str()),
        ("POST /v1/chat/completions HTTP/1.1", "Bearer the-key")
    );
    assert_eq!(first["model"], "small");
    assert_eq!(
        first["messages"][0],
        json!({
            "role": "system",
            "content": "Today is 2026-03-02.\n\nYou are Builder. You keep the workshop in order.\n\n\
                        Never delete what you did not make.",
        }),
        "the plugins' amendments reach the model"
    );
    assert_eq!(first["tools"][0]["function"]["name"], "read_file");
    assert_eq!(first["tools"][0]["function"]["parameters"]["required"], json!(["path"]));
    let (_, _, second) = &asked[1];
    assert_eq!(
        second["messages"].as_array().expect("messages")[1..],
        [
            json!({ "role": "user", "content": "What does the release wait for?" }),
            json!({ "role": "assistant", "content": "", "tool_calls": calls }),
            json!({ "role": "tool", "tool_call_id": "a", "content": "The release waits for T-7.\n" }),
            json!({
                "role": "tool",
                "tool_call_id": "b",
                "content": "error: `rm` may not be run, only cat, grep, ls, sort",
            }),
        ],
        "also the call that was refused has its result"
    );
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_said() {
    let cases = [
        ((500, "out of memory".to_owned()), "500 Internal Server Error: out of memory"),
        ((200, "<html>".to_owned()), "expected value at line 1 column 1"),
        ((200, json!({ "choices": [] }).to_string()), "the answer has no choices"),
        (
            completion(
                &json!({ "tool_calls": [
                    { "id": "a", "function": { "name": "read_file", "arguments": "{" } }
                ] }),
                "tool_calls",
            ),
            "the arguments of `read_file` are not JSON: EOF while parsing an object at line 1 column 1",
        ),
    ];
    for (answer, problem) in cases {
        let (url, serving) = server(vec![answer]);
        let (_, said) = talk(&url, "hello").await;
        serving.join().expect("a server");
        let expected = format!("the model did not answer: {url}/chat/completions: {problem}");
        let apology = "Something went wrong here, and nothing more was done.";
        assert_eq!(said[1..], [expected.as_str(), apology], "the person is not told the details");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_of_the_turn() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let (_, said) = talk(&format!("http://{free}/v1"), "hello").await;
    assert!(said[1].starts_with("the model did not answer: http://127.0.0.1:"), "{}", said[1]);
}
