//! What an editor shows while code is half typed: asks rust-analyzer, as an
//! editor would, about the sample crate in `src/sample.rs`.
//!
//! Left out unless asked for, because loading the workspace takes a while:
//! `.ci/editor` runs it, and says so where there is no rust-analyzer.

mod server;

use server::Server;

/// The sample as it is on disk.
const SAMPLE: &str = include_str!("../../src/sample.rs");

/// What a user types below the sample: a wrong key, and a body that ends in
/// the middle of a word.
const HALF_TYPED: &str = "
#[hook_handler(SessionStart, prioriti = 3)]
async fn half_typed(begun: &SessionStartPayload) {
    let text = begun.
}
";

/// A block of points in which the last one is only begun.
const HALF_DECLARED: &str = "
hook_points! {
    /// A whole one.
    pub void Whole { letters: u32 }

    pub modify
}

fn whole(whole: &WholePayload) -> u32 {
    whole.
}
";

#[test]
#[ignore = "needs rust-analyzer: run `.ci/editor`"]
fn names_lead_to_their_declarations_and_half_typed_code_completes() {
    let text = format!("{SAMPLE}{HALF_TYPED}{HALF_DECLARED}");
    let mut editor = Server::open("src/sample.rs", &text);

    // A name leads to where it is declared.
    let declared = editor.line_of("pub void SessionStart {");
    assert_eq!(editor.definition("#[hook_handler(", "SessionStart)]"), [declared]);
    assert_eq!(editor.definition("log_session(start: &", "SessionStartPayload"), [declared]);
    assert_eq!(editor.definition("fire_void::<", "SessionStart>"), [declared]);
    let function = editor.line_of("async fn log_session(");
    assert_eq!(editor.definition("handlers![", "log_session"), [function]);
    let in_a_module = editor.line_of("pub fn record(");
    assert_eq!(editor.definition("audit::", "record]"), [in_a_module]);
    let field = editor.line_of("/// Which session it is.") + 1;
    assert_eq!(editor.definition("println!(\"{}\", start.", "session_id"), [field]);
    let stage = editor.line_of("pub flow CallTool(");
    assert_eq!(editor.definition("BeforeExecute<", "CallTool>"), [stage]);

    // What is half typed completes, in a handler with a wrong key too.
    assert!(editor.completions("let text = begun.").contains(&"session_id".to_owned()));
    assert!(editor.completions("    whole.").contains(&"letters".to_owned()));
    // So it does in an attribute.
    assert!(editor.completions("#[hook_handler(Session").contains(&"SessionStart".to_owned()));
}
