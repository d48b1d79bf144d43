// Claims with a value of another type.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

#[hook_handler(Route)]
fn desk(route: &RoutePayload) -> Result<Option<String>, std::io::Error> {
    Ok(Some(route.text.clone()))
}

fn main() {}
