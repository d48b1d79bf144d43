// Claims with the bare value instead of an `Option` of it.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

#[hook_handler(Route)]
async fn desk(_: &RoutePayload) -> u32 {
    1
}

fn main() {}
