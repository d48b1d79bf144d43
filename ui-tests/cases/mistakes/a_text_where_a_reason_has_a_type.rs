use std::fmt;

use hooks_runtime::{Verdict, hook_handler, hook_points};

pub struct Request {
    pub admin: bool,
}

pub enum Denied {
    Forbidden,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("for admins only")
    }
}

hook_points! {
    /// May this request be served?
    pub gating Authorize(Request) -> Denied;
}

#[hook_handler(Authorize, guard)]
fn admins_only(request: &Request) -> Verdict {
    if request.admin { Verdict::Pass } else { Verdict::reject("for admins only") }
}

fn main() {}
