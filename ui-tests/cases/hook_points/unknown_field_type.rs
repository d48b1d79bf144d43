// Names a type that does not exist.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { session_id: SesionId }
    pub gating BeforeSend(Mesage);
}

fn main() {}
