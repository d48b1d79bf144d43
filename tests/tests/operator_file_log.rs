//! What the log has of an operator's file (L20, L34). One test, in a program of its own: a
//! subscriber of one thread misses events while others come and go.

mod file_support;
mod support;

use file_support::{host, load};
use hooks_runtime::operator::SettingsFile;
use support::events::Lines;
use support::{Log, keep_quiet};

const DISABLE: &str = "[[setting]]\ntarget = 'placed:audit/*'\nmode = 'disable'\n";

#[test]
fn l20_the_log_has_what_begins_what_leaves_and_what_is_refused() {
    keep_quiet(&["not today"]);
    let log = Log::new();
    let _guard = tracing::subscriber::set_default(Lines(log.clone()));
    let hooks = host();
    let operator = hooks.operator();
    let fields = ["id: 1", "layer: \"file\"", "break_glass: false"].map(str::to_owned);
    let setting = |event: &str| {
        let message = format!("message: an operator's setting {event}: disable placed:audit/*");
        [&[message], &fields[..]].concat()
    };
    load(&operator, DISABLE).unwrap();
    assert_eq!(log.take(), setting("begins"));
    load(&operator, DISABLE).unwrap();
    operator.preview(&SettingsFile::parse("x = 1")).unwrap_err();
    assert!(log.is_empty());

    // All mistakes, in one line.
    load(&operator, "x = 1\n\"y\\u001b\" = 2").unwrap_err();
    assert_eq!(
        log.take(),
        ["message: an operator's file was refused: the file has 2 mistakes, so nothing of it was \
          applied: line 1, `x`: this key is unknown; known here: `setting`; line 2, `y\\u{1b}`: \
          this key is unknown; known here: `setting`"]
    );
    load(&operator, "").unwrap();
    assert_eq!(log.take(), setting("left the file"));

    // Without a timer: it is looked at once, and the function of the host panics each time.
    let follow = operator.follow("no\n/hooks.toml");
    futures::executor::block_on(follow.run(|_| panic!("not today")));
    let said = log.take();
    let refused = "message: an operator's file was refused: `no\\n/hooks.toml`";
    assert!(said[0].starts_with(&format!("{refused} cannot be read: ")), "{said:?}");
    assert!(said[3].starts_with(&format!("{refused} is not looked at again: ")), "{said:?}");
    let panicked = ["message: what follows an operator's file panicked", "panic: not today"];
    assert_eq!(
        (&said[1..3], &said[4..]),
        (&panicked.map(str::to_owned)[..], &panicked.map(str::to_owned)[..])
    );
}
