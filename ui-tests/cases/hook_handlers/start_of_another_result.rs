// A start returns nothing or a result, and its future is `Send`.
use std::rc::Rc;

use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void Told { n: u32 }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}

    #[start]
    fn open(&self) -> bool {
        true
    }

    #[stop]
    async fn close(&self) {
        let count = Rc::new(1);
        std::future::ready(()).await;
        drop(count);
    }
}

fn main() {}
