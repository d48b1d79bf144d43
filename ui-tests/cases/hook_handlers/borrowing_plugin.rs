// Keeps a reference in the plugin.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit<'a> {
    prefix: &'a str,
}

#[hook_handlers(plugin = "audit")]
impl<'a> Audit<'a> {
    #[hook_handler(SessionStart)]
    fn started(&self, start: &SessionStartPayload) {
        println!("{}{}", self.prefix, start.session_id);
    }
}

fn main() {}
