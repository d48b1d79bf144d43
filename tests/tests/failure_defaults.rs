//! How a result begins is the host's code, which a modifying fire runs: a panic in
//! it is an error of the fire, and no handler is called (L12).

mod support;

use std::cell::Cell;
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedFire, Observer};
use hooks_runtime::{FireError, HookRegistry, Merge, hook_points, on};
use serde::{Deserialize, Serialize};
use support::{Log, keep_quiet};

thread_local! {
    /// Whether a result can be made on this thread.
    static IS_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Cannot be made while the paper is out.
#[derive(Clone, Debug, PartialEq, Merge, Serialize, Deserialize)]
pub struct Sheet {
    text: Option<String>,
}

impl Default for Sheet {
    fn default() -> Self {
        assert!(!IS_OUT.get(), "out of paper");
        Self { text: None }
    }
}

hook_points! {
    #![hook(json = "snake_case", catalogue = fn points)]

    /// Before something is printed.
    pub modifying Printing(u32) -> Sheet;
}

const EXPECTED: &str = "the default of `failure_defaults::Sheet` panicked: out of paper; no \
                        handler was called: write a `Default` that cannot panic";

fn sheet(text: &str) -> Sheet {
    Sheet { text: Some(text.to_owned()) }
}

/// The error of every form of fire.
async fn errors(hooks: &HookRegistry) -> Vec<String> {
    let points = points();
    let (reported, report) = hooks.fire_modifying_reported::<Printing>(&1).await;
    assert!(report.handlers().is_empty(), "{report}");
    let error = hooks.fire_modifying::<Printing>(&1).await.unwrap_err();
    let FireError::DefaultPanicked(panicked) = &error else { panic!("{error}") };
    assert_eq!(panicked.message, "out of paper");
    let lazy = hooks.fire_modifying_with::<Printing>(|| 1).await;
    let named = hooks.json(&points).fire("printing", "1").await;
    vec![
        error.to_string(),
        reported.unwrap_err().to_string(),
        lazy.unwrap_err().to_string(),
        named.unwrap_err().to_string(),
    ]
}

#[tokio::test]
async fn l12_a_result_that_cannot_be_made_is_an_error_and_no_handler_is_called() {
    keep_quiet(&["out of paper"]);
    let hooks = HookRegistry::new();
    let prints = |_: &u32| sheet("printed");
    hooks.register(on::<Printing>().plugin("press").handler(prints)).unwrap();
    IS_OUT.set(true);
    assert_eq!(errors(&hooks).await, [EXPECTED; 4]);
    assert_eq!(hooks.handlers_at::<Printing>()[0].calls, 0);

    IS_OUT.set(false);
    assert_eq!(hooks.fire_modifying::<Printing>(&1).await.unwrap(), sheet("printed"));
    assert_eq!(hooks.handlers_at::<Printing>()[0].calls, 1);
}

#[tokio::test]
async fn l12_a_result_that_cannot_be_made_is_an_error_where_there_are_no_handlers() {
    keep_quiet(&["out of paper"]);
    let hooks = HookRegistry::new();
    IS_OUT.set(true);
    // The first fires are those of a point that the registry has not met yet.
    assert_eq!(errors(&hooks).await, [EXPECTED; 4]);
    assert_eq!(errors(&hooks).await, [EXPECTED; 4]);
}

/// Notes the ends of fires.
#[derive(Debug)]
struct Ends(Log);

impl Observer for Ends {
    fn fire_started(&self, fire: &ObservedFire) {
        self.0.push(format!("{} starts", fire.point()));
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        let FireEnd::Failed(error) = end else { panic!("{end:?}") };
        self.0.push(format!("{} ends: {error}", fire.point()));
    }
}

#[tokio::test]
async fn l20_a_reported_fire_whose_result_cannot_be_made_has_one_end() {
    keep_quiet(&["out of paper"]);
    let log = Log::new();
    let hooks = HookRegistry::builder().observer(Ends(log.clone())).build();
    hooks.register(on::<Printing>().handler(|_: &u32| sheet("printed"))).unwrap();
    IS_OUT.set(true);
    let (printed, _) = hooks.fire_modifying_reported::<Printing>(&1).await;
    assert_eq!(printed.unwrap_err().to_string(), EXPECTED);
    assert_eq!(log.take(), ["printing starts".to_owned(), format!("printing ends: {EXPECTED}")]);
}
