// Sets the failure policy of a flow.
use hooks_runtime::hook_points;

hook_points! {
    #[hook(on_failure = "open")]
    pub flow Call { n: u32 } -> u32;
}

fn main() {}
