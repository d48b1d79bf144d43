// Forgets the result of points that have one.
use hooks_runtime::hook_points;

hook_points! {
    pub modifying BeforePrompt { session_id: String }
    pub claiming Route { text: String }
    pub flow Call { n: u32 }
    pub claiming Inbound(String);
}

fn main() {}
