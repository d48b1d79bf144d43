//! Many commands that misbehave, side by side: nothing of them is left. Alone in its
//! process, because it counts what the process has open.

mod support;

use std::time::{Duration, Instant};

use hooks_bridge::runner::{Invocation, Limits, Program, Runner};
use support::{descriptors, eventually, processes, zombies};

fn misbehaving(line: &str) -> Invocation {
    Invocation {
        stdin: vec![b'x'; 1 << 18],
        timeout: Duration::from_millis(300),
        ..Invocation::new(Program::shell("bash", line))
    }
}

/// Each of them misbehaves in its own way; none may leave anything.
const MISBEHAVING: [&str; 10] = [
    "exit 0",
    "kill -9 $$",
    "yes",
    "sleep 73.0606 & exit 0",
    "sleep 73.0606 & kill -9 $$",
    "trap '' TERM; sleep 73.0606",
    "head -c 3000000 /dev/zero >&2; exit 3",
    "exec 0<&-; exec 1>&-; exec 2>&-; sleep 73.0606",
    "(sleep 73.0606 &) ; (trap '' TERM; sleep 73.0606) & wait",
    "printf '\\377\\376'; exit 2",
];

/// A thousand with `BRIDGE_FIRES=1000`; a sample of each kind without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_misbehaving_commands_leave_nothing() {
    let runs = std::env::var("BRIDGE_FIRES").ok().and_then(|it| it.parse().ok()).unwrap_or(40);
    let limits = Limits { grace: Duration::from_millis(50), concurrent: 8, ..Limits::default() };
    let runner = Runner::new(limits);
    runner.run(misbehaving("exit 0")).await.unwrap(); // opens what the runtime keeps
    let before = descriptors();
    let (mut tasks, mut longest) = (tokio::task::JoinSet::new(), Duration::ZERO);
    for run in 0..runs {
        let (runner, line) = (runner.clone(), MISBEHAVING[run % MISBEHAVING.len()]);
        if tasks.len() == 8 {
            longest = longest.max(tasks.join_next().await.unwrap().unwrap());
        }
        tasks.spawn(async move {
            let began = Instant::now();
            let _ = runner.run(misbehaving(line)).await;
            began.elapsed()
        });
    }
    while let Some(took) = tasks.join_next().await {
        longest = longest.max(took.unwrap());
    }
    eventually("no process is left", || processes("73.0606") == 0).await;
    eventually("no zombie is left", || zombies() == 0).await;
    eventually("no descriptor is left", || descriptors() <= before).await;
    // The limit, the grace, and what a busy machine takes to schedule eight of them.
    assert!(longest < Duration::from_millis(300 + 50 + 1500), "{longest:?}");
    println!("proof: {runs} misbehaving commands, the longest took {longest:?}");
}
