// Points, fields, handlers and methods that are compiled out.
use hooks_runtime::{HookRegistry, Merge, handlers, hook_handler, hook_handlers, hook_points};

hook_points! {
    #[cfg(any())]
    pub void Never { missing: Missing }

    #[cfg(all())]
    pub void Twice { n: u32 }
    #[cfg(any())]
    pub void Twice { text: String }

    pub modifying Amended {
        n: u32,
        #[cfg(any())]
        missing: Missing,
    } -> {
        #[cfg(any())]
        missing: Missing,
        text: String,
        #[cfg(all())]
        tags: Vec<String>,
    }

    #[cfg(any())]
    pub modifying NeverMerged(u32) -> Missing;
}

#[derive(Default, Merge)]
struct Amendment {
    #[cfg(any())]
    missing: Missing,
    text: Option<String>,
}

#[cfg(any())]
#[hook_handler(Never)]
fn never(_: &NeverPayload) {}

#[hook_handler(Never)]
#[cfg(any())]
fn never_either(_: &NeverPayload) {}

#[hook_handler(Twice)]
fn twice(_: &TwicePayload) {}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Twice)]
    fn twice(&self, _: &TwicePayload) {}

    #[cfg(any())]
    #[hook_handler(Never)]
    fn never(&self, _: &NeverPayload) {}

    #[hook_handler(Twice)]
    #[cfg(any())]
    fn twice(&self, _: &TwicePayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![twice])?;
    let audit = hooks.install(Audit)?;
    assert_eq!(audit.handles().unregister().removed(), 1);
    assert_eq!(AmendedResult::FIELDS, ["text", "tags"]);
    assert_eq!(Amendment::FIELDS, ["text"]);
    Ok(())
}
