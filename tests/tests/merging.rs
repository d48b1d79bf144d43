//! What handlers of a modifying point return, and how it is merged (L08).
// Conditions that always hold are what a field is tried with.
#![allow(clippy::non_minimal_cfg)]

mod support;

use std::io;

use futures::executor::block_on;
use hooks_runtime::model::FieldSet;
use hooks_runtime::report::{Contribution, FireReport, HandlerStatus};
use hooks_runtime::{HookContext, HookRegistry, Merge, hook_points, on};
use support::Log;

hook_points! {
    /// Before a letter is sent.
    #[result(derive(PartialEq, Eq))]
    pub modifying Letter { to: String } -> { greeting: &'static str, body: &'static str, regards: &'static str }
    /// Its result has fields that are compiled out, or in.
    pub modifying Chest { to: String } -> {
        #[cfg(any())]
        never: u8,
        mark: u8,
        #[cfg(not(any()))]
        seal: u8,
        lid: u8,
    }
    /// Its result is a type that exists.
    pub modifying Parcel { to: String } -> Label;
}

/// The second field is never there; those after it keep their places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Merge)]
pub struct Label {
    pub name: Option<u8>,
    #[cfg(any())]
    pub never: Option<u8>,
    pub street: Option<u8>,
    #[cfg(not(any()))]
    pub town: Option<u8>,
    pub country: Option<u8>,
}

fn letter() -> LetterPayload {
    LetterPayload { to: "the harbour".to_owned() }
}

fn greeting(text: &'static str) -> LetterResult {
    LetterResult { greeting: Some(text), ..Default::default() }
}

fn error() -> io::Error {
    io::Error::other("out of ink")
}

/// What a handler set, if it ran.
fn set_by(report: &FireReport, name: &str) -> Option<Vec<&'static str>> {
    match report.handler(name)?.status() {
        HandlerStatus::Ran(Contribution::Fields(fields)) => Some(fields.clone()),
        _ => None,
    }
}

#[test]
fn l08_every_form_of_answer_is_merged() {
    for form in 0..4 {
        let hooks = HookRegistry::new();
        let on = on::<Letter>().name("h");
        let registration = match form {
            0 => on.handler(|_: &LetterPayload| greeting("Ahoy")),
            1 => on.handler(|_: &LetterPayload| Some(greeting("Ahoy"))),
            2 => on.handler(|_: &LetterPayload| Ok::<_, io::Error>(greeting("Ahoy"))),
            _ => on.handler(|_: &LetterPayload| Ok::<_, io::Error>(Some(greeting("Ahoy")))),
        };
        hooks.register(registration).unwrap();
        let merged = block_on(hooks.fire_modifying::<Letter>(&letter())).unwrap();
        assert_eq!(merged, greeting("Ahoy"), "form {form}");
    }
}

#[test]
fn l08_no_opinion_and_failures_contribute_nothing() {
    for form in 0..4 {
        let hooks = HookRegistry::new();
        let on = on::<Letter>().name("h");
        let registration = match form {
            0 => on.handler(|_: &LetterPayload| None::<LetterResult>),
            1 => on.handler(|_: &LetterPayload| Ok::<Option<LetterResult>, io::Error>(None)),
            2 => on.handler(|_: &LetterPayload| Err::<LetterResult, _>(error())),
            _ => on.handler(|_: &LetterPayload| Err::<Option<LetterResult>, _>(error())),
        };
        hooks.register(registration).unwrap();
        let (merged, report) = block_on(hooks.fire_modifying_reported::<Letter>(&letter()));
        assert_eq!(merged.unwrap(), LetterResult::default(), "form {form}");
        let status = report.handler("h").unwrap().status();
        if form < 2 {
            assert_eq!(*status, HandlerStatus::Ran(Contribution::Nothing), "form {form}");
        } else {
            assert!(matches!(status, HandlerStatus::Failed { kind: "error", .. }), "form {form}");
        }
        assert_eq!(hooks.handlers()[0].failures, u64::from(form >= 2), "form {form}");
    }
}

#[test]
fn l08_the_first_value_of_each_field_wins_and_the_report_says_whose() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Letter>().name("first").handler(|_: &LetterPayload| LetterResult {
                body: Some("The tide is high."),
                ..Default::default()
            }),
            on::<Letter>().name("second").handler(|_: &LetterPayload| LetterResult {
                greeting: Some("Ahoy"),
                body: Some("too late"),
                regards: Some("Yours"),
            }),
            on::<Letter>().name("third").handler(|_: &LetterPayload, cx: &HookContext| {
                let merged = cx.merged::<Letter>().unwrap();
                assert_eq!(merged.greeting, Some("Ahoy"), "what was merged so far");
                greeting("too late as well")
            }),
        ])
        .unwrap();
    let (merged, report) = block_on(hooks.fire_modifying_reported::<Letter>(&letter()));
    let expected = LetterResult {
        greeting: Some("Ahoy"),
        body: Some("The tide is high."),
        regards: Some("Yours"),
    };
    assert_eq!(merged.unwrap(), expected);
    assert_eq!(set_by(&report, "first"), Some(vec!["body"]));
    assert_eq!(set_by(&report, "second"), Some(vec!["greeting", "regards"]));
    assert_eq!(set_by(&report, "third"), Some(vec![]));
}

#[test]
fn l08_a_field_that_is_compiled_out_takes_no_place() {
    assert_eq!(Label::FIELDS, ["name", "street", "town", "country"]);
    let hooks = HookRegistry::new();
    let label = Label { street: Some(2), town: Some(3), country: Some(4), ..Default::default() };
    let handler =
        on::<Parcel>().name("h").handler_with(label.clone(), |label: &Label, _: &_| label.clone());
    hooks.register(handler).unwrap();
    let payload = ParcelPayload { to: String::new() };
    let (merged, report) = block_on(hooks.fire_modifying_reported::<Parcel>(&payload));
    assert_eq!(merged.unwrap(), label);
    assert_eq!(set_by(&report, "h"), Some(vec!["street", "town", "country"]));
    assert_eq!(label.filled().names::<Label>(), ["street", "town", "country"]);
}

#[test]
fn l08_a_declared_field_that_is_compiled_out_takes_no_place() {
    assert_eq!(ChestResult::FIELDS, ["mark", "seal", "lid"]);
    let hooks = HookRegistry::new();
    let seal = |_: &ChestPayload| ChestResult { seal: Some(1), ..Default::default() };
    let lid = |_: &ChestPayload| ChestResult { lid: Some(2), seal: Some(3), mark: None };
    hooks
        .register([
            on::<Chest>().name("seal").handler(seal),
            on::<Chest>().name("lid").handler(lid),
        ])
        .unwrap();
    let payload = ChestPayload { to: "the harbour".to_owned() };
    let (chest, report) = block_on(hooks.fire_modifying_reported::<Chest>(&payload));
    let chest = chest.unwrap();
    assert_eq!((chest.mark, chest.seal, chest.lid), (None, Some(1), Some(2)));
    assert_eq!(set_by(&report, "seal"), Some(vec!["seal"]));
    assert_eq!(set_by(&report, "lid"), Some(vec!["lid"]));
}

#[test]
fn l08_a_set_of_fields_holds_what_was_put_in() {
    let mut set = FieldSet::new();
    assert!(set.is_empty());
    assert!((0..64).all(|index| !set.contains(index)));
    for index in [1, 63] {
        set.insert(index);
        set.insert(index);
    }
    assert!(!set.is_empty());
    let held: Vec<_> = (0..66).filter(|&index| set.contains(index)).collect();
    assert_eq!(held, [1, 63]);
    assert_eq!(set.names::<Label>(), ["street"]);
}

#[test]
fn l29_the_payload_of_a_lazy_fire_is_made_for_listeners_only() {
    let hooks = HookRegistry::new();
    for _ in 0..2 {
        let unheard = hooks.fire_modifying_with::<Letter>(|| panic!("there are no handlers"));
        assert_eq!(block_on(unheard).unwrap(), LetterResult::default());
    }
    let ahoy = async |text: &&'static str, letter: &LetterPayload| {
        assert_eq!(letter.to, "the harbour");
        greeting(text)
    };
    hooks.register_modifying_with::<Letter, _>("Ahoy", ahoy).unwrap();
    let merged = block_on(hooks.fire_modifying_with::<Letter>(letter)).unwrap();
    assert_eq!(merged, greeting("Ahoy"));
}

#[derive(Debug, Default, Merge)]
pub struct Mark {
    text: Option<&'static str>,
}

hook_points! {
    /// Marks the outside.
    pub modifying Outside(u32) -> Mark;
    /// Marks the inside.
    pub modifying Inside(u32) -> Mark;
}

#[tokio::test]
async fn l08_what_was_merged_is_there_for_its_own_point_only() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let seen = log.clone();
    let looks = move |_: &u32, cx: &HookContext| {
        let (outside, inside) = (cx.merged::<Outside>(), cx.merged::<Inside>());
        seen.push(format!("{:?} {:?}", outside.map(|label| label.text), inside.is_some()));
        None::<Mark>
    };
    let labels = |_: &u32| Mark { text: Some("fragile") };
    hooks.register([on::<Outside>().handler(labels), on::<Outside>().handler(looks)]).unwrap();
    hooks.fire_modifying::<Outside>(&1).await.unwrap();
    assert_eq!(log.take(), [r#"Some(Some("fragile")) false"#]);
}
