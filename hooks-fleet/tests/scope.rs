//! What of a scope travels with a call: traces, and the values that both sides declare.

mod support;

use std::time::Duration;

use hooks_fleet::carrier::Message;
use hooks_fleet::wire::RefusalReason;
use hooks_fleet::{Fleet, FleetOptions, LocalNetwork, RemoteFailure, TraceContext};
use hooks_runtime::{Gate, HookContext, HookRegistry, Judgement, on};
use serde::{Deserialize, Serialize};
use support::tamper::Tamper;
use support::*;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[derive(Debug, Serialize, Deserialize)]
struct Tenant {
    name: String,
}

/// What the serving process may read under the same name.
#[derive(Debug, Serialize, Deserialize)]
struct OtherTenant {
    number: u32,
}

/// A process whose handler says what it finds in its scope.
async fn serve(network: &LocalNetwork, options: FleetOptions, log: &Log) -> hooks_fleet::Serving {
    let hooks = HookRegistry::new();
    let log = log.clone();
    let look = on::<Running>().name("look").guard(move |_: &RunningPayload, cx: &HookContext| {
        let trace = cx.get::<TraceContext>();
        let tenant = cx.get::<Tenant>().map(|tenant| &*tenant.name);
        let state = trace.and_then(TraceContext::tracestate);
        log.push(format!("{:?} {state:?} {tenant:?}", trace.map(TraceContext::traceparent)));
        Judgement::Pass
    });
    hooks.register(look).unwrap();
    let fleet = Fleet::local(network, options).unwrap();
    fleet.serve::<Running>(&hooks).start().await.unwrap()
}

fn trace() -> TraceContext {
    TraceContext::new(PARENT).unwrap().with_state("vendor=1").unwrap()
}

/// L37: a handler elsewhere finds in its context what the fire has in its scope, where both
/// sides have declared it, and traces without that.
#[tokio::test]
async fn l37_values_of_a_scope_travel() {
    for (declared_here, declared_there) in
        [(true, true), (true, false), (false, true), (false, false)]
    {
        let with = |options: FleetOptions, declared| {
            if declared { options.value::<Tenant>("tenant") } else { options }
        };
        let (network, log) = (LocalNetwork::new(), Log::default());
        let _serving = serve(&network, with(options("policy"), declared_there), &log).await;
        let hooks = HookRegistry::new();
        let carrier = Tamper::new(&network).request(|message: &mut Message| {
            assert_eq!(message.header("traceparent"), Some(PARENT));
            assert_eq!(message.header("tracestate"), Some("vendor=1"));
        });
        let fleet = Fleet::over(carrier, with(options("agent"), declared_here)).unwrap();
        let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
        let scoped = hooks.with(trace()).with(Tenant { name: "north".into() });
        let fired = scoped.fire_gating::<Running>(command("ls")).await;
        assert!(matches!(fired, Ok(Gate::Passed(_))), "{fired:?}");
        let tenant = (declared_here && declared_there).then_some("north");
        assert_eq!(log.take(), [format!("{:?} {:?} {tenant:?}", Some(PARENT), Some("vendor=1"))]);
    }
    // Where the scope has none, nothing travels.
    let (network, log) = (LocalNetwork::new(), Log::default());
    let _serving = serve(&network, options("policy").value::<Tenant>("tenant"), &log).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    assert!(hooks.fire_gating::<Running>(command("ls")).await.is_ok());
    assert_eq!(log.take(), ["None None None"]);
}

/// L37: a value that the serving process cannot read is refused, and nothing runs.
#[tokio::test]
async fn l37_a_value_that_does_not_fit_is_refused() {
    let (network, log) = (LocalNetwork::new(), Log::default());
    let _serving = serve(&network, options("policy").value::<OtherTenant>("tenant"), &log).await;
    let hooks = HookRegistry::new();
    let declared = options("agent").value::<Tenant>("tenant");
    let fleet = Fleet::local(&network, declared).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let scoped = hooks.with(Tenant { name: "north".into() });
    let failure = remote(scoped.fire_gating::<Running>(command("ls")).await);
    let RemoteFailure::Refused { why, message, .. } = failure else { panic!("{failure}") };
    assert_eq!(why, RefusalReason::Malformed);
    assert_eq!(message, "the value `tenant` of the scope does not fit: missing field `number`");
    assert_eq!(log.take(), [""; 0]);
}

/// L37: nor one that names a key twice, of which another reader would take the other one.
#[tokio::test]
async fn l37_values_name_no_key_twice() {
    for forged in
        [r#"{"tenant":{"name":"south"},"tenant":"#, r#"{"tenant":{"name":"south","name":"#]
    {
        let (network, log) = (LocalNetwork::new(), Log::default());
        let _serving = serve(&network, options("policy").value::<Tenant>("tenant"), &log).await;
        let honest = if forged.ends_with(r#""tenant":"#) {
            r#"{"tenant":"#
        } else {
            r#"{"tenant":{"name":"#
        };
        let carrier = Tamper::new(&network).request(move |message: &mut Message| {
            let body = String::from_utf8(message.body.clone()).unwrap();
            message.body = body.replacen(honest, forged, 1).into_bytes();
        });
        let hooks = HookRegistry::new();
        let declared = options("agent").value::<Tenant>("tenant");
        let fleet = Fleet::over(carrier, declared).unwrap();
        let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
        let scoped = hooks.with(Tenant { name: "north".into() });
        let failure = remote(scoped.fire_gating::<Running>(command("ls")).await);
        // What cannot be read names no call that could be answered.
        assert_eq!(failure.as_str(), "bad_reply");
        assert_eq!(log.take(), [""; 0]);
    }
}

/// L37: neither is a trace that is none, nor a header that says something else.
#[tokio::test]
async fn l37_a_forged_trace_is_refused() {
    type Forge = fn(&mut Message);
    let in_body: Forge = |message| {
        let body = String::from_utf8(message.body.clone()).unwrap();
        message.body = body.replace(PARENT, "00-0-0-0").into_bytes();
        message.headers.clear();
    };
    let in_header: Forge = |message| {
        let header = message.headers.iter_mut().find(|(name, _)| name == "traceparent").unwrap();
        header.1 = PARENT.replace("4b", "5b");
    };
    let expected = [
        "`traceparent` is not as W3C Trace Context has it: its parts are 2, 32, 16 and 2 small \
         hexadecimal digits",
        // What contradicts itself names no call that could be answered.
        "it answers another call",
    ];
    for (forge, expected) in [in_body, in_header].into_iter().zip(expected) {
        let (network, log) = (LocalNetwork::new(), Log::default());
        let _serving = serve(&network, options("policy"), &log).await;
        let hooks = HookRegistry::new();
        let fleet = Fleet::over(Tamper::new(&network).request(forge), options("agent")).unwrap();
        let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
        let failure = remote(hooks.with(trace()).fire_gating::<Running>(command("ls")).await);
        let said = match failure {
            RemoteFailure::Refused { why: RefusalReason::Malformed, message, .. } => message,
            RemoteFailure::BadReply { problem, .. } => problem,
            other => panic!("{other}"),
        };
        assert_eq!(said, expected);
        assert_eq!(log.take(), [""; 0]);
    }
}

/// What is no trace context is not made.
#[test]
fn trace_contexts_are_as_w3c_has_them() {
    let error = |text: &str| TraceContext::new(text).unwrap_err().to_string();
    let prefix = "`traceparent` is not as W3C Trace Context has it: ";
    for (text, problem) in [
        ("", "it has fewer than four parts"),
        ("00-00", "it has fewer than four parts"),
        (
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "its parts are 2, 32, 16 and 2 small hexadecimal digits",
        ),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "there is no version ff"),
        (
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "a trace and a span are not zero",
        ),
        (
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "version 00 ends with the flags",
        ),
        (
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\r\nHook-Point: x",
            "it has characters that are not printable, or too many",
        ),
    ] {
        assert_eq!(error(text), format!("{prefix}{problem}"));
    }
    let later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
    assert_eq!(TraceContext::new(later).unwrap().to_string(), later);
    let state = |text: &str| TraceContext::new(PARENT).unwrap().with_state(text).is_ok();
    assert!(state("a=1,b=2") && !state("a=1\r\nHook-Point: x") && !state(&"x".repeat(513)));
}

/// L35, L37: a shorter limit of the operator is the time that travels.
#[tokio::test(start_paused = true)]
async fn l35_the_limit_of_an_operator_travels() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let waits = async |_: &RunningPayload| {
        std::future::pending::<()>().await;
        Judgement::Pass
    };
    let patient = on::<Running>().name("waits").timeout(Duration::from_mins(1));
    remote_hooks.register(patient.guard(waits)).unwrap();
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let budgets = Log::default();
    let sent = budgets.clone();
    let carrier = Tamper::new(&network).request(move |message: &mut Message| {
        sent.push(message.header("Hook-Timeout-Ms").unwrap());
    });
    let fleet = Fleet::over(carrier, options("agent").repeat_in_headers()).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let operator = hooks.operator();
    operator.time_limit("running:policy/waits", Duration::from_secs(2)).apply().unwrap();
    let began = tokio::time::Instant::now();
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    // A tenth of the time is kept for the way back, so that it is the call that says why.
    assert_eq!(budgets.take(), ["1800"]);
    assert_eq!(began.elapsed(), Duration::from_millis(1_800));
    assert!(["timed_out", "failed"].contains(&failure.as_str()), "{failure}");
}
