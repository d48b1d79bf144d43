//! Handlers as most are written: annotated functions, listed in `handlers!`.

use hooks_runtime::{HookRegistry, handlers, hook_handler};

use crate::points::{Tell, TellPayload, work};

macro_rules! annotated {
    ($($name:ident)*) => {
        $(
            #[hook_handler(Tell)]
            async fn $name(p: &TellPayload) {
                work(p.n);
            }
        )*

        /// A registry with all of them.
        pub(crate) fn eight() -> HookRegistry {
            let hooks = HookRegistry::new();
            hooks.register(handlers![$($name),*]).expect("they are registered");
            hooks
        }
    };
}

annotated! { first second third fourth fifth sixth seventh eighth }
