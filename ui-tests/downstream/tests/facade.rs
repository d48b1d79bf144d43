//! A crate that has the runtime only as part of another one, and says so once.
#![forbid(unsafe_code)]
#![deny(warnings, unused_must_use, clippy::pedantic)]

extern crate hooks_ui_facade as hooks_runtime;

use hooks_ui_facade::hooks::{
    handlers, hook_handler, hook_handlers, hook_points, FailurePolicy, HookRegistry, Merge,
};

hook_points! {
    /// A drawer was opened.
    pub void Opened { drawer: u32 }
    /// Before a list is printed.
    pub modifying Listing(u32) -> Heading;
}

/// What stands above a list.
#[derive(Debug, Default, Merge)]
pub struct Heading {
    /// The text.
    pub text: Option<String>,
}

#[hook_handler(Opened, on_failure = "closed", priority = 1)]
fn opened(_: &OpenedPayload) {}

mod inner {
    use hooks_ui_facade::hooks::hook_handler;

    #[hook_handler(super::Opened)]
    pub(super) async fn opened(_: &super::OpenedPayload) {}
}

struct Printer;

#[hook_handlers(plugin = "printer")]
impl Printer {
    #[start]
    async fn warm_up(&self) -> Result<(), String> {
        Ok(())
    }

    #[hook_handler(Listing)]
    fn heading(&self, list: &u32) -> Heading {
        Heading { text: Some(format!("list {list}")) }
    }

    #[stop]
    fn cool_down(&self) {}
}

#[tokio::test]
async fn no_handler_names_the_crate_where_it_is_named_once() {
    let registry = HookRegistry::new();
    registry.register(handlers![opened]).unwrap();
    registry.registrar("inner").unwrap().register(handlers![inner::opened]).unwrap();
    assert_eq!(registry.handlers_of("built-in")[0].policy, FailurePolicy::Closed);
    let printer = registry.start(Printer).await.unwrap();
    registry.fire_void::<Opened>(&OpenedPayload { drawer: 1 }).await.unwrap();
    let listed = registry.fire_modifying::<Listing>(&4).await.unwrap();
    assert_eq!(listed.text.as_deref(), Some("list 4"));
    printer.uninstall().await;
}
