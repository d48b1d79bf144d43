// Lists handlers that are private to their module.
use hooks_runtime::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

mod audit {
    use super::{SessionStart, SessionStartPayload};

    #[hooks_runtime::hook_handler(SessionStart)]
    fn record(_: &SessionStartPayload) {}

    pub mod inner {
        use super::{SessionStart, SessionStartPayload};

        #[hooks_runtime::hook_handler(SessionStart)]
        pub(super) fn measure(_: &SessionStartPayload) {}
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![audit::record, audit::inner::measure])?;
    Ok(())
}
