// Puts the attribute on the type instead of its impl block.
use hooks_runtime::hook_handlers;

#[hook_handlers(plugin = "audit")]
struct Audit;

fn main() {}
