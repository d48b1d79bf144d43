// Rejects for a reason of a type that the point does not declare.
use hooks_runtime::{Judgement, Verdict, hook_handler, hook_points};

pub enum Denied {
    Forbidden,
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("forbidden")
    }
}

hook_points! {
    pub gating Authorize { path: String } -> Denied;
    pub gating BeforeSend { text: String }
}

#[hook_handler(Authorize)]
fn text_at_a_typed_point(_: &AuthorizePayload) -> Verdict<AuthorizePayload> {
    Verdict::reject("no")
}

#[hook_handler(Authorize, guard)]
async fn text_of_a_guard(_: &AuthorizePayload) -> Verdict {
    Verdict::reject("no")
}

#[hook_handler(BeforeSend)]
fn typed_at_a_text_point(_: &BeforeSendPayload) -> Verdict<BeforeSendPayload, Denied> {
    Verdict::Reject(Denied::Forbidden)
}

#[hook_handler(BeforeSend, guard)]
fn typed_of_a_guard(_: &BeforeSendPayload) -> Result<Judgement<Denied>, std::io::Error> {
    Ok(Judgement::Reject(Denied::Forbidden))
}

fn main() {}
