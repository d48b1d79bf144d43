//! A service in another language, written by the contract alone.
#![cfg(feature = "nats")]

mod support;

use std::process::{Child, Command};
use std::time::Duration;

use hooks_fleet::note;
use hooks_runtime::{Gate, HookRegistry};
use support::nats::{Server, file, has};
use support::*;

struct Python(Child);

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// L37: a handler in Python keeps the laws of its point.
#[tokio::test]
async fn l37_a_service_in_python_serves_a_gate() {
    if !has("python3") {
        eprintln!("LEFT OUT: there is no python3 here");
        return;
    }
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let quick = options("agent").presence(Duration::from_millis(200), Duration::from_millis(700));
    let agent = server.fleet(quick).await;
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "no_rm");
    let sharing = share.start().await.unwrap();
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "absent");
    let start = || {
        let mut python = Command::new("python3");
        python.arg(file("services/policy.py")).arg("127.0.0.1").arg(server.port.to_string());
        Python(python.spawn().unwrap())
    };
    let python = start();
    sharing.wait_for("policy").await;
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    let (gate, report) = hooks.fire_gating_reported::<Running>(command("rm -r notes")).await;
    let Gate::Rejected(rejection) = gate.unwrap() else { panic!("it passed") };
    assert_eq!(rejection.reason().to_string(), "nothing is deleted here, says Python");
    let process = report.handler("no_rm").unwrap().note(note::PROCESS).unwrap();
    assert!(process.starts_with("py"), "{report}");
    // Killed, it is absent, and the gate is closed; started again, it is asked again.
    drop(python);
    while remote(hooks.fire_gating::<Running>(command("ls")).await).as_str() != "absent" {}
    sharing.wait_for_absence_of("policy").await;
    let _python = start();
    sharing.wait_for("policy").await;
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}

/// L37: requests that cannot be read are refused, and do not end the service.
#[tokio::test]
async fn l37_the_service_in_python_outlives_hostile_requests() {
    if !has("python3") {
        eprintln!("LEFT OUT: there is no python3 here");
        return;
    }
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "no_rm");
    let sharing = share.start().await.unwrap();
    let mut python = Command::new("python3");
    python.arg(file("services/policy.py")).arg("127.0.0.1").arg(server.port.to_string());
    let _python = Python(python.spawn().unwrap());
    sharing.wait_for("policy").await;
    let stranger = async_nats::connect(format!("nats://127.0.0.1:{}", server.port)).await.unwrap();
    let subject = "hooks.req.policy.running.no_rm.running-1";
    stranger.publish(subject, "{}".into()).await.unwrap();
    let bodies = [
        String::new(),
        "{}".to_owned(),
        "[".repeat(100_000),
        r#"{"call": "c", "attempt": 1, "payload": {}}"#.to_owned(),
        r#"{"call": "c", "attempt": 1, "payload": {"line": 7}}"#.to_owned(),
        r#"{"call": "c", "attempt": "x"}"#.to_owned(),
    ];
    for body in bodies {
        let reply = stranger.request(subject, body.into()).await.unwrap();
        let reply = String::from_utf8(reply.payload.to_vec()).unwrap();
        assert!(reply.contains(r#""why": "malformed""#), "{reply}");
    }
    let fired = hooks.fire_gating::<Running>(command("rm x")).await;
    assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
}
