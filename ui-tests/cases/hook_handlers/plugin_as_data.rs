// What a plugin says about itself is text.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void Told { n: u32 }
}

struct Audit;

#[hook_handlers(plugin = "audit", version = 1, description = "")]
impl Audit {
    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}
}

struct Desk;

const VERSION: u32 = 1;

#[hook_handlers(plugin = "desk", version = VERSION, verson = "1")]
impl Desk {
    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}
}

fn main() {}
