// Calls `run_flow` for points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

async fn execute<I, O>(_: I) -> Result<O, String> {
    Err(String::from("not now"))
}

fn fire(hooks: &HookRegistry, flow: FlowContext<Run>) {
    let _ = hooks.run_flow::<Told, _>(ToldPayload { n: 1 }, execute);
    let _ = hooks.run_flow::<Amended, _>(AmendedPayload { n: 1 }, execute);
    let _ = hooks.run_flow::<Claimed, _>(ClaimedPayload { n: 1 }, execute);
    let _ = hooks.run_flow::<Gated, _>(GatedPayload { n: 1 }, execute);
    let _ = hooks.run_flow::<BeforeExecute<Run>, _>(flow, execute);
}

fn main() {}
