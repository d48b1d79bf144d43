//! A program whose plugins are crates that are only linked: it names the crates, and
//! nothing in them.
//!
//! `cargo run -p hooks-linked`

#![forbid(unsafe_code)]

use std::error::Error;

// Without these lines the linker would leave the crates out, and their handlers with
// them.
use hooks_linked_almanac as _;
use hooks_linked_greeter as _;

use hooks_points::{
    BeforePromptBuild, BeforePromptBuildPayload, SessionStart, SessionStartPayload,
};
use hooks_runtime::HookRegistry;
use hooks_runtime::handler::collected;

/// What this program does not want to run without: a crate that is left out of the
/// lines above is an error that says which line to add.
const EXPECTED: [&str; 2] = ["hooks_linked_almanac::season", "hooks_linked_greeter::welcome"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("linked");
    for path in collected() {
        println!("  {path}");
    }

    let hooks = HookRegistry::new();
    hooks.register_collected_expecting(EXPECTED)?;
    println!("registered");
    for plugin in hooks.plugins() {
        let handlers = if plugin.handlers == 1 { "handler" } else { "handlers" };
        let points = plugin.points.join(", ");
        println!("  {}: {} {handlers} at {points}", plugin.id, plugin.handlers);
    }

    println!("fired");
    let start = SessionStartPayload {
        session_id: "s-1".to_owned(),
        session_key: "cli:desk".to_owned(),
        platform: "cli".to_owned(),
        personality_id: None,
    };
    hooks.fire_void::<SessionStart>(&start).await?;
    let prompt = BeforePromptBuildPayload {
        session_id: start.session_id,
        personality_id: None,
        history: Vec::new(),
    };
    let amended = hooks.fire_modifying::<BeforePromptBuild>(&prompt).await?;
    let around = [amended.prepend_system, amended.append_system].map(Option::unwrap_or_default);
    println!("almanac: {} … {}", around[0], around[1]);
    Ok(())
}
