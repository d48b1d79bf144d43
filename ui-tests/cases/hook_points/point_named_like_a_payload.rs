// Names a point as the payload of another.
use hooks_runtime::hook_points;

hook_points! {
    pub void Session { id: String }
    pub void SessionPayload { id: String }
}

fn main() {}
