//! Annotated functions, collected from the linked crates: registered in the
//! order of their paths, whole or not at all (L18).

use hooks_runtime::handler::{CollectError, collected};
use hooks_runtime::registry::Owner;
use hooks_runtime::{HookRegistry, PluginId, hook_handler, hook_handlers, hook_points};

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
        "expected handlers were not linked: elsewhere::depot::stamp; add `use elsewhere as _;` to \
         the program, or list them with `handlers!`; no handlers with these paths were linked: \
         collected::nobody, zone (did you mean `collected::zone`?); `collected()` returns those \
         that were",
    );
    // As `main` prints it.
    assert_eq!(
        format!("{error:?}"),
        "expected handlers were not linked:\n    elsewhere::depot::stamp\nthe linker leaves out a \
         crate that no code names; add to the program:\n    use elsewhere as _;\nor list the \
         handlers with `handlers!`\nno handlers with these paths were linked:\n    \
         collected::nobody\n    zone (did you mean `collected::zone`?)\n`collected()` returns \
         those that were",
    );
    let error = hooks.register_collected_expecting(["collected::nobody"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no handlers with these paths were linked: collected::nobody; `collected()` returns those \
         that were",
    );
    assert_eq!(
        format!("{error:?}"),
        "no handlers with these paths were linked:\n    collected::nobody\n`collected()` returns \
         those that were",
    );
    // A package's name is not what code calls its crate.
    let expected = ["plugin-crate::audit::note", "plugin_crate::audit::note"];
    let error = hooks.register_collected_expecting(expected).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected handlers were not linked: plugin-crate::audit::note, plugin_crate::audit::note; \
         add `use plugin_crate as _;` to the program, or list them with `handlers!`",
    );
    // The nearest path, for a slip in any part of it.
    let expected = ["collected::depot::stmp", "colected::north", "collected::depo::shelf::put"];
    let error = hooks.register_collected_expecting(expected).unwrap_err();
    let CollectError::Missing { missing, unlinked } = &error else { panic!("{error}") };
    assert_eq!(unlinked[..], ["colected"]);
    let missing: Vec<_> = missing.iter().map(|one| (one.is_unlinked, one.to_string())).collect();
    assert_eq!(
        missing,
        [
            (false, "collected::depot::stmp (did you mean `collected::depot::stamp`?)"),
            (true, "colected::north (did you mean `collected::north`?)"),
            (false, "collected::depo::shelf::put (did you mean `collected::depot::shelf::put`?)"),
        ]
        .map(|(is_unlinked, text)| (is_unlinked, text.to_owned())),
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
