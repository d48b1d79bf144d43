//! The stream of fires, and pages on sockets.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hooks_inspect::Inspector;
use hooks_runtime::operator::SettingChange;
use hooks_runtime::{HookRegistry, on};
use serde_json::{Value, json};
use support::{Host, Ordered, OrderedPayload, PayingPayload, TOKEN};

/// A client that reads the events of a page.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Asks for the stream; the status line.
    fn open(at: SocketAddr) -> (Self, String) {
        let mut socket = TcpStream::connect(at).expect("it listens");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        write!(socket, "GET /api/fires HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut events = Self(BufReader::new(socket));
        let status = events.line().expect("an answer");
        (events, status)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).expect("it answers in time");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The data of the next event of that name, or `None` at the end.
    fn next(&mut self, name: &str) -> Option<Value> {
        while self.line()? != format!("event: {name}") {}
        let data = self.line()?;
        Some(serde_json::from_str(data.strip_prefix("data: ").expect("data")).expect("JSON"))
    }
}

/// On a thread, since the client blocks.
async fn blocking<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(run).await.expect("it does not panic")
}

async fn open(at: SocketAddr) -> Events {
    blocking(move || {
        let (mut events, status) = Events::open(at);
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert_eq!(events.next("open"), Some(json!({})));
        events
    })
    .await
}

/// Waits until no fire is traced.
async fn untraced(host: &Host) {
    while !host.hooks.operator().traces().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_sees_each_fire_with_its_handlers() {
    let host = Host::new();
    let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert!(host.hooks.operator().traces().is_empty(), "nothing is traced without a page");
    let mut events = open(served.local_addr()).await;
    while host.hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
    let by_glass = host.hooks.operator().disable("ordered:stats/count").by("ops").apply().unwrap();
    assert!(matches!(by_glass.change(), SettingChange::Mode(_)));
    host.order("chair").await;
    let paid = host.hooks.fire_gating::<support::Paying>(PayingPayload { cents: 500 }).await;
    assert!(paid.unwrap().into_result().is_err());
    let (events, fires) = blocking(move || {
        let mut fires = Vec::new();
        while fires.len() < 2 {
            let batch = events.next("fires").expect("it goes on");
            assert_eq!((&batch["missed"], &batch["ended"]), (&json!(0), &Value::Null));
            fires.extend(batch["fires"].as_array().unwrap().clone());
        }
        (events, fires)
    })
    .await;
    let schemas: Value = {
        let app = host.app();
        app.get("/api/schema").await.json()
    };
    let schema = jsonschema::validator_for(&schemas["calls"]["GET api/fires"]["event"]).unwrap();
    let batch = json!({ "fires": fires, "missed": 0, "ended": null });
    let errors: Vec<_> = schema.iter_errors(&batch).map(|it| it.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    assert_eq!((&fires[0]["point"], &fires[0]["outcome"]), (&json!("ordered"), &json!("notified")));
    let rows = fires[0]["handlers"].as_array().unwrap();
    assert_eq!(
        (&rows[0]["handler"], &rows[0]["status"], &rows[0]["text"], &rows[0]["settings"]),
        (
            &json!("ordered:stats/count"),
            &json!("filtered"),
            &json!("not called: disabled"),
            &json!([1])
        )
    );
    assert_eq!(
        (&rows[1]["status"], &rows[1]["text"]),
        (&json!("failed"), &json!("error, fail-open: no address for chair"))
    );
    assert_eq!((&fires[1]["outcome"], &fires[1]["model"]), (&json!("rejected"), &json!("gating")));
    assert_eq!(fires[1]["handlers"][0]["text"], "rejected: too much");
    assert_eq!(fires[1]["handlers"][0]["notes"], json!({ "limit": "100" }));

    drop(events);
    untraced(&host).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_feeds_all_pages_and_more_than_some_are_refused() {
    let host = Host::new();
    let inspector = host.inspector().streams(2);
    let served = inspector.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = served.local_addr();
    let (first, second) = (open(at).await, open(at).await);
    let refused = blocking(move || {
        let (mut events, status) = Events::open(at);
        let mut rest = String::new();
        while !rest.contains("too_many") {
            rest += &events.line().expect("a body");
        }
        status
    });
    assert_eq!(refused.await, "HTTP/1.1 503 Service Unavailable");
    while host.hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(host.hooks.operator().traces().len(), 1);
    host.order("lamp").await;
    for mut events in [first, second] {
        let batch = blocking(move || events.next("fires")).await.unwrap();
        assert_eq!(batch["fires"][0]["point"], "ordered");
    }
    // Both places are free again, and so is the registry.
    untraced(&host).await;
    drop((open(at).await, open(at).await));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_holds_no_place() {
    let host = Host::new();
    let inspector = host.inspector().streams(1);
    let served = inspector.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = served.local_addr();
    for _ in 0..3 {
        let answer = blocking(move || ureq::head(&format!("http://{at}/api/fires")).call()).await;
        assert_eq!(answer.unwrap().status(), 200);
    }
    drop(open(at).await);
    untraced(&host).await;
}

/// More than what is between a host and a page can hold.
const SLOW_FIRES: u64 = 2_600;

/// Many more than a page shows.
const FIRES: u64 = 20_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_passed_over_is_counted() {
    let host = Host::new();
    let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut events = open(served.local_addr()).await;
    while host.hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..FIRES {
        host.order("lamp").await;
    }
    let (seen, missed) = blocking(move || {
        let (mut seen, mut missed) = (0, 0);
        while seen + missed < FIRES {
            let batch = events.next("fires").expect("it goes on");
            seen += batch["fires"].as_array().unwrap().len() as u64;
            missed += batch["missed"].as_u64().unwrap();
        }
        (seen, missed)
    })
    .await;
    assert_eq!(seen + missed, FIRES, "each fire is seen or counted, once");
    assert!(seen > 0 && missed > 0, "{seen} seen, {missed} missed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_slow_holds_nothing_up_and_knows_what_it_missed() {
    // Fires with long texts, so that what is between the two is soon full.
    let hooks = HookRegistry::new();
    for number in 0..8 {
        let handler = on::<Ordered>().name(format!("h{number}"));
        hooks.register(handler.handler(|_: &OrderedPayload| Err("x".repeat(1_000)))).unwrap();
    }
    let served = Inspector::new(&hooks).serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (mut slow, mut quick) = (open(served.local_addr()).await, open(served.local_addr()).await);
    while hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
    let counting = |events: &mut Events| {
        let (mut seen, mut missed) = (0, 0);
        while seen + missed < SLOW_FIRES {
            let batch = events.next("fires").expect("it goes on");
            seen += batch["fires"].as_array().unwrap().len() as u64;
            missed += batch["missed"].as_u64().unwrap();
        }
        (seen, missed)
    };
    let reading = tokio::task::spawn_blocking(move || counting(&mut quick));
    for fire in 0..SLOW_FIRES {
        hooks.fire_void::<Ordered>(&OrderedPayload { item: "lamp".into() }).await.unwrap();
        if fire % 5 == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let (seen, missed) = reading.await.unwrap();
    let (slowly_seen, slowly_missed) = blocking(move || counting(&mut slow)).await;
    assert_eq!((seen + missed, slowly_seen + slowly_missed), (SLOW_FIRES, SLOW_FIRES));
    assert!(slowly_missed > missed, "{slowly_missed} and {missed} missed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_stopped_ends_its_streams() {
    let host = Host::new();
    let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = served.local_addr();
    let mut events = open(at).await;
    served.stop().await;
    let ended = blocking(move || {
        let mut rest = Vec::new();
        events.0.read_to_end(&mut rest).expect("it ends");
    });
    ended.await;
    assert!(TcpStream::connect(at).is_err(), "it listens no more");
    untraced(&host).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_ends_gives_its_streams_an_end() {
    let host = Host::new();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let inspector = host.inspector().ending(async { drop(stopped.await) });
    let served = inspector.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut events = open(served.local_addr()).await;
    drop(stop);
    assert_eq!(blocking(move || events.next("fires")).await, None);
    untraced(&host).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_others_are_refused() {
    let host = Host::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let refused = host.inspector().serve(address.parse().unwrap()).await.unwrap_err();
        let said = refused.to_string();
        assert!(
            said.starts_with(&format!("{address} can be reached from other machines")),
            "{said}"
        );
    }
    let served = host.inspector().allow_remote().serve("0.0.0.0:0".parse().unwrap()).await;
    served.unwrap().stop().await;
    let first = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let taken = host.inspector().serve(first.local_addr()).await.unwrap_err().to_string();
    assert!(taken.starts_with(&format!("cannot listen at {}: ", first.local_addr())), "{taken}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_behind_the_hash_and_nowhere_else() {
    let host = Host::new();
    let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = served.local_addr();
    assert_eq!(served.address(), format!("http://{at}/#token={TOKEN}"));
    assert!(!format!("{served:?}").contains(TOKEN));
    let pages = blocking(move || {
        ["", "api/state", "api/schema", "api/audit"].map(|path| {
            let mut answer = ureq::get(&format!("http://{at}/{path}")).call().unwrap();
            answer.body_mut().read_to_string().unwrap()
        })
    });
    assert!(pages.await.iter().all(|page| !page.contains(TOKEN)));
    let reading = Inspector::new(&host.hooks).serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert_eq!(reading.address(), format!("http://{}/", reading.local_addr()));
    let odd = hooks_inspect::Token::new("odd#&%+/=-letters!").unwrap();
    let odd = host.reading().operator(host.hooks.operator(), odd);
    let odd = odd.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert!(
        odd.address().ends_with("/#token=odd%23%26%25%2B%2F%3D-letters%21"),
        "{}",
        odd.address()
    );
}
