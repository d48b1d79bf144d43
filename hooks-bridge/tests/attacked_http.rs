//! Servers that are slow, talkative or lead elsewhere, and headers that would say more.
#![cfg(feature = "http")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::http::Http;
use hooks_bridge::{Bridge, Dialect, Fired, Outcome};
use serde_json::{Value, json};

/// A server that does this with each connection, and how many there were.
fn server(answer: impl Fn(&mut TcpStream) + Send + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/gate/", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            answer(&mut stream.unwrap());
        }
    });
    (address, count)
}

async fn fire(address: &str, more: Value, http: Http) -> Fired {
    let mut handler = json!({ "type": "http", "url": address, "timeout": 1 });
    handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ handler ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text.to_string(), "/");
    let stdin = json!({ "tool_name": "Bash", "tool_input": {} });
    let bridge = |plan| Bridge::new("/", plan).http(http);
    Fired::fire(Dialect::ClaudeCode, "PreToolUse", stdin, plan, bridge).await
}

fn allow(address: &str) -> Http {
    Http::default().address(address).unwrap()
}

#[tokio::test]
async fn a_server_that_answers_byte_by_byte_has_its_limit_only() {
    let (address, _) = server(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let began = Instant::now();
    let fired = fire(&address, json!({}), allow(&address)).await;
    assert_eq!(fired.outcome, Outcome::Failed);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(fired.reason.as_deref().unwrap().contains("no answer within 1s"), "{fired:?}");
}

#[tokio::test]
async fn a_server_that_sends_headers_for_ever_has_its_limit_only() {
    let (address, _) = server(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"x: y\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let began = Instant::now();
    assert_eq!(fire(&address, json!({}), allow(&address)).await.outcome, Outcome::Failed);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_is_a_failure() {
    let (elsewhere, asked) = server(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    for status in ["301", "302", "303", "307", "308"] {
        let elsewhere = elsewhere.clone();
        let (address, _) = server(move |stream| {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = write!(
                stream,
                "HTTP/1.1 {status} Moved\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n"
            );
        });
        let fired = fire(&address, json!({}), allow(&address)).await;
        assert_eq!(fired.outcome, Outcome::Failed, "{status}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_variable_does_not_add_headers_and_its_value_is_not_shown() {
    // PATH is set wherever this runs; a header with a line end after it is none.
    let (sender, requests) = mpsc::channel();
    let (address, _) = server(move |stream| {
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap_or(0);
        let _ = sender.send(String::from_utf8_lossy(&request[..read]).into_owned());
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    let more = json!({
        "headers": { "x-token": "$PATH\r\nx-other: 1" }, "allowedEnvVars": ["PATH"]
    });
    let fired = fire(&address, more, allow(&address).variable("PATH")).await;
    assert_eq!(fired.outcome, Outcome::Failed, "{fired:?}");
    let path = std::env::var("PATH").unwrap();
    assert!(!serde_json::to_string(&fired).unwrap().contains(&path), "{fired:?}");
    assert!(requests.try_recv().is_err(), "nothing was sent");
}

#[tokio::test]
async fn a_limit_beyond_the_clock_is_no_panic() {
    let (address, _) = server(|stream| {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    let fired = fire(&address, json!({ "timeout": 1e300 }), allow(&address)).await;
    assert_eq!(fired.outcome, Outcome::None, "{fired:?}");
}
