// `hook_points!` and the attributes inside a `macro_rules!`.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_handlers, hook_points};

macro_rules! pair {
    ($vis:vis $model:ident $point:ident { $($field:ident: $ty:ty),* }, $handler:ident($payload:ty)) => {
        hook_points! {
            /// Declared by a macro.
            $vis $model $point { $($field: $ty),* }
        }

        #[hook_handler($point)]
        fn $handler(_: &$payload) {}
    };
}

pair!(pub void Told { n: u32, text: String }, told(ToldPayload));

macro_rules! results {
    ($point:ident -> $result:ty) => {
        hook_points! {
            pub modifying $point { n: u32 } -> $result;
        }
    };
}

#[derive(Default, hooks_runtime::Merge)]
pub struct Amendment {
    pub text: Option<String>,
}

results!(Amended -> Amendment);

macro_rules! plugin {
    ($plugin:ident, $id:literal, $point:path, $payload:ty) => {
        struct $plugin;

        #[hook_handlers(plugin = $id)]
        impl $plugin {
            #[hook_handler($point)]
            fn listens(&self, _: &$payload) {}
        }
    };
}

plugin!(Audit, "audit", Told, ToldPayload);

macro_rules! merged {
    ($name:ident { $($field:ident: $ty:ty),* }) => {
        #[derive(Default, hooks_runtime::Merge)]
        struct $name { $($field: $ty),* }
    };
}

merged!(Other { text: Option<String> });

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![told])?;
    let _audit = hooks.install(Audit)?;
    assert!(Other::default().text.is_none());
    Ok(())
}
