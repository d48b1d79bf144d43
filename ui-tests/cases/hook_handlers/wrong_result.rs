// One of two methods returns what its point does not accept.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub modifying BeforePrompt { session_id: String } -> { prefix: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    async fn started(&self, _: &SessionStartPayload) {}

    #[hook_handler(BeforePrompt)]
    fn prefix(&self, _: &BeforePromptPayload) -> Option<String> {
        None
    }
}

fn main() {}
