// The operation of a flow fails with an error that cannot cross threads.
use std::fmt;
use std::rc::Rc;

use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[derive(Debug)]
struct Broken(Rc<str>);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

async fn execute(_: CallPayload) -> Result<u32, Broken> {
    Err(Broken("no".into()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _ = HookRegistry::new().run_flow::<Call, _>(CallPayload { n: 1 }, execute).await;
}
