//! What a call of a remote gating handler costs, beside a bare request to the same server, in
//! one run; and how handlers that wait scale with the processes that serve them.
//!
//! ```sh
//! cargo bench -p hooks-fleet --bench remote
//! ```

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::join_all;
use hooks_fleet::nats::NatsOptions;
use hooks_fleet::{Fleet, FleetOptions};
use hooks_runtime::{HookRegistry, Judgement, hook_points, on};

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn points)]

    /// Before a command is run.
    pub gating Running { line: String }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::var("NATS_SERVER").unwrap_or_else(|_| "/usr/sbin/nats-server".to_owned());
    let folder = tempfile::tempdir()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut nats = Command::new(path);
    nats.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream", "--store_dir"]);
    let mut server = match nats.arg(folder.path()).stderr(Stdio::null()).spawn() {
        Ok(server) => server,
        Err(error) => {
            println!("LEFT OUT: there is no nats-server here: {error}");
            return Ok(());
        }
    };
    let url = format!("nats://127.0.0.1:{port}");
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let measured = measure(&url).await;
    server.kill()?;
    server.wait()?;
    measured
}

async fn measure(url: &str) -> Result<(), Box<dyn Error>> {
    let echo = async_nats::connect(url).await?;
    let mut requests = echo.subscribe("echo").await?;
    echo.flush().await?;
    tokio::spawn(async move {
        while let Some(message) = requests.next().await {
            let reply = message.reply.expect("it is a request");
            echo.publish(reply, message.payload).await.expect("it is sent");
        }
    });
    let client = async_nats::connect(url).await?;
    let (hooks, serving) = (HookRegistry::new(), serve(url, None, 1).await?);
    let agent = join(url, "agent").await?;
    let sharing = agent.share::<Running>(&hooks).from("policy").start().await?;
    sharing.wait_for("policy").await;
    let body = r#"{"line":"ls -l /srv/notes"}"#;
    let bare = async || {
        client.request("echo", body.into()).await.expect("it is answered");
    };
    let gate = async || {
        let command = RunningPayload { line: "ls -l /srv/notes".to_owned() };
        let _ = hooks.fire_gating::<Running>(command).await.expect("it is answered");
    };
    // Turn by turn, so that both see the same machine.
    let (mut of_bare, mut of_gate) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        timed(&bare, 250, &mut of_bare).await;
        timed(&gate, 250, &mut of_gate).await;
    }
    let [bare, gate] = [&mut *of_bare, &mut *of_gate].map(summary);
    println!("                         p50        p99      per second");
    println!("bare request       {:>9.1?}  {:>9.1?}  {:>9.0}", bare.0, bare.1, bare.2);
    println!("remote gate        {:>9.1?}  {:>9.1?}  {:>9.0}", gate.0, gate.1, gate.2);
    println!(
        "ratio of p50: {:.2} (goal: at most 1.3)",
        gate.0.as_secs_f64() / bare.0.as_secs_f64()
    );
    sharing.stop();
    for process in serving {
        process.leave(Duration::from_secs(5)).await;
    }

    println!("\nhandlers that wait 5 ms, 8 calls at once a process, 64 fires under way");
    println!("processes        p50   per second");
    for processes in [1, 2, 4, 8] {
        let (hooks, wait) = (HookRegistry::new(), Some(Duration::from_millis(5)));
        let serving = serve(url, wait, processes).await?;
        let agent = join(url, "agent").await?;
        let sharing = agent.share::<Running>(&hooks).from("policy").start().await?;
        sharing.wait_for_processes("policy", processes).await;
        let began = Instant::now();
        let fires = (0..64).map(|_| async {
            let mut times = Vec::new();
            for _ in 0..20 {
                let began = Instant::now();
                let command = RunningPayload { line: "ls".to_owned() };
                // What is refused as overloaded is fired again: a caller would do so.
                while hooks
                    .fire_gating::<Running>(RunningPayload { ..command.clone() })
                    .await
                    .is_err()
                {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                times.push(began.elapsed());
            }
            times
        });
        let mut times: Vec<_> = join_all(fires).await.into_iter().flatten().collect();
        let total = began.elapsed();
        times.sort_unstable();
        let rate = f64::from(u32::try_from(times.len())?) / total.as_secs_f64();
        println!("{processes:>9}  {:>9.1?}  {rate:>11.0}", times[times.len() / 2]);
        sharing.stop();
        for process in serving {
            process.leave(Duration::from_secs(5)).await;
        }
    }
    Ok(())
}

async fn join(url: &str, service: &str) -> Result<Fleet, Box<dyn Error>> {
    let options = FleetOptions::new(service, points()).max_in_flight(if service == "policy" {
        8
    } else {
        256
    });
    Ok(Fleet::connect(NatsOptions::new(url), options).await?)
}

/// That many processes, each with a connection of its own.
async fn serve(
    url: &str,
    wait: Option<Duration>,
    processes: usize,
) -> Result<Vec<hooks_fleet::Serving>, Box<dyn Error>> {
    let mut serving = Vec::new();
    for _ in 0..processes {
        let hooks = HookRegistry::new();
        let pass = hooks_runtime::capturing(async move |_: &RunningPayload| {
            if let Some(wait) = wait {
                tokio::time::sleep(wait).await;
            }
            Judgement::Pass
        });
        hooks.register(on::<Running>().name("pass").guard(pass))?;
        serving.push(join(url, "policy").await?.serve::<Running>(&hooks).start().await?);
    }
    Ok(serving)
}

async fn timed(call: &impl AsyncFn(), times: usize, took: &mut Vec<Duration>) {
    for _ in 0..times {
        let began = Instant::now();
        call().await;
        took.push(began.elapsed());
    }
}

/// The median, the 99th of a hundred, and how many a second one after another.
fn summary(times: &mut [Duration]) -> (Duration, Duration, f64) {
    times.sort_unstable();
    let total: Duration = times.iter().sum();
    let rate = f64::from(u32::try_from(times.len()).unwrap_or(u32::MAX)) / total.as_secs_f64();
    (times[times.len() / 2], times[times.len() * 99 / 100], rate)
}
