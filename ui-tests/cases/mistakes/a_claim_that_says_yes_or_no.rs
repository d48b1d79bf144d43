use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// Which desk takes this message?
    pub claiming Route { text: String } -> u32;
}

#[hook_handler(Route)]
fn front_desk(message: &RoutePayload) -> bool {
    message.text.starts_with("hello")
}

fn main() {}
