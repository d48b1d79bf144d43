// Points, payloads and handlers named by their paths.
use hooks_runtime::HookRegistry;

mod points {
    hooks_runtime::hook_points! {
        pub void Told { n: u32 }
        pub flow Call { n: u32 } -> u32;
    }
}

mod handlers {
    use hooks_runtime as runtime;

    #[runtime::hook_handler(crate::points::Told)]
    pub async fn told(_: &super::points::ToldPayload) {}

    #[runtime::hook_handler(runtime::BeforeExecute<super::points::Call>)]
    pub(crate) fn called(_: &mut runtime::FlowContext<crate::points::Call>) {}

    pub mod inner {
        #[hooks_runtime::hook_handler(crate::points::Told)]
        pub(in crate::handlers) fn hidden(_: &crate::points::ToldPayload) {}

        #[hooks_runtime::hook_handler(crate::points::Told, name = "other")]
        pub fn told(_: &crate::points::ToldPayload) {}
    }

    pub fn all() -> [runtime::Registration; 2] {
        hooks_runtime::handlers![inner::hidden, self::told]
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(hooks_runtime::handlers![handlers::called, crate::handlers::inner::told,])?;
    hooks.register(handlers::all())?;
    hooks.register(hooks_runtime::handlers![])?;
    Ok(())
}
