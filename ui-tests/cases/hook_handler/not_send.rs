// Holds an `Rc` across an await, so the future is not `Send`.
use std::rc::Rc;

use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
async fn log(start: &SessionStartPayload) {
    let count = Rc::new(start.session_id.len());
    tokio::task::yield_now().await;
    drop(count);
}

fn main() {}
