//! The timeline in a terminal: every width keeps names whole, and colour and rows of
//! fires without handlers are there where they are wanted.

mod support;

use std::collections::BTreeSet;

use hooks_examples::agent::{Entry, Event, Record, Speaker};
use hooks_examples::day;
use hooks_examples::view::{self, Look, Summary};
use hooks_runtime::registry::Owner;
use support::{assert_golden, fires, transcript, without_times};

async fn lived() -> (Vec<Record>, Summary) {
    let house = day::house().expect("a house");
    let mut records = Vec::new();
    day::live(&house, |record| records.push(record)).await.expect("a day");
    let summary = view::summary(&house).expect("a summary");
    (records, summary)
}

fn wide(width: usize) -> Look {
    Look { width: Some(width), ..Look::default() }
}

/// All points, handlers and words for outcomes of the day.
fn names(records: &[Record]) -> BTreeSet<String> {
    let mut names: BTreeSet<_> = ["called", "unchanged", "changed", "refused", "claimed"]
        .into_iter()
        .chain(["unclaimed", "passed", "rewritten", "rejected", "answered"])
        .chain(["none called", "no handlers", "modifying", "claiming", "gating", "void", "flow"])
        .map(str::to_owned)
        .collect();
    for fired in records.iter().flat_map(fires) {
        names.insert(fired.report.point().to_owned());
        for row in fired.report.handlers() {
            if let Owner::Plugin(id) = row.owner() {
                names.insert(format!("{id}/{}", row.handler()));
            }
        }
    }
    names
}

#[tokio::test]
async fn the_terminal_is_the_golden_one() {
    let (records, summary) = lived().await;
    let text = transcript(wide(110), &records, &summary);
    assert_golden("terminal.txt", &without_times(&text));
}

#[tokio::test]
async fn no_line_is_too_long_and_no_name_is_broken() {
    let (records, summary) = lived().await;
    let names = names(&records);
    assert!(names.contains("allowlist/known_commands") && names.contains("tools:call-tool"));
    for all in [false, true] {
        let whole = transcript(Look { all, ..Look::default() }, &records, &summary);
        for width in 72..=130 {
            let text = transcript(Look { all, ..wide(width) }, &records, &summary);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "at {width}: {line}");
            }
            for name in &names {
                let (shown, expected) = (text.matches(name).count(), whole.matches(name).count());
                assert_eq!(shown, expected, "{name} is broken or cut at {width}");
            }
        }
    }
}

#[tokio::test]
async fn an_outcome_goes_on_under_itself_and_a_narrow_one_has_its_own_line() {
    let (records, _) = lived().await;
    let lines = |width| without_times(&wide(width).record(&records[0]));
    let at = |width, number: usize| lines(width).lines().nth(number).map(str::to_owned);
    let row = "    before_inbound          gating    telegram        passed by privacy/mask_keys,";
    assert_eq!(at(100, 2).as_deref(), Some(format!("{row} TIME").as_str()));
    assert_eq!(at(100, 3), Some(format!("{}privacy/no_passwords", " ".repeat(54))));
    let row = "    before_inbound          gating    telegram TIME";
    assert_eq!(at(80, 2).as_deref(), Some(row));
    let outcome = "        passed by privacy/mask_keys, privacy/no_passwords";
    assert_eq!(at(80, 3).as_deref(), Some(outcome));
}

#[tokio::test]
async fn fires_without_handlers_share_a_line_unless_all_are_wanted() {
    let (records, _) = lived().await;
    let folded = without_times(&Look::default().record(&records[1]));
    assert!(!folded.contains("no handlers"), "{folded}");
    let line =
        "\n    ~ 3 fires without handlers: message_received, message_sending, message_sent\n";
    assert!(folded.contains(line), "{folded}");

    let all = Look { all: true, ..Look::default() };
    let rows = without_times(&all.record(&records[1]));
    assert!(!rows.contains('~'), "{rows}");
    let row = "    message_received        void      cli             no handlers TIME\n";
    assert!(rows.contains(row), "{rows}");
    let quiet = records.iter().flat_map(fires).filter(|fired| fired.is_quiet()).count();
    let shown: String = records.iter().map(|record| all.record(record)).collect();
    assert_eq!(shown.matches("no handlers").count(), quiet);
    // More than once is a number.
    assert!(Look::default().record(&records[2]).contains("before_llm_call×6"));
}

#[tokio::test]
async fn colour_adds_nothing_but_colour() {
    let (records, summary) = lived().await;
    let plain = transcript(wide(110), &records, &summary);
    assert!(!plain.contains('\x1b'), "no colour was wanted");
    let coloured = transcript(Look { colour: true, ..wide(110) }, &records, &summary);
    for piece in [
        "\x1b[1m    before_inbound          \x1b[0m\x1b[36mgating    \x1b[0m",
        "\x1b[31mrefused\x1b[0m",
        "\x1b[31m    x run_command refused by allowlist/known_commands",
        "\x1b[1;36myou: \x1b[0mhelp",
        "\x1b[95mflow ",
    ] {
        assert!(coloured.contains(piece), "{piece:?}");
    }
    let mut text = String::new();
    for (number, piece) in coloured.split("\x1b[").enumerate() {
        let piece = if number == 0 { piece } else { piece.split_once('m').expect("a colour").1 };
        text.push_str(piece);
    }
    assert_eq!(text, plain);
}

#[test]
fn the_look_follows_the_output_and_no_color() {
    let set = Some("1".as_ref());
    let coloured = Look { colour: true, ..wide(120) };
    assert_eq!(Look::new(None, None), Look::default(), "a pipe has no colour");
    assert_eq!(Look::new(Some(120), None), coloured);
    assert_eq!(Look::new(Some(120), set), wide(120));
    assert_eq!(Look::new(Some(120), Some("".as_ref())), coloured, "empty asks for nothing");
}

#[test]
fn the_legend_has_every_model_and_mark() {
    let legend = Look::default().legend();
    let expected = "\
rows    point, model, subject, outcome with plugin/handler, time
models  void notifies   modifying amends   claiming asks who takes it   gating may reject   flow runs stages
marks   + changed   - not called   ! failed   x refused   > tool ran   * note   ~ no handlers (--all)
points  before_tool_call and claiming points that refuse are ported from Ethos; a new host declares a gate

";
    assert_eq!(legend, expected);
    let all = Look { all: true, ..Look::default() }.legend();
    assert_eq!(all, expected.replace("   ~ no handlers (--all)", ""));
    assert_eq!(wide(72).legend().lines().count(), 8, "two lines for all but the columns");
}

#[test]
fn words_are_wrapped_whole_and_a_longer_one_in_a_row_ends_in_dots() {
    let long = "a".repeat(100);
    let events = [
        Event::Said { by: Speaker::User, text: format!("see {long}\n\nand this") },
        Event::Note(format!("see {long} and go on")),
    ];
    let entries = events.map(|event| Entry { depth: 0, event }).into();
    let record = Record { title: "t".into(), personality: "p".into(), entries };
    let expected = format!(
        "== t, as p\nyou: see\n  {}\n  {}\n\n  and this\n    * see\n      {}…\n      and go on\n\n",
        "a".repeat(70),
        "a".repeat(30),
        "a".repeat(65),
    );
    assert_eq!(wide(72).record(&record), expected);
}

#[tokio::test]
async fn the_picture_is_the_committed_one() {
    let (records, _) = lived().await;
    let picture = view::picture(&records);
    let path = support::workspace().join("examples/timeline.svg");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &picture).expect("the picture can be written");
    }
    let committed = std::fs::read_to_string(path).expect("the picture");
    assert_eq!(shown(&committed), shown(&picture), "set UPDATE=1 to take it");
    // What is in it shows all five models.
    let text = shown(&picture);
    for point in ["before_inbound", "gateway_message", "session_start", "tools:call-tool"] {
        assert!(text.contains(&format!("    {point} ")), "{text}");
    }
}

/// The text of a picture, without times.
fn shown(picture: &str) -> String {
    let pieces = picture.split('<').map(|piece| piece.split_once('>').map_or("", |it| it.1));
    without_times(&pieces.collect::<String>())
}
