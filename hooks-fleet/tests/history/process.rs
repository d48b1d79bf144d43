//! Serving processes of their own, which are killed, stopped and replaced.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hooks_fleet::{Fleet, FleetOptions};

use super::History;
use super::versions::{new, old, register_new, register_old};
use crate::support::nats::at;

/// What a process is told: where the server is, and what it is to be.
const ROLE: &str = "FLEET_HISTORY_PROCESS";

const HANDLERS: [&str; 4] = ["first", "second", "claim", "keep"];

/// One serving process.
pub(crate) struct Process {
    child: Child,
    /// Closed, it asks the process to leave.
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts one of that version, whose handlers are recorded.
    pub(crate) fn start(port: u16, version: &str, planted: bool, history: &History) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serving_process", "--nocapture"])
            .env(ROLE, format!("{port} {version} {planted}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (output, history) = (child.stdout.take().unwrap(), history.clone());
        // What is written is there also when its process is not any more.
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let words: Vec<_> = line.split(' ').collect();
                if let ["ran", number, when, handler] = words[..] {
                    let handler = HANDLERS.into_iter().find(|it| *it == handler).unwrap();
                    history.ran(number.parse().unwrap(), when.parse().unwrap(), handler);
                }
            }
        });
        Self { input: child.stdin.take(), child, reader: Some(reader) }
    }

    /// Asks it to leave, which it does by draining.
    pub(crate) fn leave(&mut self) {
        self.input = None;
    }

    /// Stops it, as a machine that swaps does, or has it go on.
    pub(crate) fn stop(&self, stopped: bool) {
        let signal = if stopped { "-STOP" } else { "-CONT" };
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

/// Kills it, and has read all that it said.
impl Drop for Process {
    fn drop(&mut self) {
        if self.input.is_none() {
            // It was asked to leave, and has ten seconds for that.
            for _ in 0..500 {
                if self.child.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
    }
}

pub(crate) fn options(service: &str, points: hooks_runtime::catalogue::Catalogue) -> FleetOptions {
    let options = FleetOptions::new(service, points)
        .timeout(Duration::from_millis(800))
        .deliveries(1_000, [Duration::from_millis(50)])
        .presence(Duration::from_millis(300), Duration::from_secs(2))
        .linger(Duration::from_millis(100));
    // Both versions have the name of the point in common, which is what counts.
    options.durable::<old::Stored>()
}

/// What such a process does; in the test program itself, nothing.
pub(crate) fn serve() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words: Vec<_> = role.split(' ').collect();
    let [port, version, planted] = words[..] else { panic!("{role}") };
    let (port, planted) = (port.parse().unwrap(), planted == "true");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.unwrap();
    runtime.block_on(async {
        let (asked, has_asked) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            let _ = asked.send(());
        });
        let serving = async {
            loop {
                let nats = at(port).ack_wait(Duration::from_secs(2));
                let serving = if version == "old" {
                    let hooks = register_old(planted, ran);
                    let fleet = Fleet::connect(nats, options("policy", old::points())).await;
                    let Ok(fleet) = fleet else { continue };
                    fleet
                        .serve::<old::Running>(&hooks)
                        .and::<old::Routing>()
                        .and::<old::Stored>()
                        .start()
                        .await
                } else {
                    let hooks = register_new(planted, ran);
                    let fleet = Fleet::connect(nats, options("policy", new::points())).await;
                    let Ok(fleet) = fleet else { continue };
                    fleet
                        .serve::<new::Running>(&hooks)
                        .and::<new::Routing>()
                        .and::<new::Stored>()
                        .start()
                        .await
                };
                if let Ok(serving) = serving {
                    return serving;
                }
            }
        };
        let mut has_asked = has_asked;
        tokio::select! {
            serving = serving => {
                let _ = has_asked.await;
                serving.leave(Duration::from_secs(2)).await;
            }
            _ = &mut has_asked => {}
        }
    });
}

/// Says that a handler runs, before it answers: in one write, which outlives the process.
fn ran(number: u64, handler: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let line = format!("ran {number} {now} {handler}\n");
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}
