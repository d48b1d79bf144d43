use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
async fn log_session(start: SessionStartPayload) {
    println!("{}", start.session_id);
}

fn main() {}
