// Patterns, lifetimes and unusual spellings of parameters.
use hooks_runtime::{
    HookContext, HookRegistry, handlers, hook_handler, hook_handlers, hook_points,
};

hook_points! {
    pub void Told { n: u32, text: String }
}

#[hook_handler(Told)]
fn destructured(ToldPayload { n, text }: &ToldPayload) {
    assert_eq!(text, &n.to_string());
}

#[hook_handler(Told)]
async fn with_lifetimes<'p, 'c>(told: &'p ToldPayload, cx: &'c HookContext) {
    assert_eq!((told.n, cx.handler()), (1, "with_lifetimes"));
}

#[hook_handler(Told)]
fn mutable_binding(mut told: &ToldPayload) {
    let other = told;
    told = other;
    assert_eq!(told.n, 1);
}

type Alias = ToldPayload;

#[hook_handler(Told)]
fn through_an_alias(_: &Alias) {}

#[hook_handler(Told)]
fn anything_printable(told: &impl std::fmt::Debug) {
    assert!(format!("{told:?}").contains("text"));
}

struct Audit;

#[hook_handlers]
impl Audit {
    #[hook_handler(Told)]
    fn with_attributes(&self, #[allow(unused)] told: &ToldPayload) {}

    #[hook_handler(Told)]
    async fn spelled_out(self: &Self, _: &ToldPayload) {}

    #[hook_handler(Told)]
    async fn with_a_lifetime<'a>(&'a self, _: &'a ToldPayload) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![
        destructured,
        with_lifetimes,
        mutable_binding,
        through_an_alias,
        anything_printable,
    ])?;
    let _audit = hooks.install(Audit)?;
    let (outcome, report) =
        hooks.fire_void_reported::<Told>(&ToldPayload { n: 1, text: "1".into() }).await;
    outcome?;
    assert!(!report.to_string().contains("panicked"), "{report}");
    Ok(())
}
