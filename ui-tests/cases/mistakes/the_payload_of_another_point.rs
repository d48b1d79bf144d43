use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
    /// A session ends.
    pub void SessionEnd { session_id: String }
}

#[hook_handler(SessionStart)]
async fn log_session(start: &SessionEndPayload) {
    println!("{}", start.session_id);
}

fn main() {}
