// Writes fields that are none.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart {
        session_id,
        type: String,
        pub(crate) platform: String,
        tags: Vec<,
        user: String
        locale: String,
    }
}

fn main() {}
