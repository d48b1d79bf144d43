// Every shape of a declaration.
use hooks_runtime::{HookPoint, Merge, hook_points};

#[derive(Debug, Clone, Default, Merge)]
pub struct Amendment {
    pub prefix: Option<String>,
}

hook_points! {
    void PrivateAndEmpty {}
    pub(crate) void InCrate { n: u32 };
    pub void Named(String);
    pub void Tuple((u32, String));
    pub void Static(&'static str);
    pub void Callback(fn(&str) -> usize);
    pub void Boxed(Box<dyn Fn(&str) -> usize + Send + Sync>);
    pub modifying InPlace { pub n: u32 } -> { text: String, tags: Vec<String> }
    pub modifying NamedResult(String) -> Amendment;
    pub modifying Nothing {} -> {}
    pub claiming Route { n: u32 } -> u32;
    pub claiming RouteInPlace(u32) -> { desk: u32 }
    pub gating Gate(Vec<u8>);
    pub gating GateInPlace { n: u32 }
    pub flow Call(u32) -> Result<u32, String>;
    pub flow CallInPlace { n: u32 } -> { n: u32 }
}

fn main() {
    assert_eq!(InPlace::NAME, "in_place");
    assert_eq!(std::mem::size_of::<Route>(), 0);
    let result = InPlaceResult { text: Some(String::new()), ..Default::default() };
    assert!(result.filled().contains(0));
}
