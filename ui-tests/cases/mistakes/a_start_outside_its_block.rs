use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    /// A page was saved.
    pub void Saved { page: u32 }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}
}

impl Audit {
    #[start]
    async fn open(&self) {}
}

fn main() {}
