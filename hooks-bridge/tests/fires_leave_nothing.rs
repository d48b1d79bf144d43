//! Many fires of commands that misbehave, side by side: nothing of them is left. Alone in
//! its process, because it counts what the process has open.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::time::{Duration, Instant};

use dialects::{configuration, plan};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::Limits;
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
use serde_json::{Value, json};
use support::{Scripts, descriptors, eventually, nap, processes, zombies};

const LIMIT: Duration = Duration::from_millis(300);
const GRACE: Duration = Duration::from_millis(50);

/// Each of them misbehaves in its own way; none may leave anything.
const MISBEHAVING: [&str; 14] = [
    "exit 0",
    "kill -9 $$",
    "yes",
    "sleep NAP & exit 0",
    "sleep NAP & kill -9 $$",
    "trap '' TERM; sleep NAP",
    "head -c 3000000 /dev/zero >&2; exit 3",
    "exec 0<&-; exec 1>&-; exec 2>&-; sleep NAP",
    "(sleep NAP &) ; (trap '' TERM; sleep NAP) & wait",
    "printf '\\377\\376'; exit 2",
    "echo '{} {}'",
    "echo banner; echo '{\"a\": 1}'",
    "cat",
    "/no/such/script; exit 2",
];

fn hooks(scripts: &Scripts, command: &str) -> HookRegistry {
    let dialect = Dialect::ClaudeCode;
    let text = configuration(dialect, "PreToolUse", &[(command.to_owned(), Value::Null)]);
    let limits = Limits { grace: GRACE, timeout: Some(LIMIT), ..Limits::default() };
    let bridge = Bridge::new(scripts.path(), plan(dialect, &text, scripts.path())).limits(limits);
    let hooks = HookRegistry::new();
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    hooks
}

fn call() -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        // More than a pipe holds.
        input: json!({ "command": "x".repeat(1 << 18) }),
    }
}

/// A thousand with `BRIDGE_FIRES=1000`; a sample of each kind without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_fires_of_misbehaving_commands_leave_nothing() {
    let fires = std::env::var("BRIDGE_FIRES").ok().and_then(|it| it.parse().ok()).unwrap_or(42);
    let (scripts, nap) = (Scripts::new(), nap(73));
    let registries = MISBEHAVING.map(|command| hooks(&scripts, &command.replace("NAP", &nap)));
    // Opens what the runtime keeps.
    assert!(registries[0].fire_gating::<UsingTool>(call()).await.is_ok());
    let before = descriptors();
    let (mut tasks, mut longest) = (tokio::task::JoinSet::new(), Duration::ZERO);
    for fire in 0..fires {
        if tasks.len() == 8 {
            longest = longest.max(tasks.join_next().await.unwrap().unwrap());
        }
        let hooks = registries[fire % registries.len()].clone();
        tasks.spawn(async move {
            let began = Instant::now();
            let _ = hooks.fire_gating::<UsingTool>(call()).await;
            began.elapsed()
        });
    }
    while let Some(took) = tasks.join_next().await {
        longest = longest.max(took.unwrap());
    }
    eventually("no process is left", || processes(&nap) == 0).await;
    eventually("no zombie is left", || zombies() == 0).await;
    eventually("no descriptor is left", || descriptors() <= before).await;
    // What a busy machine takes to schedule eight of them is not theirs.
    assert!(longest < LIMIT + GRACE + Duration::from_millis(1500), "{longest:?}");
    println!("proof: {fires} fires of misbehaving commands, the longest took {longest:?}");
}
