//! Answers of others that are kept in a file.

mod replay_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::json::{Value, json};
use hooks_runtime::replay::{Cassette, CassetteError, CassetteMode};
use hooks_runtime::{FireError, Gate, HookContext, HookRegistry, hook_points};
use replay_support::Folder;

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// Before a file is opened.
    #[hook(on_failure = "closed")]
    pub gating Opening { path: String }
    /// What goes with a file.
    pub modifying Dressing { path: String } -> { icon: String }
}

/// Fires with handlers that have the cassette around them. What each fire came to, and how
/// often the service was asked.
async fn opened(cassette: &Cassette, paths: &[&str]) -> (Vec<String>, usize) {
    let (hooks, catalogue, asked) = (HookRegistry::new(), points(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    let scan = move |file: Value| -> Result<Value, String> {
        let number = count.fetch_add(1, Ordering::Relaxed);
        match file["path"].as_str() {
            Some("locked") => Err("the scanner is locked".to_owned()),
            Some("bad") => Ok(json!({"verdict": "reject", "reason": format!("bad, {number}")})),
            _ => Ok(json!({"verdict": "pass"})),
        }
    };
    let handler = cassette.handler("scanner", scan);
    hooks.register(catalogue.on("opening").unwrap().name("scan").handler(handler)).unwrap();
    let mut came = Vec::new();
    for path in paths {
        let payload = OpeningPayload { path: (*path).to_owned() };
        came.push(match hooks.fire_gating::<Opening>(payload).await {
            Ok(Gate::Passed(_)) => "passed".to_owned(),
            Ok(Gate::Rejected(rejection)) => rejection.reason().to_string(),
            Err(FireError::Failed(failure)) => failure.to_string(),
            Err(error) => panic!("{error}"),
        });
    }
    (came, asked.load(Ordering::Relaxed))
}

const LOCKED: &str = "handler `scan` (built-in) at `opening`: the scanner is locked";

/// L37, L38: what a service decided, and that it failed, is given again, and nothing is called.
#[tokio::test]
async fn l37_what_is_recorded_once_is_given_again_and_a_failure_is_one() {
    let folder = Folder::new();
    let file = folder.file("scan.jsonl");
    let paths = ["good", "bad", "locked", "bad"];
    let expected = ["passed", "bad, 1", LOCKED, "bad, 3"];
    let first = Cassette::open(&file, CassetteMode::Once).unwrap();
    assert_eq!(
        opened(&first, &paths).await,
        (expected.iter().map(ToString::to_string).collect(), 4)
    );
    assert_eq!((first.recorded(), first.unused()), (4, 0));

    for mode in [CassetteMode::Once, CassetteMode::None, CassetteMode::New] {
        let again = Cassette::open(&file, mode).unwrap();
        assert_eq!(again.unused(), 4);
        let (came, asked) = opened(&again, &paths).await;
        assert_eq!((came, asked), (expected.iter().map(ToString::to_string).collect(), 0));
        assert_eq!((again.recorded(), again.unused()), (0, 0));
    }
}

/// L38: what is not in the file is an error in `none`, and in `once` where there is a file; it
/// is recorded in `new`.
#[tokio::test]
async fn l38_the_modes_differ_in_what_is_not_in_the_file() {
    let folder = Folder::new();
    let file = folder.file("scan.jsonl");
    let path = file.display();
    let missing = Cassette::open(&file, CassetteMode::None).unwrap_err();
    assert_eq!(
        missing.to_string(),
        format!("there is no cassette `{path}`: record it once, with `CassetteMode::Once`")
    );
    let once = Cassette::open(&file, CassetteMode::Once).unwrap();
    assert_eq!(opened(&once, &["good"]).await.1, 1);

    for (mode, how) in [
        (CassetteMode::None, "`CassetteMode::New`"),
        (
            CassetteMode::Once,
            "`CassetteMode::New`, or delete it: in `CassetteMode::Once` only what there is no file \
             for is recorded",
        ),
    ] {
        let cassette = Cassette::open(&file, mode).unwrap();
        // Asked more often than it was recorded is not recorded either.
        let (came, asked) = opened(&cassette, &["good", "good", "bad"]).await;
        let not_recorded = |path_asked: &str| {
            format!(
                "handler `scan` (built-in) at `opening`: `scanner` was asked what is not in the \
                 cassette `{path}`: {{\"path\":\"{path_asked}\"}}; to record it, open the cassette \
                 with {how}"
            )
        };
        assert_eq!(came, ["passed".to_owned(), not_recorded("good"), not_recorded("bad")]);
        assert_eq!((asked, cassette.recorded()), (0, 0));
    }

    let new = Cassette::open(&file, CassetteMode::New).unwrap();
    assert_eq!(opened(&new, &["good", "bad"]).await, (vec!["passed".into(), "bad, 0".into()], 1));
    let none = Cassette::open(&file, CassetteMode::None).unwrap();
    assert_eq!(opened(&none, &["bad", "good"]).await, (vec!["bad, 0".into(), "passed".into()], 0));

    // All of it anew: what is not asked again is gone.
    let all = Cassette::open(&file, CassetteMode::All).unwrap();
    assert_eq!(opened(&all, &["bad"]).await, (vec!["bad, 0".into()], 1));
    assert_eq!(Cassette::open(&file, CassetteMode::None).unwrap().unused(), 1);
    let text = std::fs::read_to_string(&file).unwrap();
    let line = r#"{"v":1,"who":"scanner","request":{"path":"bad"},"answer":{"reason":"bad, 0","verdict":"reject"}}"#;
    assert_eq!(text, format!("{line}\n"));
}

/// What a handler is given besides its payload is passed on, and is not part of the request.
#[tokio::test]
async fn a_handler_has_its_context_and_what_was_merged() {
    let folder = Folder::new();
    let cassette = Cassette::open(folder.file("icons.jsonl"), CassetteMode::New).unwrap();
    let (hooks, catalogue) = (HookRegistry::new(), points());
    let icon = |_: Value, cx: &HookContext, merged: Value| {
        assert_eq!(merged, json!({}));
        json!({"icon": cx.handler()})
    };
    let on = catalogue.on("dressing").unwrap().name("icons");
    hooks.register(on.handler(cassette.handler("icons", icon))).unwrap();
    let dressed = hooks.fire_modifying::<Dressing>(&DressingPayload { path: "a".into() }).await;
    assert_eq!(dressed.unwrap().icon.as_deref(), Some("icons"));
}

#[test]
fn a_file_that_is_no_cassette_says_which_line_and_what_to_do() {
    let folder = Folder::new();
    let file = folder.file("scan.jsonl");
    let good = r#"{"v":1,"who":"scanner","request":1,"answer":null}"#;
    for (bad, problem) in [
        ("{", "EOF while parsing an object at line 1 column 1"),
        (
            r#"{"v":2,"who":"a","request":1,"answer":1}"#,
            "it has version 2, and this reads version 1",
        ),
        (r#"{"v":1,"who":"a","request":1}"#, "it needs either `answer` or `failed`"),
        (
            r#"{"v":1,"who":"a","request":1,"answer":1,"failed":"no"}"#,
            "it needs either `answer` or `failed`",
        ),
    ] {
        std::fs::write(&file, format!("{good}\n\n{bad}\n")).unwrap();
        let error = Cassette::open(&file, CassetteMode::New).unwrap_err();
        assert!(matches!(error, CassetteError::BadLine { line: 3, .. }));
        assert_eq!(
            error.to_string(),
            format!(
                "line 3 of the cassette `{}` cannot be used: {problem}; correct it, or delete the \
                 file and record it again, with `CassetteMode::Once`",
                file.display()
            )
        );
    }
    std::fs::write(&file, good).unwrap();
    assert_eq!(Cassette::open(&file, CassetteMode::None).unwrap().unused(), 1);
}

/// A file that cannot be written is a failure of the handler, and its answer is not used: it
/// would be another one the next time.
/// L12: a line that is none, and who was asked, are said as text that shows as itself.
#[tokio::test]
async fn l12_what_is_wrong_with_a_cassette_forges_nothing_where_it_is_printed() {
    let folder = Folder::new();
    let file = folder.file("scan\u{1b}[2J.jsonl");
    let missing = Cassette::open(&file, CassetteMode::None).unwrap_err().to_string();
    std::fs::write(&file, "{\"\\u001b[2J\\n\":1}\n").unwrap();
    let bad = Cassette::open(&file, CassetteMode::None).unwrap_err().to_string();
    assert!(bad.contains(r"unknown field `\u{1b}[2J\n`"), "{bad:?}");
    std::fs::write(&file, "").unwrap();
    let cassette = Cassette::open(&file, CassetteMode::None).unwrap();
    let call = async |_| Ok::<_, std::io::Error>(json!(null));
    let unknown = cassette.ask("\u{1b}[2J", json!("\u{202e}"), call).await.unwrap_err().to_string();
    for said in [missing, bad, unknown] {
        assert!(said.contains(r"scan\u{1b}[2J.jsonl`"), "{said:?}");
        assert!(!said.chars().any(|char| char.is_control() || char == '\u{202e}'), "{said:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_is_a_failure() {
    let folder = Folder::new();
    let file = folder.file("missing/scan.jsonl");
    let cassette = Cassette::open(&file, CassetteMode::Once).unwrap();
    let (came, _) = opened(&cassette, &["good"]).await;
    let begin = format!(
        "handler `scan` (built-in) at `opening`: the cassette `{}` cannot be written: ",
        file.display()
    );
    assert!(came[0].starts_with(&begin), "{came:?}");
    assert_eq!(cassette.recorded(), 0);
    // Nor is it written later, beside another.
    std::fs::create_dir(folder.file("missing")).unwrap();
    opened(&cassette, &["bad"]).await;
    assert_eq!(cassette.recorded(), 1);
    assert_eq!(Cassette::open(&file, CassetteMode::None).unwrap().unused(), 1);
}

/// What could not be read again is not written: it would take all other answers with it.
#[tokio::test]
async fn l38_an_answer_that_is_too_deep_to_be_read_is_a_failure() {
    let folder = Folder::new();
    let file = folder.file("deep.jsonl");
    let cassette = Cassette::open(&file, CassetteMode::New).unwrap();
    let ask = async |depth: usize| {
        let deep = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let call = async |_| Ok::<_, std::io::Error>(deep);
        cassette.ask("digger", json!(depth), call).await.map_err(|error| error.to_string())
    };
    assert!(ask(100).await.is_ok());
    let begin = format!("the cassette `{}` cannot be written: ", file.display());
    let problem = ask(200).await.unwrap_err();
    assert_eq!(problem, begin + "what was asked or answered is nested too deep to be read again");
    assert_eq!(cassette.recorded(), 1);
    assert_eq!(Cassette::open(&file, CassetteMode::None).unwrap().unused(), 1);
}
