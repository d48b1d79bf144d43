// Looks for a way around the types in what the expansions use.
use hooks_runtime::{Registration, Verdict, hook_points, on};

hook_points! {
    pub gating BeforeSend { text: String }
}

fn shorten(_: &BeforeSendPayload) -> Verdict<BeforeSendPayload> {
    Verdict::Replace(BeforeSendPayload { text: String::new() })
}

fn handler() -> Registration {
    on::<BeforeSend>().__guard().handler(shorten)
}

fn end_of_an_expansion() -> Registration {
    on::<BeforeSend>().__guard().__sync1(|given| {
        let (lent, to) = given.open();
        hooks_runtime::__private::returned(to, shorten(lent.shared()))
    })
}

fn verdict_of_an_expansion() -> Registration {
    on::<BeforeSend>().__guard().__sync1(|given| {
        let (lent, to) = given.open_as_guard();
        hooks_runtime::__private::returned_by_guard(to, shorten(lent.shared()))
    })
}

fn main() {}
