//! What models, tools and messages say steers no terminal, breaks out of no
//! column and hides nothing on the page.

use hooks_examples::agent::{Entry, Event, Record, Speaker};
use hooks_examples::view::{self, Look, Summary};
use hooks_points::{ToolErrorCode, ToolResult};
use serde_json::json;

/// Clears the screen, forges a line, turns the rest around and hides a letter.
const NASTY: &str = "no\u{1b}[2J\r! fake\u{202e}\u{2028}\u{200b}.";
const SHOWN: &str = r"no\u{1b}[2J\r! fake\u{202e}\u{2028}\u{200b}.";

fn record() -> Record {
    let nasty = || NASTY.to_owned();
    let events = [
        Event::Said { by: Speaker::User, text: format!("first\n{NASTY}") },
        Event::Ran {
            tool: nasty(),
            args: json!({ "text": NASTY }),
            result: ToolResult::failure(ToolErrorCode::InputInvalid, NASTY),
        },
        Event::Refused { what: nasty(), reason: format!("one\ntwo {NASTY}"), by: nasty() },
        Event::Note(nasty()),
        Event::Failed(nasty()),
        Event::Said { by: Speaker::Agent, text: nasty() },
    ];
    let entries = events.map(|event| Entry { depth: 0, event }).into();
    Record { title: nasty(), personality: nasty(), entries }
}

/// Characters that steer, and those that turn or hide.
fn is_hostile(char: char) -> bool {
    (char.is_control() && char != '\n') || ['\u{202e}', '\u{2028}', '\u{200b}'].contains(&char)
}

#[test]
fn l21_no_view_passes_on_what_does_not_show_as_itself() {
    let (record, summary) = (record(), Summary(vec![("sessions", NASTY.to_owned())]));
    let text = |look: Look| look.record(&record) + &look.summary(&summary);
    let views = [
        ("plain", text(Look::default())),
        ("a terminal", text(Look { width: Some(120), ..Look::default() })),
        ("page", view::page(std::slice::from_ref(&record), &summary)),
    ];
    for (view, text) in views {
        assert!(!text.contains(is_hostile), "{view}: {text:?}");
        assert!(text.contains(SHOWN), "{view}: {text}");
        // A line of what was said stays one; a reason keeps to its row.
        assert!(text.contains(r"one\ntwo"), "{view}: {text}");
        assert!(!text.contains(r"first\n"), "{view}: {text}");
    }
}

#[test]
fn l21_the_plain_view_has_a_line_for_each_thing() {
    let text = Look::default().record(&record());
    // The title, two lines that were said, four events, one that was said, the end.
    assert_eq!(text.lines().count(), 9, "{text}");
}
