// Asks for JSON where the reason of a rejection has none.
use std::fmt;

use hooks_runtime::hook_points;

pub struct Denied;

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("denied")
    }
}

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    pub gating Authorize { path: String } -> Denied;
}

fn main() {}
