//! Annotated functions, collected from the linked crates: registered in the
//! order of their paths, whole or not at all (L18).

use hooks_runtime::{
    HookRegistry, Owner, PluginId, collected, hook_handler, hook_handlers, hook_points,
};

hook_points! {
    /// A parcel is sorted.
    pub void Sorted { n: u32 }
    /// Where it goes.
    pub claiming Route { n: u32 } -> &'static str;
}

// Neither written nor named in the order of their paths.

#[hook_handler(Sorted)]
fn zone(_: &SortedPayload) {}

#[hook_handler(Route, plugin = "carrier", name = "first of all")]
async fn north(_: &RoutePayload) -> Option<&'static str> {
    Some("north")
}

mod depot {
    use super::{Sorted, SortedPayload};
    use hooks_runtime::hook_handler;

    #[hook_handler(Sorted, priority = -5)]
    pub(super) async fn stamp(_: &SortedPayload) {}

    pub(super) mod shelf {
        use crate::{Sorted, SortedPayload};
        use hooks_runtime::hook_handler;

        #[hook_handler(Sorted)]
        pub(crate) fn put(_: &SortedPayload) {}
    }
}

/// Methods have a state that cannot be collected: they are installed.
#[allow(dead_code)]
struct Office;

#[hook_handlers(plugin = "office")]
impl Office {
    #[hook_handler(Sorted)]
    fn counter(&self, _: &SortedPayload) {}
}

const PATHS: [&str; 4] = [
    "collected::depot::shelf::put",
    "collected::depot::stamp",
    "collected::north",
    "collected::zone",
];

fn names(hooks: &HookRegistry) -> Vec<String> {
    hooks.handlers_at::<Sorted>().iter().map(|info| info.name.to_string()).collect()
}

#[tokio::test]
async fn l18_collected_functions_are_registered_in_the_order_of_their_paths() {
    assert_eq!(collected(), PATHS);
    let hooks = HookRegistry::new();
    let handles = hooks.register_collected().unwrap();
    let registered: Vec<_> = handles.iter().map(|handle| handle.name().unwrap()).collect();
    let expected = ["put", "stamp", "first of all", "zone"];
    assert_eq!(registered.iter().map(|name| &**name).collect::<Vec<_>>(), expected);
    // The options of the annotation hold.
    assert_eq!(names(&hooks), ["stamp", "put", "zone"]);
    let carrier = Owner::Plugin(PluginId::new("carrier").unwrap());
    assert_eq!(hooks.handlers_at::<Route>()[0].owner, carrier);
    let route = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap();
    assert_eq!(route.claimed(), Some("north"));
    hooks.fire_void::<Sorted>(&SortedPayload { n: 1 }).await.unwrap();
    assert_eq!(hooks.handlers().iter().map(|info| info.calls).collect::<Vec<_>>(), [1; 4]);
}

#[test]
fn l18_what_was_expected_and_is_not_there_is_an_error_and_nothing_is_registered() {
    let hooks = HookRegistry::new();
    let expected = ["collected::north", "collected::nobody", "elsewhere::depot::stamp", "zone"];
    let error = hooks.register_collected_expecting(expected).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected handlers were not linked: collected::nobody, elsewhere::depot::stamp, zone; \
         add `use elsewhere as _;` to the program, or list them with `handlers!`",
    );
    // As `main` prints it.
    assert_eq!(
        format!("{error:?}"),
        "expected handlers were not linked:\n    collected::nobody\n    \
         elsewhere::depot::stamp\n    zone\nthe linker leaves out a crate that no code names; add \
         to the program:\n    use elsewhere as _;\nor list the handlers with `handlers!`",
    );
    let error = hooks.register_collected_expecting(["collected::nobody"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected handlers were not linked: collected::nobody; their crates are linked, so check \
         the paths against `collected()`",
    );
    assert_eq!(
        format!("{error:?}"),
        "expected handlers were not linked:\n    collected::nobody\ntheir crates are linked, so \
         check the paths against `collected()`",
    );
    assert!(hooks.handlers().is_empty());
    let handles = hooks.register_collected_expecting(PATHS).unwrap();
    assert_eq!(handles.len(), 4);
}

#[test]
fn l18_collected_functions_are_registered_whole_or_not_at_all() {
    let hooks = HookRegistry::new();
    // The last by path is there already.
    hooks.register(hooks_runtime::handlers![zone]).unwrap();
    let zone = hooks.handlers()[0].location;
    let error = hooks.register_collected().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(
        error.to_string(),
        format!(
            "`zone` (built-in) is registered at `sorted` already: give it another name, or say \
             `replace`; the first is at {zone}, the second at {zone}"
        ),
    );
    assert_eq!(hooks.handlers().len(), 1);
}
