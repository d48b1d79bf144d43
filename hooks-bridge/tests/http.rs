//! Handlers behind an address, against a server with prepared answers.
#![cfg(feature = "http")]

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::http::Http;
use hooks_bridge::{Bridge, Dialect, Fired, Mode, Outcome};
use serde_json::json;
use support::Scripts;

/// Answers one request with this, and returns the request.
fn server(answer: String) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/gate/", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            let read = stream.read(&mut chunk).unwrap();
            request.extend_from_slice(&chunk[..read]);
            let text = String::from_utf8_lossy(&request);
            let length = text
                .to_lowercase()
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
            if read == 0 || (body.is_some() && body >= length) {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (address, served)
}

fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn post(url: &str, http: Http, mode: Mode) -> Fired {
    let scripts = Scripts::new();
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ {
        "type": "http", "url": url, "timeout": 1,
        "headers": { "x-path": "$PATH", "x-home": "$HOME" }, "allowedEnvVars": ["PATH"],
    } ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text.to_string(), scripts.path());
    let stdin = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let bridge = |plan| Bridge::new(scripts.path(), plan).http(http).mode(mode);
    Fired::fire(Dialect::ClaudeCode, "PreToolUse", stdin, plan, bridge).await
}

#[tokio::test]
async fn an_address_decides_as_a_command_does() {
    let deny = r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
    let (address, served) = server(response("200 OK", deny));
    let http = Http::default().address(&address).unwrap().variable("PATH");
    let fired = post(&format!("{address}tools"), http, Mode::Strict).await;
    assert_eq!(
        (fired.outcome, fired.reason.as_deref()),
        (Outcome::Rejected, Some("no")),
        "{fired:?}"
    );
    let request = served.join().unwrap();
    assert!(request.starts_with("POST /gate/tools "), "{request}");
    assert!(request.contains("\"hook_event_name\":\"PreToolUse\""), "{request}");
    assert!(request.contains(&format!("x-path: {}", std::env::var("PATH").unwrap())), "{request}");
    assert!(request.to_lowercase().contains("x-home: \r\n"), "not allowed, so empty: {request}");
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    let large = "x".repeat((1 << 20) + 8);
    for (answer, outcome) in [
        (response("200 OK", ""), Outcome::None),
        (response("200 OK", "hello"), Outcome::Failed),
        (response("403 Forbidden", "{}"), Outcome::Failed),
        (response("200 OK", &format!("{{\"a\": \"{large}\"}}")), Outcome::Failed),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
                .into(),
            Outcome::Failed,
        ),
        ("nonsense".into(), Outcome::Failed),
    ] {
        let shown: String = answer.chars().take(60).collect();
        let (address, served) = server(answer);
        let http = Http::default().address(&address).unwrap();
        let fired = post(&address, http, Mode::Strict).await;
        assert_eq!(fired.outcome, outcome, "{shown}: {:?}", fired.reason);
        drop(served);
    }
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_asked() {
    let fired = post("http://127.0.0.1:9/gate/", Http::default(), Mode::Strict).await;
    assert_eq!(fired.outcome, Outcome::Failed);
    assert!(fired.reason.unwrap().contains("is not among the addresses that the host allows"));
}

#[tokio::test]
async fn an_address_that_never_answers_is_left_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let http = Http::default().address(&address).unwrap();
    let began = std::time::Instant::now();
    let fired = post(&address, http.clone(), Mode::Strict).await;
    assert!(fired.reason.as_ref().unwrap().contains("no answer within 1s"), "{fired:?}");
    assert!(began.elapsed() < std::time::Duration::from_secs(4));
    // The product goes on then.
    assert_eq!(post(&address, http, Mode::Faithful).await.outcome, Outcome::Passed);
}

/// What keeps an address from answering is said with what to do, and apart from what may have
/// reached it.
#[tokio::test]
async fn why_an_address_does_not_answer_is_said() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let open = TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = open.local_addr().unwrap();
    let cases = [
        (
            format!("http://{free}/gate"),
            "refuses the connection: check the port, and whether a server runs there",
        ),
        (
            format!("https://{tls}/gate"),
            "needs TLS, which this program was built without: write an `http://` address, or have the host name `ureq` with TLS",
        ),
    ];
    for (url, why) in cases {
        let http = Http::default().address(&url).unwrap();
        let fired = post(&url, http, Mode::Strict).await;
        assert_eq!(fired.reason, Some(format!("`gate` failed: `{url}` {why}")));
    }
    let statuses = [
        ("404 Not Found", "a success is expected, with one JSON object or nothing", ": "),
        (
            "302 Found",
            "a redirect, which is not followed: write the address that it leads to",
            ", ",
        ),
    ];
    for (status, why, between) in statuses {
        let (address, served) = server(response(status, ""));
        let fired = post(&address, Http::default().address(&address).unwrap(), Mode::Strict).await;
        let expected =
            format!("`gate` failed: `{address}` answers with status {status}{between}{why}");
        assert_eq!(fired.reason, Some(expected));
        served.join().unwrap();
    }
}
