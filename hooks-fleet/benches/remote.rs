//! What a call of a remote gating handler costs, beside a bare request to the same server and
//! the same process, in one run; and how handlers that wait scale with the processes that serve
//! them. All that serve are processes of their own.
//!
//! ```sh
//! cargo bench -p hooks-fleet --bench remote
//! ```

use std::error::Error;
use std::process::{Child, Command, Stdio};
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

/// What a serving process is told: where the server is, and how long its handler waits.
const ROLE: &str = "FLEET_BENCH_PROCESS";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Ok(role) = std::env::var(ROLE) {
        let (url, wait) = role.split_once(' ').ok_or("an address and a time")?;
        return serve(url, Duration::from_millis(wait.parse()?)).await;
    }
    let path = std::env::var("NATS_SERVER").unwrap_or_else(|_| "/usr/sbin/nats-server".to_owned());
    let folder = tempfile::tempdir()?;
    // Below the ports of clients: one of them that connects to itself would pass for the server.
    let free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (20_000..30_000).find(free).ok_or("no port is free")?;
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
    let client = async_nats::connect(url).await?;
    let hooks = HookRegistry::new();
    let serving = Processes::start(url, 0, 1)?;
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
    let mut ratios = Vec::new();
    for round in 0..41 {
        let (mut bare_now, mut gate_now) = (Vec::new(), Vec::new());
        timed(&bare, 250, &mut bare_now).await;
        timed(&gate, 250, &mut gate_now).await;
        // The first warms up.
        if round > 0 {
            let [one, other] = [&mut *gate_now, &mut *bare_now].map(|it| summary(it).0);
            ratios.push(one.as_secs_f64() / other.as_secs_f64());
            of_bare.append(&mut bare_now);
            of_gate.append(&mut gate_now);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let [bare, gate] = [&mut *of_bare, &mut *of_gate].map(summary);
    println!("                         p50        p99      per second");
    println!("bare request       {:>9.1?}  {:>9.1?}  {:>9.0}", bare.0, bare.1, bare.2);
    println!("remote gate        {:>9.1?}  {:>9.1?}  {:>9.0}", gate.0, gate.1, gate.2);
    println!(
        "ratio of p50: {:.2}; of {} rounds the least {:.2}, the median {:.2}, the most {:.2} \
         (goal: at most 1.3)",
        gate.0.as_secs_f64() / bare.0.as_secs_f64(),
        ratios.len(),
        ratios[0],
        ratios[ratios.len() / 2],
        ratios[ratios.len() - 1]
    );
    sharing.stop();
    drop(serving);

    println!("\nhandlers that wait 5 ms, 8 calls at once a process, 64 fires under way");
    println!("processes        p50   per second");
    for processes in [1, 2, 4, 8] {
        let hooks = HookRegistry::new();
        let serving = Processes::start(url, 5, processes)?;
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
        drop(serving);
    }
    Ok(())
}

async fn join(url: &str, service: &str) -> Result<Fleet, Box<dyn Error>> {
    // Those that were killed are soon forgotten.
    let options = FleetOptions::new(service, points())
        .presence(Duration::from_millis(500), Duration::from_millis(1_500))
        .max_in_flight(8);
    Ok(Fleet::connect(NatsOptions::new(url), options).await?)
}

/// Serving processes, which end when this is dropped.
struct Processes(Vec<Child>);

impl Processes {
    fn start(url: &str, wait: u64, count: usize) -> Result<Self, Box<dyn Error>> {
        let mut children = Self(Vec::new());
        for _ in 0..count {
            let mut command = Command::new(std::env::current_exe()?);
            children.0.push(command.env(ROLE, format!("{url} {wait}")).spawn()?);
        }
        Ok(children)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a serving process does until it is killed: it echoes, and serves a guard.
async fn serve(url: &str, wait: Duration) -> Result<(), Box<dyn Error>> {
    let echo = async_nats::connect(url).await?;
    let mut requests = echo.subscribe("echo").await?;
    echo.flush().await?;
    let hooks = HookRegistry::new();
    let pass = hooks_runtime::capturing(async move |_: &RunningPayload| {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Judgement::Pass
    });
    hooks.register(on::<Running>().name("pass").guard(pass))?;
    let _serving = join(url, "policy").await?.serve::<Running>(&hooks).start().await?;
    tokio::spawn(async move {
        while let Some(message) = requests.next().await {
            let reply = message.reply.expect("it is a request");
            echo.publish(reply, message.payload).await.expect("it is sent");
        }
    });
    std::future::pending().await
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
