// Returns nothing where the point expects a result.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

#[hook_handler(Route)]
fn desk(_: &RoutePayload) {}

fn main() {}
