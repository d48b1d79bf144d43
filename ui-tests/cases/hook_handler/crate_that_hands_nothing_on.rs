// The runtime is looked for in a crate that does not say `facade!()`, and in one that
// is not there.
extern crate core as hooks_runtime;

use hooks_ui_facade::hooks::{hook_handler, hook_points};

hook_points! {
    pub void Saved { page: u32 }
}

#[hook_handler(Saved)]
fn saved(_: &SavedPayload) {}

#[hook_handler(Saved, crate = ::framework)]
fn stored(_: &SavedPayload) {}

fn main() {}
