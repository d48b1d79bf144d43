use std::rc::Rc;

use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
async fn log_session(start: &SessionStartPayload) {
    let id = Rc::new(start.session_id.clone());
    tokio::task::yield_now().await;
    println!("{id}");
}

fn main() {}
