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
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::Limits;
use hooks_bridge::{Bridge, Dialect, Fired, Outcome};
use hooks_runtime::HookRegistry;
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

/// One that attends to many connections at once.
fn busy_server(answer: impl Fn(TcpStream) + Clone + Send + 'static) -> (String, Arc<AtomicUsize>) {
    server(move |stream| {
        let (answer, stream) = (answer.clone(), stream.try_clone().unwrap());
        std::thread::spawn(move || answer(stream));
    })
}

async fn fire(address: &str, more: Value, http: Http) -> Fired {
    fire_within(address, more, http, Limits::default()).await
}

async fn fire_within(address: &str, more: Value, http: Http, limits: Limits) -> Fired {
    let mut handler = json!({ "type": "http", "url": address, "timeout": 1 });
    handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ handler ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text.to_string(), "/");
    let stdin = json!({ "tool_name": "Bash", "tool_input": {} });
    let bridge = |plan| Bridge::new("/", plan).http(http).limits(limits);
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

const EMPTY: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// A registry with one handler at this address, which has a minute, one at a time.
fn one_at_a_time(address: &str) -> HookRegistry {
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [
        { "type": "http", "url": address, "timeout": 60 } ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text.to_string(), "/");
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", plan).http(allow(address)).limits(limits);
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
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

#[tokio::test]
async fn only_so_many_requests_are_under_way_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&now), Arc::clone(&most));
    let (address, asked) = busy_server(move |mut stream| {
        let under_way = counted.fetch_add(1, Ordering::SeqCst) + 1;
        highest.fetch_max(under_way, Ordering::SeqCst);
        let _ = stream.read(&mut [0; 4096]);
        // Long enough that those which are not held back would meet.
        std::thread::sleep(Duration::from_millis(30));
        counted.fetch_sub(1, Ordering::SeqCst);
        let _ = stream.write_all(EMPTY);
    });
    let hooks = one_at_a_time(&address);
    let fires = (0..6).map(|_| {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<UsingTool>(call()).await.unwrap() })
    });
    for fire in fires.collect::<Vec<_>>() {
        assert!(fire.await.unwrap().into_result().is_ok());
    }
    assert_eq!((asked.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (6, 1));
}

#[tokio::test]
async fn one_that_waits_too_long_for_its_turn_was_never_sent() {
    let (address, asked) = busy_server(|mut stream| {
        // Until the other end gives up.
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    });
    let limits =
        Limits { concurrent: 1, timeout: Some(Duration::from_millis(300)), ..Limits::default() };
    let both = json!({ "hooks": { "PreToolUse": [ { "hooks": [
        { "type": "http", "url": address }, { "type": "http", "url": address } ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &both.to_string(), "/");
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", plan).http(allow(&address)).limits(limits);
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let fires = (hooks.fire_gating::<UsingTool>(call()), hooks.fire_gating::<UsingTool>(call()));
    let (one, other) = tokio::join!(fires.0, fires.1);
    let said = format!("{} {}", one.unwrap_err(), other.unwrap_err());
    assert!(said.contains("no answer within 300ms"), "{said}");
    assert!(said.contains("not started within 300ms"), "{said}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// L25: a dropped fire keeps its place no longer than its limit.
#[tokio::test]
async fn l25_a_dropped_fire_gives_its_place_back_at_its_limit() {
    let (sender, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let (address, asked) = busy_server(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = sender.send(());
        // The first is never answered.
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    });
    let (address, handler) =
        (address.clone(), json!({ "type": "http", "url": address, "timeout": 1 }));
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ handler ] } ] } });
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text.to_string(), "/");
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", plan).http(allow(&address)).limits(limits);
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let first = tokio::spawn({
        let hooks = hooks.clone();
        async move { drop(hooks.fire_gating::<UsingTool>(call()).await) }
    });
    begun.recv().await.unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    // Those that come after it are asked as soon as it is over.
    while asked.load(Ordering::SeqCst) < 2 {
        drop(hooks.fire_gating::<UsingTool>(call()).await);
    }
}

/// L25: a dropped fire is not read to its end.
#[tokio::test]
async fn l25_a_dropped_fire_ends_a_request_that_trickles() {
    let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let (ended, mut has_ended) = tokio::sync::mpsc::unbounded_channel();
    let (address, _) = busy_server(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            let _ = begun.send(());
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = ended.send(());
    });
    let hooks = one_at_a_time(&address);
    let fire = tokio::spawn(async move { drop(hooks.fire_gating::<UsingTool>(call()).await) });
    has_begun.recv().await.unwrap();
    fire.abort();
    // Its limit is a minute.
    let ended = tokio::time::timeout(Duration::from_secs(20), has_ended.recv()).await;
    assert_eq!(ended.ok().flatten(), Some(()));
}

#[tokio::test]
async fn a_server_that_closes_early_or_sends_too_much_is_a_failure() {
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{{", 10 << 20);
    for (answer, filler, said) in [
        ("", 0, "does not answer"),
        ("HTTP/1.1 200 OK\r\n", 0, "does not answer"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", 0, "broke off"),
        (long.as_str(), 10 << 20, "wrote more than 1048576 bytes"),
        (
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{",
            10 << 20,
            "wrote more than 1048576 bytes",
        ),
    ] {
        let answer = answer.to_owned();
        let (address, _) = busy_server(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.write_all(&vec![b' '; filler]);
            let _ = stream.shutdown(std::net::Shutdown::Both);
        });
        let fired = fire(&address, json!({ "timeout": 20 }), allow(&address)).await;
        assert_eq!(fired.outcome, Outcome::Failed, "{said}");
        assert!(fired.reason.as_deref().unwrap().contains(said), "{said}: {fired:?}");
    }
}

#[tokio::test]
async fn the_operators_limit_is_that_of_requests_too() {
    let (address, _) =
        busy_server(|mut stream| while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {});
    let limits = Limits { timeout: Some(Duration::from_millis(200)), ..Limits::default() };
    let fired = fire_within(&address, json!({ "timeout": 60 }), allow(&address), limits).await;
    assert!(fired.reason.as_deref().unwrap().contains("no answer within 200ms"), "{fired:?}");
}
