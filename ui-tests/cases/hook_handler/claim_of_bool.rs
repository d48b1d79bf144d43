// A claiming handler that says yes or no.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

#[hook_handler(Route)]
fn desk(route: &RoutePayload) -> bool {
    route.text.is_empty()
}

fn main() {}
