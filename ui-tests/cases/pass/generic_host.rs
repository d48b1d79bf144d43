// A host that is generic over its points.
use hooks_runtime::{FireError, HookPoint, HookRegistry, hook_points};
use hooks_runtime::model::{Flow, Void};

hook_points! {
    pub void Told { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

async fn tell<P: HookPoint<Model = Void>>(
    hooks: &HookRegistry,
    payload: &P::Payload,
) -> Result<(), FireError> {
    hooks.fire_void::<P>(payload).await
}

fn name<P: HookPoint<Model = Flow>>() -> &'static str {
    P::NAME
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FireError> {
    assert_eq!(name::<Call>(), "call");
    tell::<Told>(&HookRegistry::new(), &ToldPayload { n: 1 }).await
}
