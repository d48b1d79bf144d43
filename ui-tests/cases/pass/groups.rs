// Registers groups: arrays, vectors, iterators, and what `handlers!` lists.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points, on};

hook_points! {
    pub void Told { n: u32 }
}

#[hook_handler(Told)]
fn first(_: &ToldPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![first,])?;
    hooks.register([
        on::<Told>().name("a").handler(|_: &ToldPayload| {}),
        on::<Told>().name("b").handler(async |_: &ToldPayload| {}),
    ])?;
    hooks.register(vec![on::<Told>().name("c").handler(first)])?;
    let many = (0..3).map(|n| on::<Told>().name(format!("many{n}")).handler(first));
    assert_eq!(hooks.register(many)?.unregister().removed(), 3);
    Ok(())
}
