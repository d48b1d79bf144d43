//! One of everything that the macros write, as a crate's author would have it.
//! The tests of the documentation and of the editor look at this module.

use hooks_runtime::{
    BeforeExecute, FireError, FlowContext, HookRegistry, RegisterError, Verdict, handlers,
    hook_handler, hook_handlers, hook_points,
};

hook_points! {
    /// A session begins, before anything else happens in it.
    pub void SessionStart {
        /// Which session it is.
        session_id: String,
    }

    /// Before the prompt is put together.
    pub modifying BeforePrompt { session_id: String } -> { prepend: String }

    /// Which desk takes this message?
    pub claiming Route(String) -> u32;

    /// Before a message leaves.
    #[hook(timeout = "5s")]
    pub gating Sending(String);

    /// One call, stage by stage.
    #[hook(name = "tools:call")]
    pub flow CallTool(String) -> u32;
}

/// Prints the session.
#[hook_handler(SessionStart)]
pub async fn log_session(start: &SessionStartPayload) {
    println!("{}", start.session_id);
}

/// Handlers of a module.
pub mod audit {
    /// Counts the letters.
    #[hooks_runtime::hook_handler(super::Route)]
    pub fn record(message: &str) -> Option<u32> {
        u32::try_from(message.len()).ok()
    }
}

/// A plugin.
#[derive(Debug)]
pub struct Guard;

#[hook_handlers(plugin = "guard")]
impl Guard {
    /// Keeps secrets in.
    #[hook_handler(Sending, guard)]
    pub fn no_secrets(&self, message: &str) -> Verdict {
        if message.contains("secret") { Verdict::reject("a secret") } else { Verdict::Pass }
    }

    /// Counts calls.
    #[hook_handler(BeforeExecute<CallTool>)]
    pub fn count(&self, flow: &mut FlowContext<CallTool>) {
        flow.state_mut().insert(1_u32);
    }
}

/// Registers everything.
pub fn register(hooks: &HookRegistry) -> Result<(), RegisterError> {
    hooks.register(handlers![log_session, audit::record])?;
    hooks.install(Guard).map(drop)
}

/// Begins a session.
pub async fn begin(hooks: &HookRegistry, session_id: String) -> Result<(), FireError> {
    hooks.fire_void::<SessionStart>(&SessionStartPayload { session_id }).await
}
