// What a start and a stop may be: each mistake is one error.
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
    async fn open(&self) {}

    #[start]
    async fn open_again(&self) {}

    #[stop]
    fn close(&mut self) {}

    #[stop]
    fn close_nothing() {}

    #[stop]
    fn close_after(&self, _seconds: u32) {}

    #[stop(now)]
    fn close_now(&self) {}

    #[stop]
    fn close_all<T>(&self) {}
}

struct Desk;

#[hook_handlers]
impl Desk {
    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}

    #[start]
    fn open(&self) {}
}

fn main() {}
