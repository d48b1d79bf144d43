// Makes registrations and does not register them.
#![deny(unused_must_use)]
use hooks_runtime::{hook_points, on};

hook_points! {
    pub void SessionStart(String);
}

fn main() {
    on::<SessionStart>().priority(3);
    on::<SessionStart>().handler(|_: &String| {});
}
