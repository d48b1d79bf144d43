// Declaring and handling what is deprecated warns its users only.
#![deny(warnings)]
#![allow(dead_code)]
use hooks_runtime::hook_points;

pub mod points {
    use super::hook_points;

    hook_points! {
        /// The old way.
        #[deprecated(note = "listen at `New`")]
        pub void Old { n: u32 }

        /// The new way.
        pub modifying New {
            n: u32,
            #[deprecated]
            m: u32,
        } -> {
            #[deprecated]
            old: String,
            new: String,
        }

        /// The old flow.
        #[deprecated]
        pub flow OldCall { n: u32 } -> u32;
    }
}

mod handlers {
    #[allow(deprecated)]
    use crate::points::{Old, OldPayload};

    #[allow(deprecated)]
    #[hooks_runtime::hook_handler(Old)]
    pub fn old(_: &OldPayload) {}
}

fn main() {
    let _ = hooks_runtime::handlers![handlers::old];
}
