//! A fleet on this machine: two processes that fire and three that serve, one of them in Python.
//! Some are killed and started again; the timeline shows who judged what.
//!
//! ```sh
//! cargo run --example fleet      # ends by itself, after some ten seconds
//! ```

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hooks_fleet::nats::NatsOptions;
use hooks_fleet::{Fleet, FleetOptions, RemoteFailure, note};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, hook_points, on};

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn points)]

    /// Before a command is run.
    pub gating Running { line: String }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build()?;
    match arguments.iter().map(|it| &**it).collect::<Vec<_>>()[..] {
        [] => play(),
        ["agent", port] => runtime.block_on(agent(port)),
        ["policy", port] => runtime.block_on(policy(port)),
        ["style", port] => runtime.block_on(style(port)),
        _ => Err("usage: fleet".into()),
    }
}

async fn join(service: &str, port: &str) -> Result<Fleet, Box<dyn Error>> {
    let options = FleetOptions::new(service, points())
        .timeout(Duration::from_secs(1))
        .presence(Duration::from_millis(500), Duration::from_millis(1500));
    Ok(Fleet::connect(NatsOptions::new(format!("nats://127.0.0.1:{port}")), options).await?)
}

/// Fires, and says what came of it where that is new.
async fn agent(port: &str) -> Result<(), Box<dyn Error>> {
    let hooks = HookRegistry::new();
    let fleet = join("agent", port).await?;
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "no_rm");
    let _sharing = share.from("style").start().await?;
    let mut said = [String::new(), String::new()];
    loop {
        for (line, said) in ["ls", "delete notes"].into_iter().zip(&mut said) {
            let now = fire(&hooks, line).await;
            if now != *said {
                println!("{now}");
                *said = now;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What came of a command, and who was asked.
async fn fire(hooks: &HookRegistry, line: &str) -> String {
    let command = RunningPayload { line: line.to_owned() };
    let (fired, report) = hooks.fire_gating_reported::<Running>(command).await;
    let came = match fired {
        Ok(Gate::Passed(command)) => format!("`{line}` runs as `{}`", command.line),
        Ok(Gate::Rejected(rejection)) => format!("`{line}` is refused: {}", rejection.reason()),
        Err(error) => match RemoteFailure::of(&error) {
            Some(failure) => format!("`{line}` is not run: {failure}"),
            None => format!("`{line}` is not run: {error}"),
        },
    };
    // Each row of the report says which process was asked, and what came of it.
    let asked = report.handlers().iter().filter_map(|row| {
        let (outcome, attempt) = (row.note(note::OUTCOME)?, row.note(note::ATTEMPT)?);
        let process = row.note(note::PROCESS).map(|process| format!("/{}", &process[..4]));
        let outcome = if outcome == "answered" { "" } else { outcome };
        let attempt = if attempt == "1" { String::new() } else { format!("attempt {attempt}") };
        let service = row.owner().as_ref();
        let words = [format!("{service}{}", process.unwrap_or_default()), outcome.into(), attempt];
        Some(words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    });
    format!("{came}  ({})", asked.collect::<Vec<_>>().join(", "))
}

async fn policy(port: &str) -> Result<(), Box<dyn Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<Running>().name("no_rm").pure().guard(|command: &RunningPayload| {
        if command.line.starts_with("rm ") {
            Judgement::reject("nothing is deleted here, says Rust")
        } else {
            Judgement::Pass
        }
    }))?;
    let fleet = join("policy", port).await?;
    let _serving = fleet.serve::<Running>(&hooks).start().await?;
    println!("serves the guard no_rm as policy/{}", &fleet.instance()[..4]);
    std::future::pending().await
}

async fn style(port: &str) -> Result<(), Box<dyn Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<Running>().name("short").pure().handler(|command: &RunningPayload| {
        Verdict::Replace(RunningPayload { line: command.line.replace("delete ", "rm ") })
    }))?;
    let fleet = join("style", port).await?;
    let _serving = fleet.serve::<Running>(&hooks).start().await?;
    println!("serves the rewriter short as style/{}", &fleet.instance()[..4]);
    std::future::pending().await
}

/// A process whose lines are printed, with the time and its name.
struct Process(Child);

impl Process {
    fn start(
        began: Instant,
        name: &'static str,
        command: &mut Command,
    ) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("it has no output")?).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                say(began, name, &line);
            }
        });
        Ok(Self(child))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn say(began: Instant, who: &str, what: &str) {
    println!("{:>6.2}s  {who:<8} {what}", began.elapsed().as_secs_f64());
}

/// A port below those that the system gives to clients: one of them that connects to itself
/// would pass for the server.
fn free_port() -> Option<u16> {
    let first = (std::process::id() % 20_000) as u16;
    let mut ports = (0..20_000).map(|next| 10_000 + (first + next) % 20_000);
    ports.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok())
}

fn play() -> Result<(), Box<dyn Error>> {
    let usual = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let named = std::env::var("NATS_SERVER").ok();
    let found = named.as_deref().into_iter().chain(usual).find(|path| Path::new(path).exists());
    let Some(server) = found else {
        println!(
            "there is no nats-server here: `apt-get install nats-server`, or set NATS_SERVER to \
             its path"
        );
        return Ok(());
    };
    let folder = std::env::temp_dir().join(format!("hooks-fleet-{}", std::process::id()));
    let port = free_port().ok_or("no port is free")?.to_string();
    let began = Instant::now();
    let mut nats = Command::new(server);
    nats.args(["--addr", "127.0.0.1", "--port", &port, "--jetstream", "--store_dir"]).arg(&folder);
    let mut nats = Process::start(began, "nats", &mut nats)?;
    while std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        if let Some(status) = nats.0.try_wait()? {
            return Err(format!("{server} has ended: {status}").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let this = std::env::current_exe()?;
    let own = |name: &'static str, role: &str| {
        Process::start(began, name, Command::new(&this).args([role, &port]))
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("services/policy.py");
    let mut python = Command::new("python3");
    python.arg(script).args(["127.0.0.1", &port]);
    let pause = || std::thread::sleep(Duration::from_millis(1500));
    let note = |what: &str| say(began, "--", what);

    note("two agents fire; nobody serves the guard that they require");
    let agents = [own("agent-1", "agent")?, own("agent-2", "agent")?];
    pause();
    note("the policy service starts, and one for style");
    let (policy, style) = (own("policy", "policy")?, own("style", "style")?);
    pause();
    note("the policy service in Python starts too: its form fits, and it is the second choice");
    let second = Process::start(began, "python", &mut python)
        .inspect_err(|_| note("there is no python3 here: it is left out"));
    pause();
    note("the policy service in Rust is killed");
    drop(policy);
    pause();
    note("the one in Python is killed too");
    drop(second);
    pause();
    note("the one in Rust is started again");
    let policy = own("policy", "policy")?;
    pause();
    note("the service for style is killed: it is not required, and is forgotten");
    drop(style);
    pause();
    pause();
    note("the end");
    drop((agents, policy, nats));
    Ok(std::fs::remove_dir_all(folder)?)
}
