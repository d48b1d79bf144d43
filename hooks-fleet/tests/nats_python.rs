//! A service in another language, written by the contract alone.
#![cfg(feature = "nats")]

mod support;

use std::process::{Child, Command};
use std::time::Duration;

use hooks_fleet::RemoteCalls;
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
    let calls = RemoteCalls::new();
    let observed = hooks.with(calls.clone());
    assert!(matches!(observed.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    let Gate::Rejected(rejection) =
        observed.fire_gating::<Running>(command("rm -r notes")).await.unwrap()
    else {
        panic!("it passed")
    };
    assert_eq!(rejection.reason().to_string(), "nothing is deleted here, says Python");
    assert!(calls.take().iter().all(|call| call.instance.as_ref().unwrap().starts_with("py")));
    // Killed, it is absent, and the gate is closed; started again, it is asked again.
    drop(python);
    while remote(hooks.fire_gating::<Running>(command("ls")).await).as_str() != "absent" {}
    sharing.wait_for_absence_of("policy").await;
    let _python = start();
    sharing.wait_for("policy").await;
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}
