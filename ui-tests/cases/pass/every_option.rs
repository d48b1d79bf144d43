// Every key of `#[hook_handler]`, and every method of `on`.
use std::time::Duration;

use hooks_runtime::{FailurePolicy, HookRegistry, handlers, hook_handler, hook_points, on};

hook_points! {
    pub void Told { n: u32 }
}

const CALENDAR: &str = "calendar";

#[hook_handler(
    Told,
    plugin = "calendar",
    name = "first",
    priority = -10,
    timeout = "200ms",
    on_failure = "closed",
    before = "second",
    before = ["third"],
    after = ["spam_filter", "audit"],
    target = "search",
    replace,
    crate = ::hooks_runtime,
)]
fn first(_: &ToldPayload) {}

#[hook_handler(Told, plugin = CALENDAR)]
fn second(_: &ToldPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![first, second])?;
    hooks.register(
        on::<Told>()
            .name("third")
            .plugin(CALENDAR)
            .priority(3)
            .timeout(Duration::from_secs(1))
            .on_failure(FailurePolicy::Closed)
            .before("fourth")
            .after("first")
            .target_named("search")
            .replace()
            .handler(|_: &ToldPayload| {}),
    )?;
    Ok(())
}
