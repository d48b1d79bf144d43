// One method's future is not `Send`.
use std::rc::Rc;

use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    async fn started(&self, start: &SessionStartPayload) {
        let count = Rc::new(start.session_id.len());
        tokio::task::yield_now().await;
        drop(count);
    }
}

fn main() {}
