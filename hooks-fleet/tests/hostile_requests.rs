//! Requests that forge, replay or contradict, and processes that serve under stress.

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use hooks_fleet::carrier::{Carrier, CarrierError, Message};
use hooks_fleet::wire::subject::Route;
use hooks_fleet::wire::{Announcement, RefusalReason, Reply, ReplyOutcome, Request, cancellation};
use hooks_fleet::{Fleet, FleetOptions, Incoming, LocalNetwork, RemoteFailure, Serving};
use hooks_runtime::{Gate, HookContext, HookRegistry, Judgement, Verdict, capturing, on};
use support::tamper::Tamper;
use support::*;
use tokio::sync::{Semaphore, mpsc, oneshot};

struct Ended(mpsc::UnboundedSender<u32>, u32);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

fn request(announcement: &Announcement, handler: &str) -> Request {
    Request {
        v: 1,
        call: "forged-1".into(),
        attempt: 1,
        service: announcement.service.clone(),
        handler: handler.into(),
        point: "running".into(),
        model: "gating".into(),
        schema: announcement.points["running"].schema.clone(),
        budget_ms: 5_000,
        depth: 0,
        payload: serde_json::json!({"line": "ls"}),
        traceparent: None,
        tracestate: None,
        values: std::collections::BTreeMap::new(),
        merged: serde_json::Value::Null,
    }
}

fn route(request: &Request) -> Route {
    Route {
        service: request.service.clone(),
        point: request.point.clone(),
        handler: request.handler.clone(),
        schema: request.schema.clone(),
    }
}

async fn send(network: &LocalNetwork, body: Vec<u8>, route: &Route) -> Result<Reply, CarrierError> {
    let message = Message { headers: Vec::new(), body };
    let reply = network.request(route, message, Duration::from_mins(1)).await?;
    Ok(serde_json::from_slice(&reply.body).unwrap())
}

async fn ask(network: &LocalNetwork, request: &Request) -> Result<Reply, CarrierError> {
    send(network, serde_json::to_vec(request).unwrap(), &route(request)).await
}

fn refusal(reply: Result<Reply, CarrierError>) -> RefusalReason {
    match reply.unwrap().outcome {
        ReplyOutcome::Refused { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

async fn passing(network: &LocalNetwork) -> Serving {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    serve_running(network, "policy", &hooks).await
}

/// L37: whatever a request says, it is answered, and nothing runs that should not.
#[tokio::test]
async fn l37_hostile_requests_are_refused() {
    type Forgery = fn(&mut serde_json::Value);
    let network = LocalNetwork::new();
    let serving = passing(&network).await;
    let honest = request(serving.announcement(), "rules");
    let refusals: [(RefusalReason, Forgery); 14] = [
        (RefusalReason::Malformed, |body| body["budget_ms"] = (-1).into()),
        (RefusalReason::Malformed, |body| body["budget_ms"] = 1e300.into()),
        (RefusalReason::Malformed, |body| body["attempt"] = u64::MAX.into()),
        (RefusalReason::Malformed, |body| body["depth"] = (-1).into()),
        (RefusalReason::Malformed, |body| body["extra"] = 1.into()),
        (RefusalReason::Malformed, |body| body["call"] = 1.into()),
        (RefusalReason::Malformed, |body| body["v"] = 2.into()),
        (RefusalReason::Malformed, |body| body["model"] = "void".into()),
        (RefusalReason::Malformed, |body| *body = serde_json::json!([1])),
        (RefusalReason::TooDeep, |body| body["depth"] = u32::MAX.into()),
        (RefusalReason::Expired, |body| body["budget_ms"] = 0.into()),
        (RefusalReason::Incompatible, |body| body["schema"] = "0".into()),
        (RefusalReason::Incompatible, |body| body["payload"]["line"] = 1.into()),
        (RefusalReason::Incompatible, |body| body["payload"]["lines"] = 1.into()),
    ];
    for (expected, forge) in refusals {
        let mut body = serde_json::to_value(&honest).unwrap();
        forge(&mut body);
        let reply = send(&network, serde_json::to_vec(&body).unwrap(), &route(&honest)).await;
        assert_eq!(refusal(reply), expected, "{body}");
    }
    let text = serde_json::to_string(&honest).unwrap();
    let deep =
        text.replace(r#"{"line":"ls"}"#, &format!("{}1{}", "[".repeat(9_999), "]".repeat(9_999)));
    let twice = text.replacen(r#""attempt":1"#, r#""attempt":2,"attempt":1"#, 1);
    let same_key = text.replace(r#"{"line":"ls"}"#, r#"{"line":"rm","line":"ls"}"#);
    for body in [b"\xff\xfe".to_vec(), Vec::new(), deep.into(), twice.into(), same_key.into()] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        let reply = send(&network, body, &route(&honest)).await;
        assert_eq!(refusal(reply), RefusalReason::Malformed, "{shown}");
    }
    // The longest time there is.
    let patient = Request { budget_ms: u64::MAX, ..honest };
    let reply = ask(&network, &patient).await.unwrap();
    assert!(matches!(reply.outcome, ReplyOutcome::Answer { .. }), "{reply:?}");
}

/// L37: attempts of one call are told apart: one that is late, replayed or cancelled ends no
/// other.
#[tokio::test]
async fn l37_an_attempt_ends_no_other_one_of_its_call() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let (ended, mut has_ended) = mpsc::unbounded_channel();
    let rules = on::<Running>().name("rules").handler(capturing(
        async move |_: &RunningPayload, cx: &HookContext| {
            let attempt = cx.get::<Incoming>().unwrap().attempt();
            let _ended = Ended(ended.clone(), attempt);
            let (go_on, goes_on) = oneshot::channel::<()>();
            began.send(go_on).unwrap();
            let _ = goes_on.await;
            Verdict::<RunningPayload>::Pass
        },
    ));
    hooks.register(rules).unwrap();
    let serving = serve_running(&network, "policy", &hooks).await;
    let first = request(serving.announcement(), "rules");
    let second = Request { attempt: 2, ..first.clone() };
    let start = |request: &Request| {
        let (network, request) = (network.clone(), request.clone());
        tokio::spawn(async move { ask(&network, &request).await })
    };
    let first_asked = start(&first);
    let _first = has_begun.recv().await.unwrap();
    let second_asked = start(&second);
    let go_on = has_begun.recv().await.unwrap();
    // The same attempt again does not run.
    assert_eq!(refusal(ask(&network, &first).await), RefusalReason::Malformed);
    network.cancel("policy", &cancellation("forged-1", 1));
    assert_eq!(has_ended.recv().await, Some(1));
    let ReplyOutcome::Failed { cause, .. } = first_asked.await.unwrap().unwrap().outcome else {
        panic!("it was answered")
    };
    assert_eq!(cause, "cancelled");
    go_on.send(()).unwrap();
    let reply = second_asked.await.unwrap().unwrap();
    assert!(matches!(reply.outcome, ReplyOutcome::Answer { .. }), "{reply:?}");
    // Nothing is left of either: the same attempt may come again.
    let again = start(&second);
    has_begun.recv().await.unwrap().send(()).unwrap();
    assert!(matches!(again.await.unwrap().unwrap().outcome, ReplyOutcome::Answer { .. }));
}

/// Two registries that one process serves are two of the service, and the announcement of one
/// does not take that of the other out of the order.
#[tokio::test(start_paused = true)]
async fn l37_one_process_serves_twice() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let sharing = {
        let fleet = Fleet::local(&network, options("agent")).unwrap();
        let share = fleet.share::<Running>(&hooks).and::<Printed>().from("policy");
        share.start().await.unwrap()
    };
    let fleet = Fleet::local(&network, options("policy")).unwrap();
    let (gate, void) = (HookRegistry::new(), HookRegistry::new());
    gate.register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    void.register(on::<Printed>().name("count").handler(|_: &PrintedPayload| ())).unwrap();
    let first = fleet.serve::<Running>(&gate).start().await.unwrap();
    let second = fleet.serve::<Printed>(&void).start().await.unwrap();
    assert_eq!(first.announcement().instance, fleet.instance());
    sharing.wait_for_processes("policy", 2).await;
    for _ in 0..9 {
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(names(&hooks.handlers()), ["policy/count", "policy/rules"]);
        assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    }
    hooks.fire_void::<Printed>(&PrintedPayload { page: 1 }).await.unwrap();
    assert!(second.leave(Duration::from_secs(9)).await);
    sharing.wait_for_processes("policy", 1).await;
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
}

/// An announcement that is under way when its process leaves does not bring it back.
#[tokio::test(start_paused = true)]
async fn l37_who_has_left_is_not_announced_again() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let sharing = share_running(&network, "policy", &hooks).await;
    let announcements = Arc::new(Semaphore::new(1));
    let mut carrier = Tamper::new(&network);
    carrier.announcements = Some(Arc::clone(&announcements));
    let fleet = Fleet::over(carrier, options("policy")).unwrap();
    let rules = HookRegistry::new();
    rules
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    let serving = fleet.serve::<Running>(&rules).start().await.unwrap();
    sharing.wait_for("policy").await;
    // Its second announcement has begun when it leaves, and ends a second later.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let leaving = tokio::spawn(serving.leave(Duration::from_secs(9)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    announcements.add_permits(9);
    assert!(leaving.await.unwrap());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!sharing.is_present("policy"));
    assert_eq!(hooks.handlers().len(), 0);
}

/// A process does not leave before the answers of the calls under way are sent.
#[tokio::test(start_paused = true)]
async fn l37_leaving_waits_for_the_answers_too() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let slow = on::<Running>().name("rules").handler(capturing(async move |_: &RunningPayload| {
        began.send(()).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        Verdict::<RunningPayload>::Pass
    }));
    rules.register(slow).unwrap();
    let held = Arc::new(Semaphore::new(0));
    let carrier = Tamper::new(&network).holding_replies(&held);
    let fleet = Fleet::over(carrier, options("policy")).unwrap();
    let serving = fleet.serve::<Running>(&rules).start().await.unwrap();
    let asked = request(serving.announcement(), "rules");
    let asking = tokio::spawn(async move { ask(&network, &asked).await });
    has_begun.recv().await.unwrap();
    let leaving = tokio::spawn(serving.leave(Duration::from_mins(1)));
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert!(!leaving.is_finished());
    held.add_permits(1);
    assert!(leaving.await.unwrap());
    assert!(matches!(asking.await.unwrap().unwrap().outcome, ReplyOutcome::Answer { .. }));
}

/// L37: A fires at B, which fires at A, and so on, each with room for one call: it ends at once,
/// with a failure, and the gate is closed.
#[tokio::test(start_paused = true)]
async fn l37_fires_that_go_in_circles_end() {
    for room in [1, 64] {
        let network = LocalNetwork::new();
        let join = async |service: &str, other: &str| {
            let hooks = HookRegistry::new();
            let options = options(service).max_in_flight(room);
            let fleet = Fleet::local(&network, options).unwrap();
            let inner = on::<Running>().name(service.to_owned()).handler(capturing(
                async move |it: &RunningPayload, cx: &HookContext| {
                    let gate = cx.hooks().fire_gating::<Running>(command(&it.line)).await?;
                    Ok::<_, hooks_runtime::FireError>(match gate {
                        Gate::Passed(_) => Verdict::<RunningPayload>::Pass,
                        Gate::Rejected(rejection) => Verdict::reject(rejection.to_string()),
                    })
                },
            ));
            // Served is a registry whose handler fires at another one, which shares.
            hooks.register(inner).unwrap();
            let sharing =
                fleet.share::<Running>(&hooks).from(other.to_owned()).start().await.unwrap();
            let serving = fleet.serve::<Running>(&hooks).start().await.unwrap();
            (hooks, sharing, serving)
        };
        let (a, sharing_a, _serving_a) = join("a", "b").await;
        let (_b, sharing_b, _serving_b) = join("b", "a").await;
        sharing_a.wait_for("b").await;
        sharing_b.wait_for("a").await;
        let began = tokio::time::Instant::now();
        a.fire_gating::<Running>(command("ls")).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}

/// L37: the longest times there are overflow nothing.
#[tokio::test(start_paused = true)]
async fn l37_no_time_is_too_long() {
    let network = LocalNetwork::new();
    let longest = |service: &str| -> FleetOptions {
        let options = options(service).timeout(Duration::MAX).max_in_flight(usize::MAX);
        options.presence(Duration::MAX, Duration::MAX).durable::<Stored>()
    };
    let rules = HookRegistry::new();
    let (kept, mut pages) = mpsc::unbounded_channel();
    rules
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    rules
        .register(on::<Stored>().name("keep").handler(move |it: &StoredPayload| {
            kept.send(it.page).unwrap();
        }))
        .unwrap();
    let policy = Fleet::local(&network, longest("policy")).unwrap();
    let serving = policy.serve::<Running>(&rules).and::<Stored>().start().await.unwrap();
    let hooks = HookRegistry::new();
    let agent = Fleet::local(&network, longest("agent")).unwrap();
    let share = agent.share::<Running>(&hooks).and::<Stored>().from("policy");
    let sharing = share.start().await.unwrap();
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    hooks.fire_void::<Stored>(&StoredPayload { page: 7 }).await.unwrap();
    assert_eq!(pages.recv().await, Some(7));
    assert!(serving.leave(Duration::MAX).await);
    sharing.wait_for_absence_of("policy").await;
}

/// L14, L37: a durable handler without a limit has the time of its process, and does not keep
/// all deliveries after it.
#[tokio::test(start_paused = true)]
async fn l14_a_durable_handler_that_hangs_is_ended() {
    let network = LocalNetwork::new();
    let durable = |service: &str| options(service).durable::<Stored>().deliveries(1, []);
    let hangs = HookRegistry::new();
    let (kept, mut pages) = mpsc::unbounded_channel();
    let keep = on::<Stored>().name("keep").handler(capturing(async move |it: &StoredPayload| {
        kept.send(it.page).unwrap();
        if it.page == 0 {
            let _ended = Breaks;
            std::future::pending::<()>().await;
        }
    }));
    hangs.register(keep).unwrap();
    let archive = Fleet::local(&network, durable("archive")).unwrap();
    let serving = archive.serve::<Stored>(&hangs).start().await.unwrap();
    let hooks = HookRegistry::new();
    let agent = Fleet::local(&network, durable("agent")).unwrap();
    let _sharing = agent.share::<Stored>(&hooks).from("archive").start().await.unwrap();
    for page in 0..2 {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
    }
    assert_eq!((pages.recv().await, pages.recv().await), (Some(0), Some(1)));
    assert_eq!(network.dead_letters().len(), 1);
    assert!(network.dead_letters()[0].why.starts_with("timeout: "), "{:?}", network.dead_letters());
    assert!(serving.leave(Duration::from_secs(9)).await);
}

/// Panics when it is dropped.
struct Breaks;

impl Drop for Breaks {
    fn drop(&mut self) {
        panic!("it breaks while it ends");
    }
}

/// L37: durable messages that are forged are dead letters at once, and harm none after them.
#[tokio::test(start_paused = true)]
async fn l37_forged_durable_messages_are_dead_letters() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let (kept, mut pages) = mpsc::unbounded_channel();
    let inner = hooks.clone();
    let keep = on::<Stored>().name("keep").handler(capturing(
        async move |it: &StoredPayload, cx: &HookContext| {
            // A fire in it: nothing is counted beyond its limit.
            let _ = cx.hooks().fire_void::<Printed>(&PrintedPayload { page: it.page }).await;
            kept.send(it.page).unwrap();
        },
    ));
    hooks.register(keep).unwrap();
    let fleet = Fleet::local(&network, options("archive").durable::<Stored>()).unwrap();
    let _sharing =
        fleet.share::<Printed>(&inner).require::<Printed>("press", "count").start().await.unwrap();
    let _serving = fleet.serve::<Stored>(&hooks).start().await.unwrap();
    let honest = serde_json::json!({
        "v": 1, "call": "c", "attempt": 1, "service": "archive", "handler": "keep",
        "point": "stored", "model": "void", "schema": "", "budget_ms": 1, "depth": 0,
        "payload": {"page": 1},
    });
    let forgeries: [fn(&mut serde_json::Value); 5] = [
        |it| it["handler"] = "other".into(),
        |it| it["service"] = "other".into(),
        |it| it["depth"] = u32::MAX.into(),
        |it| it["payload"] = "x".into(),
        |it| *it = serde_json::Value::Null,
    ];
    let route = Route {
        service: "archive".into(),
        point: "stored".into(),
        handler: "keep".into(),
        schema: String::new(),
    };
    let store = async |id: &str, body: &serde_json::Value| {
        let message = Message { headers: Vec::new(), body: serde_json::to_vec(body).unwrap() };
        network.store(&route, id, message, Duration::from_secs(1)).await.unwrap();
    };
    for (id, forge) in forgeries.iter().enumerate() {
        let mut body = honest.clone();
        forge(&mut body);
        store(&id.to_string(), &body).await;
    }
    store("honest", &honest).await;
    assert_eq!(pages.recv().await, Some(1));
    while network.dead_letters().len() < 4 {
        tokio::task::yield_now().await;
    }
    let whys: Vec<_> = network.dead_letters().into_iter().map(|letter| letter.why).collect();
    assert_eq!(whys.len(), 4, "{whys:?}");
    // What does not fit this process may fit one of another version: it is tried to the end.
    tokio::time::sleep(Duration::from_mins(10)).await;
    let last = network.dead_letters().pop().unwrap();
    assert_eq!((network.dead_letters().len(), last.attempts), (5, 5));
    assert!(last.why.starts_with("incompatible: "), "{}", last.why);
}

/// L37: handlers that panic, and break when they are dropped, fail; the process serves on.
#[tokio::test(start_paused = true)]
async fn l37_handlers_that_break_fail_and_the_process_serves_on() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let breaks =
        on::<Running>().name("rules").handler(capturing(async move |it: &RunningPayload| {
            let _breaks = (it.line != "ls").then(|| Breaks);
            if it.line == "wait" {
                std::future::pending::<()>().await;
            }
            Verdict::<RunningPayload>::Pass
        }));
    rules.register(breaks).unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    let hooks = HookRegistry::new();
    let sharing = share_running(&network, "policy", &hooks).await;
    sharing.wait_for("policy").await;
    let fires = (0..240).map(|number| {
        let line = ["panic", "wait", "ls"][number % 3];
        let hooks = &hooks;
        async move { (line, hooks.fire_gating::<Running>(command(line)).await) }
    });
    for (line, fired) in join_all(fires).await {
        match (line, fired) {
            ("ls", Ok(Gate::Passed(_))) => {}
            ("panic" | "wait", Err(error)) => {
                assert!(RemoteFailure::of(&error).is_some(), "{error}");
            }
            (line, came) => panic!("{line}: {came:?}"),
        }
    }
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}
