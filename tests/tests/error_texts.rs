//! What `main` prints of an error that it returns, for every public error type (L20):
//! the text and what caused it, and the structure for `{:#?}` only.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use hooks_runtime::background::{SettleError, TrySpawnError};
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::error::{DefaultPanicked, FailureKind, NestingError};
use hooks_runtime::handler::CollectError;
use hooks_runtime::json::JsonError;
use hooks_runtime::plugin::{DrainError, PluginId, Refusal, StartError, StopFailure};
use hooks_runtime::registry::Owner;
use hooks_runtime::{FireError, FlowError, HookRegistry, Plugins, RegisterError, on};

mod shop {
    hooks_runtime::hook_points! {
        #![hook(json = "snake_case", catalogue = pub fn points)]
        /// An order was placed.
        #[hook(on_failure = "closed")]
        pub void Ordered { item: String }
        /// One order, stage by stage.
        pub flow Place(u32) -> u32;
    }
}

mod till {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub fn points)]
        /// The same wire name again.
        pub void Ordered { sum: u32 }
    }
}

use shop::{Ordered, OrderedPayload, Place};

/// An error with a cause of its own.
#[derive(Debug)]
struct NoStock(io::Error);

impl fmt::Display for NoStock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stock is not known")
    }
}

impl Error for NoStock {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn no_stock() -> Box<NoStock> {
    Box::new(NoStock(io::Error::other("the disk is\nfull")))
}

fn order() -> OrderedPayload {
    OrderedPayload { item: "lamp".to_owned() }
}

/// What the standard library prints of the error of `main`.
fn printed(error: impl Error + 'static) -> String {
    let main = || -> Result<(), Box<dyn Error>> { Err(error)? };
    format!("Error: {:?}", main().unwrap_err())
}

fn plugin() -> Owner {
    Owner::Plugin(PluginId::new("stock").unwrap())
}

async fn handler_failed() -> FireError {
    let hooks = HookRegistry::new();
    let check = on::<Ordered>().name("check").plugin("stock");
    hooks.register(check.handler(|_: &OrderedPayload| Err::<(), _>(no_stock()))).unwrap();
    hooks.fire_void::<Ordered>(&order()).await.unwrap_err()
}

async fn flow_failed() -> FlowError {
    let hooks = HookRegistry::new();
    hooks.flow::<Place>().run(1, async |_| Err::<u32, _>(no_stock())).await.unwrap_err()
}

#[tokio::test]
async fn l20_main_prints_the_text_of_every_error() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Ordered>().name("log").handler(|_: &OrderedPayload| ())).unwrap();
    let again = on::<Ordered>().name("log").handler(|_: &OrderedPayload| ());
    let RegisterError::Duplicate(duplicate) = hooks.register(again).unwrap_err() else { panic!() };
    let duplicate_text = duplicate.to_string();
    let twice = Catalogue::merge([shop::points(), till::points()]).unwrap_err();
    let (clash, twice_text) = (twice.clashes()[0].clone(), twice.to_string());
    let scope = hooks.scope(Plugins::All).with(7_u32);
    let value = scope.try_with(8_u32).unwrap_err();
    let value_text = value.to_string();
    let json = hooks.json(&shop::points()).fire("ordered", r#"{"item":5}"#).await.unwrap_err();
    let JsonError::Mismatch(mismatch) = &json else { panic!("{json}") };
    let mismatch = mismatch.clone();
    let FireError::Failed(failure) = handler_failed().await else { panic!() };
    let stopped = || StopFailure::Error("the till is open".to_owned());

    let of_handler = "handler `check` (plugin `stock`) at `ordered`: the stock is not known\n  \
                      caused by: the disk is\\nfull";
    let of_mismatch = "the payload of `ordered` does not fit at `item`: invalid type: integer `5`, \
                       expected a string at line 1 column 9";
    let table = [
        (printed(failure), of_handler),
        (printed(handler_failed().await), of_handler),
        (printed(FlowError::Fire(handler_failed().await)), of_handler),
        (printed(JsonError::Fire(handler_failed().await)), of_handler),
        (printed(flow_failed().await), "the stock is not known\n  caused by: the disk is\\nfull"),
        (
            printed(FlowError::Invalid { flow: "place", error: no_stock() }),
            "the input of `place` is not valid: the stock is not known\n  caused by: the disk \
             is\\nfull",
        ),
        (
            printed(StartError::Failed { plugin: "stock", kind: FailureKind::Error(no_stock()) }),
            "plugin `stock` did not start: the stock is not known\n  caused by: the disk is\\nfull",
        ),
        (
            printed(StartError::Refused(RegisterError::GivenTwice { plugin: "stock".into() })),
            "plugin `stock` is in the group twice: a registry has one plugin of an id; leave one \
             out",
        ),
        (printed(*duplicate.clone()), &duplicate_text),
        (printed(RegisterError::Duplicate(duplicate)), &duplicate_text),
        (printed(clash.clone()), &twice_text),
        (printed(RegisterError::NameClash(clash)), &twice_text),
        (printed(twice), &twice_text),
        (printed(value), &value_text),
        (printed(mismatch), of_mismatch),
        (printed(json), of_mismatch),
        (
            printed(NestingError { limit: 2, chain: vec!["a", "b", "a"] }),
            "fires are nested deeper than 2: a > b > a; end the recursion, or raise `max_depth` of \
             the builder",
        ),
        (
            printed(DefaultPanicked { result: "shop::Price", message: "no price".into() }),
            "the default of `shop::Price` panicked: no price; no handler was called: write a \
             `Default` that cannot panic",
        ),
        (
            printed(CollectError::Register(RegisterError::NeedsStart { plugin: "stock".into() })),
            "plugin `stock` has a `#[start]`, which is not run here: use \
             `hooks.start(plugin).await` or `hooks.start_all(plugins).await`",
        ),
        (
            printed(hooks.register_collected_expecting(["depot::stamp"]).unwrap_err()),
            "expected handlers were not linked:\n    depot::stamp\nthe linker leaves out a crate \
             that no code names; add to the program:\n    use depot as _;\nor list the handlers \
             with `handlers!`",
        ),
        (
            printed(DrainError::StopFailed { plugin: plugin(), failure: stopped() }),
            "the `#[stop]` of plugin `stock` failed: the till is open",
        ),
        (printed(stopped()), "the till is open"),
        (
            printed(SettleError::StillRunning { running: 2, waited: Duration::from_secs(3) }),
            "after 3s the background has not settled, fires under way: 2; wait again, or give \
             their handlers a time limit",
        ),
        (
            printed(TrySpawnError::Full { payload: (), limit: 4 }),
            "4 fires are under way in the background, as many as the registry allows: try again \
             later, await `fire_void`, or raise `max_background` of the builder",
        ),
        (
            printed(PluginId::new("a b").unwrap_err()),
            "`a b` cannot be a plugin id: it has a character that is not allowed; an id is 1 to 64 \
             ASCII letters, digits, `-`, `_` or `.`, and starts and ends with a letter or digit",
        ),
        (printed(Refusal::TooMany { most: 2 }), "it may have at most 2 handlers"),
    ];
    for (printed, text) in table {
        assert_eq!(printed, format!("Error: {text}"));
    }
}

#[tokio::test]
async fn l20_the_structure_of_an_error_is_its_alternate_form() {
    let structure = "NestingError {\n    limit: 2,\n    chain: [\n        \"a\",\n    ],\n}";
    assert_eq!(format!("{:#?}", NestingError { limit: 2, chain: vec!["a"] }), structure);
    let nested = FireError::Nesting(Box::new(NestingError { limit: 2, chain: vec!["a"] }));
    let inner = structure.replace('\n', "\n    ");
    assert_eq!(format!("{nested:#?}"), format!("Nesting(\n    {inner},\n)"));
    assert_eq!(format!("{:#?}", FireError::Cancelled), "Cancelled");
    assert_eq!(
        format!("{:#?}", PluginId::new("").unwrap_err()),
        "PluginIdError {\n    id: \"\",\n    problem: \"it is empty\",\n}",
    );
    let full = TrySpawnError::Full { payload: "secret", limit: 4 };
    assert_eq!(format!("{full:#?}"), "Full {\n    limit: 4,\n    ..\n}");
    // All of what a handler failed with, also the errors of other crates.
    let failed = format!("{:#?}", flow_failed().await);
    assert!(failed.starts_with("Operation(\n    NoStock(\n"), "{failed}");
}

/// Text of others stays in its line, and one that panics is no second failure.
#[test]
fn l20_the_cause_of_an_error_may_be_hostile() {
    #[derive(Debug)]
    struct Hostile;
    impl fmt::Display for Hostile {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("no text")
        }
    }
    impl Error for Hostile {}
    let error = FlowError::Operation(Box::new(NoStock(io::Error::other(Hostile))));
    let text = "the stock is not known\n  caused by: printing the error panicked: no text";
    assert_eq!(format!("{error:?}"), text);
}
