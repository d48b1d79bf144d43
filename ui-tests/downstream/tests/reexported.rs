//! A crate that has the runtime only as part of another one.
#![forbid(unsafe_code)]
#![deny(warnings, clippy::pedantic)]

use hooks_ui_facade::hooks::{
    self, handlers, hook_handler, hook_handlers, hook_points, HookRegistry, Merge,
};

hook_points! {
    /// A drawer was opened.
    pub void Opened { drawer: u32 }
    /// Before a list is printed.
    pub modifying Listing(u32) -> Heading;
}

/// What stands above a list.
#[derive(Debug, Default, Merge)]
#[merge(crate = hooks)]
pub struct Heading {
    /// The text.
    pub text: Option<String>,
}

#[hook_handler(Opened, crate = hooks)]
fn opened(_: &OpenedPayload) {}

struct Printer;

#[hook_handlers(plugin = "printer", crate = ::hooks_ui_facade::hooks)]
impl Printer {
    #[hook_handler(Listing)]
    fn heading(&self, list: &u32) -> Heading {
        Heading { text: Some(format!("list {list}")) }
    }
}

#[tokio::test]
async fn every_macro_works_through_a_re_export() {
    let registry = HookRegistry::new();
    registry.register(handlers![opened]).unwrap();
    let _printer = registry.install(Printer).unwrap();
    registry.fire_void::<Opened>(&OpenedPayload { drawer: 1 }).await.unwrap();
    let listed = registry.fire_modifying::<Listing>(&4).await.unwrap();
    assert_eq!(listed.text.as_deref(), Some("list 4"));
}
