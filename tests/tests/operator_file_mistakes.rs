//! What is said of each mistake in an operator's file (L34, L35), and that a file with one
//! changes nothing. The table in the guide is made from here: run with
//! `UPDATE_FILE_MISTAKES=1` to write it anew, then read the difference.

mod file_support;

use std::path::Path;

use file_support::{EXAMPLE, host, in_days, load};
use hooks_runtime::operator::{FileError, FileProblem, OperatorError, SettingsFile};
use proptest::prelude::*;

const TARGET: &str = "target = \"placed:stats/count\"";

/// What is in the file behind the head of an entry, and all that is said of it. A snippet
/// without a target gets one in the line before.
const IN_AN_ENTRY: &[(&str, &[&str])] = &[
    // The text.
    (
        "mode = disable",
        &["line 3, `mode`: this is no TOML: string values must be quoted, expected literal string"],
    ),
    ("mode = \"disable", &["line 3, `mode`: this is no TOML: invalid basic string, expected `\"`"]),
    (
        "mode = \"disable\"\nmode = \"shadow\"",
        &["line 4, `mode`: this key is given twice: keep one of the two"],
    ),
    (
        "mod = \"disable\"\nsample = 0.5",
        &["line 3, `mod`: this key is unknown; did you mean `mode`?"],
    ),
    (
        "colour = \"red\"\nsample = 0.5",
        &["line 3, `colour`: this key is unknown; known here: `target`, `mode`, `time_limit`, \
           `on_failure`, `sample`, `rate_limit`, `breaker`, `force_breaker`, `by`, `why`, `until`, \
           `fail_closed`, `break_glass` or `even_if_none`"],
    ),
    (
        "by = \"ops\"",
        &[
            "line 1: this entry sets nothing: add one or more of `mode`, `time_limit`, `on_failure`, \
           `sample`, `rate_limit`, `breaker` or `force_breaker`",
        ],
    ),
    // Targets.
    (
        "target = \"placed:stats/cuont\"\nsample = 0.5",
        &["line 2, `target`: no handler is `placed:stats/cuont`; did you mean \
           `placed:stats/count`? For one that comes later, add `even_if_none = true`"],
    ),
    (
        "target = \"beta\"\nsample = 0.5",
        &[
            "line 2, `target`: `beta` is no target: it has no `:` between the point and the handler; \
           a target is `point:plugin/handler`, or `point:handler` for a built-in one, with `*` for \
           any text, and `point:*` for all of a point",
        ],
    ),
    (
        "target = [\"placed:*\"]\nsample = 0.5",
        &["line 2, `target`: expected a string, found an array"],
    ),
    // Values.
    (
        "mode = \"disabel\"",
        &[
            "line 3, `mode`: expected `enforce`, `disable`, `shadow` or `warn`, found `disabel`; did \
           you mean `disable`?",
        ],
    ),
    (
        "mode = true",
        &[
            "line 3, `mode`: expected `enforce`, `disable`, `shadow` or `warn` as a string, found a \
           boolean",
        ],
    ),
    (
        "on_failure = \"retry\"",
        &["line 3, `on_failure`: expected `open` or `closed`, found `retry`"],
    ),
    (
        "force_breaker = \"half-open\"",
        &["line 3, `force_breaker`: expected `open` or `closed`, found `half-open`"],
    ),
    ("sample = 1.5", &["line 3, `sample`: a fraction is between 0 and 1, not 1.5"]),
    (
        "sample = \"25 %\"",
        &["line 3, `sample`: expected a number from 0 to 1, as 0.25, found a string"],
    ),
    (
        "time_limit = 200",
        &["line 3, `time_limit`: a duration is a string with a unit, as \"200ms\" or \"200s\""],
    ),
    (
        "time_limit = \"0.2s\"",
        &["line 3, `time_limit`: `0.2s` is no duration: write a whole number and a unit, as in \
           \"200ms\"; the units are ns, us, ms, s, m and h"],
    ),
    (
        "time_limit = \"0s\"",
        &[
            "line 3, `time_limit`: a time limit is longer than nothing; to call no handler, disable \
           it",
        ],
    ),
    (
        "time_limit = \"10s\"",
        &[
            "line 3, `time_limit`: a time limit of 10s changes nothing: `placed:stats/count` has one \
           of 2s, and an operator only shortens it",
        ],
    ),
    (
        "rate_limit = \"100/s\"",
        &["line 3, `rate_limit`: expected a table, as `{ calls = 100, per = \"1s\" }`, found a \
           string"],
    ),
    (
        "rate_limit = { calls = 100 }",
        &["line 3, `rate_limit`: `per` is missing: a rate is so many calls in such a time, as \
           `{ calls = 100, per = \"1s\" }`"],
    ),
    (
        "rate_limit = { calls = -1, per = \"1s\" }",
        &["line 3, `rate_limit.calls`: expected an integer from 0 to 4294967295, found -1"],
    ),
    (
        "rate_limit = { calls = 0, per = \"1s\" }",
        &["line 3, `rate_limit`: a limit of 0 calls would refuse every call: use 1 or more, or \
           disable the handler"],
    ),
    (
        "rate_limit = { calls = 100, per = \"1s\", burst = 0 }",
        &["line 3, `rate_limit.burst`: expected an integer from 1 to 4294967295, found 0"],
    ),
    (
        "breaker = { consecutive = 0 }",
        &["line 3, `breaker.consecutive`: expected an integer from 1 to 4294967295, found 0"],
    ),
    (
        "breaker = { percent = 50, at_least = 40000 }",
        &["line 3, `breaker.at_least`: expected an integer from 1 to 32768, found 40000"],
    ),
    (
        "breaker = { open_for = \"30s\" }",
        &[
            "line 3, `breaker`: a breaker counts failures in a row, as `{ consecutive = 5 }`, or in \
           a hundred calls, as `{ percent = 50 }`: give one of the two",
        ],
    ),
    (
        "breaker = { consecutive = 5, over = \"10s\" }",
        &[
            "line 3, `breaker.over`: this belongs to `percent`, and the breaker counts failures in a \
           row: leave it out",
        ],
    ),
    (
        "breaker = { percent = 101 }",
        &["line 3, `breaker.percent`: expected an integer from 1 to 100, found 101"],
    ),
    // By whom, why and until when.
    ("mode = \"disable\"\nwhy = \"\"", &["line 4, `why`: expected a text that people can read"]),
    (
        "mode = \"disable\"\nuntil = \"2h\"",
        &["line 4, `until`: a duration would begin anew each time that the file is read: write a \
           date and a time with an offset, without quotes, as 2027-01-31T18:00:00Z"],
    ),
    (
        "mode = \"disable\"\nuntil = 2027-01-31T18:00:00",
        &["line 4, `until`: `2027-01-31T18:00:00` has no offset, so it would be another time in \
           each time zone: add `Z`, or an offset as `+01:00`"],
    ),
    (
        "mode = \"disable\"\nuntil = 2027-01-31",
        &[
            "line 4, `until`: `2027-01-31` is a part of a time only: expected a date and a time with \
           an offset, without quotes, as 2027-01-31T18:00:00Z",
        ],
    ),
    (
        "mode = \"disable\"\nuntil = 2027-02-30T18:00:00Z",
        &["line 4, `until`: this is no TOML: invalid date, expected day between 01 and 28"],
    ),
    (
        "mode = \"disable\"\nuntil = 9999-12-31T23:59:59Z",
        &["line 4, `until`: a setting ends within a year: give a time of at most 365 days from \
           now, or leave `until` out where it is to hold as long as it is in the file"],
    ),
    // The rules.
    (
        "target = \"placing:limits/*\"\nmode = \"disable\"",
        &["line 3, `mode`: `disable` of `placing:limits/not_too_much` would open the gate \
           `placing`: if that is meant, add `break_glass = true`, a `why` and an `until`"],
    ),
    (
        "target = \"shipping:*\"\nbreaker = { consecutive = 5 }",
        &["line 3, `breaker`: `breaker` of `shipping:carrier/check` would let payloads pass \
           `shipping`, which fails open: if that is meant, add `break_glass = true`, a `why` and \
           an `until`, or make the handler fail closed with it: `fail_closed = true`"],
    ),
    (
        "target = \"placing:limits/*\"\nmode = \"disable\"\nbreak_glass = true",
        &["line 4, `break_glass`: a break-glass setting has a reason: add a `why`"],
    ),
    (
        "target = \"placing:limits/*\"\nmode = \"disable\"\nbreak_glass = true\nwhy = \"sale\"",
        &["line 4, `break_glass`: a break-glass setting has an end: add an `until`, as `until = \
           2027-01-31T18:00:00Z`"],
    ),
    (
        "mode = \"shadow\"",
        &["line 3, `mode`: `placed:stats/count` cannot run in shadow: it is void, so its effects \
           are all it has; declare it `pure` if it has none, or disable it"],
    ),
    (
        "mode = \"warn\"",
        &["line 3, `mode`: `placed:stats/count` cannot warn: only a guard of a gating point can; \
           use `shadow`"],
    ),
    (
        "target = \"orders:close/finally:*\"\nmode = \"shadow\"",
        &[
            "line 3, `mode`: `orders:close/finally:stats/close` cannot run in shadow: a handler of a \
           stage changes the context of its run; disable it instead",
        ],
    ),
    (
        "target = \"orders:close/finally:*\"\nrate_limit = { calls = 1, per = \"1s\" }\n\
         fail_closed = true",
        &["line 4, `fail_closed`: `orders:close/finally:stats/close` cannot fail closed: the \
           outcome of a run stands when its `finally` begins"],
    ),
    (
        "on_failure = \"open\"\nfail_closed = true",
        &["line 3, `on_failure`: it cannot fail open and closed at once"],
    ),
];

/// Whole files.
const WHOLE: &[(&str, &[&str])] = &[
    ("disable", &["line 1: this is no TOML: key with no value, expected `=`"]),
    (
        "[setting]\ntarget = \"placed:stats/count\"\nmode = \"disable\"",
        &["line 1, `setting`: expected an array of tables, each of which begins with \
           `[[setting]]`, found a table"],
    ),
    (
        "[[settings]]\ntarget = \"placed:stats/count\"",
        &["line 1, `settings`: this key is unknown; did you mean `setting`?"],
    ),
    ("[plugins]\nstats = true", &["line 1, `plugins`: this key is unknown; known here: `setting`"]),
    (
        "[[setting]]\nmode = \"disable\"",
        &["line 1: `target` is missing: an entry says for which handlers it is, as `target = \
           \"placed:mail/confirm\"`"],
    ),
    (
        "[[setting]]\ntarget = \"placed:*\"\nsample = 0.5\n[[setting]]\ntarget = \"placed:*\"\n\
         sample = 0.1",
        &["line 6, `sample`: line 3 sets this for the same target: keep one of the two"],
    ),
];

fn text_of(snippet: &str) -> String {
    let target = if snippet.starts_with("target") { String::new() } else { format!("{TARGET}\n") };
    format!("[[setting]]\n{target}{snippet}\n")
}

/// All cases: what the table shows, the text, and what is said.
fn cases() -> impl Iterator<Item = (&'static str, String, &'static [&'static str])> {
    let entries = IN_AN_ENTRY.iter().map(|(snippet, said)| (*snippet, text_of(snippet), *said));
    entries.chain(WHOLE.iter().map(|(text, said)| (*text, (*text).to_owned(), *said)))
}

fn said(error: &FileError) -> Vec<String> {
    let FileError::Mistakes { mistakes, .. } = error else { panic!("{error}") };
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn l34_every_mistake_says_its_line_its_key_and_what_was_expected() {
    for (_, text, expected) in cases() {
        let hooks = host();
        let operator = hooks.operator();
        load(&operator, "[[setting]]\ntarget = 'placed:mail/*'\nsample = 0.5").unwrap();
        let before = operator.settings();
        let refused = load(&operator, &text).expect_err(&text);
        assert_eq!(said(&refused), expected, "{text}");
        let preview = operator.preview(&SettingsFile::parse(&text)).unwrap_err();
        assert_eq!(preview, refused, "{text}");
        assert_eq!(operator.settings(), before, "{text}");
    }
}

#[test]
fn the_table_of_the_guide_is_what_is_said() {
    let mut page =
        "# What is said of a mistake\n\nAll mistakes of a file are said at once, in the \
                    order of lines. Of a part of an entry, the line before it is the head \
                    `[[setting]]`, with a target that exists where none is shown.\n\n\
                    | in the file | what is said |\n|---|---|\n"
            .to_owned();
    for (shown, _, said) in cases() {
        let shown: Vec<_> = shown.lines().map(|line| format!("`{line}`")).collect();
        page += &format!("| {} | {} |\n", shown.join("<br>"), said.join("<br>"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../hooks-runtime/src/docs/guides/settings_in_a_file_mistakes.md");
    if std::env::var_os("UPDATE_FILE_MISTAKES").is_some() {
        return std::fs::write(&path, page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(page == written, "the table is not current: run with UPDATE_FILE_MISTAKES=1");
}

#[test]
fn all_mistakes_are_said_at_once_in_the_order_of_lines() {
    let hooks = host();
    let text = "\
[[setting]]
target = 'placed:mial/*'
mode = 'disabel'
time_limit = '200'

[[setting]]
target = 'placing:limits/*'
mode = 'disable'

[[setting]]
target = 'placed:stats/*'
until = 2027-01-31T18:00:00
on_failure = open
sample = 2

[[seting]]

[[setting]]
target = 'pricing:offers/nwe'
mode = 'shadow'
mode = 'warn'
";
    let refused = load(&hooks.operator(), text).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the file has 10 mistakes, so nothing of it was applied
line 2, `target`: no handler is `placed:mial/*`; did you mean `placed:mail/*`? For one that comes \
later, add `even_if_none = true`
line 3, `mode`: expected `enforce`, `disable`, `shadow` or `warn`, found `disabel`; did you mean \
`disable`?
line 4, `time_limit`: `200` is no duration: write a whole number and a unit, as in \"200ms\"; the \
units are ns, us, ms, s, m and h
line 8, `mode`: `disable` of `placing:limits/not_too_much` would open the gate `placing`: if that \
is meant, add `break_glass = true`, a `why` and an `until`
line 12, `until`: `2027-01-31T18:00:00` has no offset, so it would be another time in each time \
zone: add `Z`, or an offset as `+01:00`
line 13, `on_failure`: this is no TOML: string values must be quoted, expected literal string
line 14, `sample`: a fraction is between 0 and 1, not 2
line 16, `seting`: this key is unknown; did you mean `setting`?
line 19, `target`: no handler is `pricing:offers/nwe`; did you mean `pricing:offers/new`? For one \
that comes later, add `even_if_none = true`
line 21, `mode`: this key is given twice: keep one of the two",
    );
}

/// What could not be read may be the form that is missed, and its line is a mistake already.
#[test]
fn one_mistake_brings_about_no_other() {
    let hooks = host();
    let operator = hooks.operator();
    for (text, expected) in [
        // The end cannot be read, so its absence is not said.
        (
            "[[setting]]\ntarget = 'placing:limits/*'\nmode = 'disable'\nbreak_glass = true\n\
             why = 'sale'\nuntil = '2h'",
            "line 6, `until`",
        ),
        (
            "[[setting]]\ntarget = 'placing:limits/*'\nmode = 'disable'\nbreak_glass = yes\n\
             why = 'sale'",
            "line 4, `break_glass`",
        ),
        ("[[setting]]\ntarget = 'placed:stats/count\nmode = 'disable'", "line 2, `target`"),
        ("[[setting]\ntarget = 'placed:stats/count'\nmode = 'disable'", "line 1"),
        ("[[setting]]\ntarget = 'placed:stats/count'\nmode =", "line 3, `mode`"),
        ("[[setting]]\ntagret = 'placed:stats/count'\nmode = 'disable'", "line 2, `tagret`"),
        ("[[setting]]\ntarget = 'placed:stats/count'\nmod = 'disable'", "line 3, `mod`"),
        ("[[setting]]\ntarget = '*:beta/*'\nmode = 'x'\neven_if_none = true", "line 3, `mode`"),
        // A target is wrong once, however much is set for it.
        ("[[setting]]\ntarget = 'placed:mial/*'\nsample = 0.5\ntime_limit = '1s'", "line 2"),
        (
            "[[setting]]\ntarget = 'placed:stats/count'\nrate_limit = { calls = x, per = 1 }",
            "line 3",
        ),
    ] {
        let said = said(&load(&operator, text).unwrap_err());
        assert_eq!(said.len(), 1, "{text}\n{said:#?}");
        assert!(said[0].starts_with(expected), "{said:?}");
    }
    // What is wrong with any form is said as well.
    let text = "[[setting]]\ntarget = 'placed:stats/*'\nmode = 'shadow'\nbreak_glass = yes";
    let said = said(&load(&operator, text).unwrap_err());
    assert_eq!(said.len(), 2);
    assert!(said[0].contains("cannot run in shadow"), "{said:?}");
}

#[test]
fn bytes_that_are_no_text_have_a_line_and_a_mark_at_the_beginning_is_no_mistake() {
    let hooks = host();
    let operator = hooks.operator();
    let text = b"[[setting]]\ntarget = 'placed:stats/count'\nmode = 'disable'\nwhy = '\xff'\n";
    let refused = operator.load(&SettingsFile::parse(text)).unwrap_err();
    assert_eq!(
        said(&refused),
        ["line 4, `why`: this line is not UTF-8: save the file in that encoding"]
    );
    let marked = format!("\u{feff}{}", text_of("mode = 'disable'"));
    assert_eq!(load(&operator, &marked).unwrap().begins().count(), 1);
    let windows = text_of("mode = 'disable'").replace('\n', "\r\n");
    assert!(load(&operator, &windows).unwrap().changes_nothing());
}

#[test]
fn a_huge_file_is_refused_and_many_mistakes_are_cut_short() {
    let hooks = host();
    let operator = hooks.operator();
    let fits = format!("#{}", " ".repeat((1 << 20) - 1));
    assert!(load(&operator, &fits).is_ok());
    let refused = load(&operator, &format!("{fits} ")).unwrap_err();
    assert_eq!(said(&refused), ["line 1: a file of settings has at most 1048576 bytes"]);

    let refused = load(&operator, &"x\n".repeat(250)).unwrap_err();
    let text = refused.to_string();
    assert!(text.starts_with("the file has 250 mistakes,"), "{text}");
    assert!(text.ends_with("\nand 150 more"), "{text}");

    // As many settings as a registry can have, and one more.
    let entry = |number: usize| {
        format!(
            "[[setting]]\ntarget = 'placed:stats/*{number}'\nsample = 0.5\neven_if_none = true\n"
        )
    };
    let most: String = (0..500).map(entry).collect();
    let refused = load(&operator, &(most.clone() + &entry(500))).unwrap_err();
    let too_many = "with those that an operator set, 500 settings are the most: use fewer with `*`";
    assert_eq!(said(&refused), [format!("line 2003, `sample`: {too_many}")]);
    let live = operator.disable("placed:audit/*").apply().unwrap();
    assert_eq!(
        said(&load(&operator, &most).unwrap_err()),
        [format!("line 1999, `sample`: {too_many}")],
    );
    operator.clear(live.id()).unwrap();
    assert_eq!(load(&operator, &most).unwrap().begins().count(), 500);
    assert_eq!(
        operator.disable("placed:audit/*").apply().unwrap_err(),
        OperatorError::TooMany { most: 500 },
    );
}

#[test]
fn text_of_a_file_is_escaped_where_people_read_it() {
    let hooks = host();
    let text = "[[setting]]\ntarget = \"x\\u001b[2J:y\"\nmode = \"\\u202e\\n\"\n\"ke\\ny\" = 1\n";
    let refused = load(&hooks.operator(), text).unwrap_err().to_string();
    assert_eq!(refused.lines().count(), 4, "{refused}");
    assert!(refused.chars().all(|char| char == '\n' || !char.is_control()), "{refused:?}");
    assert!(refused.contains(r"`x\u{1b}[2J:y`") && refused.contains(r"found `\u{202e}\n`"));
    assert!(refused.contains(r"line 4, `ke\ny`"), "{refused}");
}

#[test]
fn the_problem_is_there_as_data() {
    let hooks = host();
    let refused = load(&hooks.operator(), &text_of("time_limit = '10s'")).unwrap_err();
    // `main` prints an error as people read it.
    assert_eq!(format!("{refused:?}"), refused.to_string());
    assert!(format!("{refused:#?}").starts_with("Mistakes {"));
    let FileError::Mistakes { file: None, mistakes, more: 0 } = &refused else { panic!() };
    assert_eq!((mistakes[0].line, mistakes[0].key.as_deref()), (3, Some("time_limit")));
    assert!(matches!(mistakes[0].problem, FileProblem::Refused(OperatorError::NotShorter { .. })));
}

/// Every beginning of the example, line by line and byte by byte.
#[test]
fn a_file_that_is_cut_off_is_read_or_refused() {
    let hooks = host();
    let operator = hooks.operator();
    let example = EXAMPLE.replace("2027-01-31T18:00:00Z", &in_days(30));
    for end in 0..=example.len() {
        let Some(text) = example.get(..end) else { continue };
        let file = SettingsFile::parse(text);
        let outcome = operator.preview(&file);
        if !file.mistakes().is_empty() {
            assert!(outcome.is_err(), "{text}");
        }
    }
    for (number, _) in example.lines().enumerate() {
        let without: Vec<_> =
            example.lines().enumerate().filter(|(at, _)| *at != number).map(|it| it.1).collect();
        let _ = operator.preview(&SettingsFile::parse(without.join("\n")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let hooks = host();
        let _ = hooks.operator().preview(&SettingsFile::parse(&bytes)).map_err(|it| it.to_string());
    }

    /// The example with a part replaced: most of these are nearly right.
    #[test]
    fn no_nearly_right_file_panics(
        at in 0..EXAMPLE.len(),
        cut in 0_usize..30,
        put in "[\\[\\]{}='\"#.,0-9a-z\n: -]{0,12}",
    ) {
        let (start, end) = (EXAMPLE.floor_char_boundary(at), EXAMPLE.floor_char_boundary((at + cut).min(EXAMPLE.len())));
        let text = format!("{}{put}{}", &EXAMPLE[..start], &EXAMPLE[end.max(start)..]);
        let hooks = host();
        let operator = hooks.operator();
        match operator.preview(&SettingsFile::parse(&text)) {
            Ok(preview) => prop_assert_eq!(
                preview.to_string(),
                load(&operator, &text).unwrap().to_string()
            ),
            Err(refused) => {
                let lines: Vec<_> = match &refused {
                    FileError::Mistakes { mistakes, .. } => mistakes.iter().map(|it| it.line).collect(),
                    other => panic!("{other}"),
                };
                prop_assert!(lines.is_sorted() && !lines.is_empty());
                prop_assert!(lines.iter().all(|line| (1..=text.lines().count() + 1).contains(line)));
                prop_assert!(load(&operator, &text).is_err());
                prop_assert_eq!(operator.settings(), []);
            }
        }
    }
}
