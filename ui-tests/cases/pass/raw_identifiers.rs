// Names that are keywords.
use hooks_runtime::{
    HookPoint, HookRegistry, Merge, handlers, hook_handler, hook_handlers, hook_points,
};

hook_points! {
    pub void r#Match { r#type: u32, r#fn: String }
    pub modifying Amended { r#in: u32 } -> { r#type: String, r#where: u32 }
}

#[hook_handler(r#Match)]
fn r#loop(matched: &MatchPayload) {
    assert_eq!(matched.r#type, 1);
}

struct r#Struct;

#[hook_handlers(plugin = "raw")]
impl r#Struct {
    #[hook_handler(r#Match)]
    async fn r#async(&self, _: &MatchPayload) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    assert_eq!(r#Match::NAME, "match");
    assert_eq!(AmendedResult::FIELDS, ["type", "where"]);
    let handles = hooks.register(handlers![r#loop])?;
    let _raw = hooks.install(r#Struct)?;
    hooks.fire_void::<Match>(&MatchPayload { r#type: 1, r#fn: String::new() }).await?;
    assert_eq!(handles.unregister().removed(), 1);
    Ok(())
}
