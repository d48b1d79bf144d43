//! Arbitrary and nearly right tokens: no macro panics or hangs, and items are
//! passed on.
//!
//! `PROPTEST_CASES` says how many inputs a macro is given.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proc_macro2::{TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::any_tokens::{changed, changes, stream, trees};
use super::support::{messages, tokens};

/// Inputs of each property, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 400;

/// So long may all inputs of one property take: beyond it one of them hangs.
const LONG: Duration = Duration::from_mins(10);

/// Blocks of points that are right.
const POINTS: [&str; 2] = [
    r#"#![hook(json = "camelCase", timeout = "3s", on_failure = "closed")]
    /// Doc.
    #[hook(timeout = "5s", name = "x")] #[payload(derive(PartialEq))]
    pub modifying Name { a: Option<Vec<u8>>, #[cfg(x)] b: u8 } -> { c: u8, #[cfg(y)] d: String }
    pub(crate) void Told { #[serde(default)] n: u32 }"#,
    r#"pub claiming Route(Message<u8>) -> Desk;
    #[hook(on_failure = "open")] #[deprecated] pub gating Check(crate::Call);
    pub gating Allow(crate::Call) -> Denied<u8>;
    #[hook(name = "a:b")] pub flow Run { name: String } -> { content: Vec<u8> }
    pub flow F(u8) -> [u8; 4];"#,
];

/// Arguments and items of handlers that are right.
const HANDLERS: [(&str, &str); 2] = [
    (
        r#"a::Point<B, C>, plugin = "x", name = "n", before = ["a", "b"], after = "c", guard,
        target = D<E, F>, priority = -1, timeout = "200ms", on_failure = "closed", crate = a::b"#,
        "#[cfg(unix)] fn check(call: &Call, cx: &HookContext) -> Verdict { Verdict::Pass }",
    ),
    (
        "BeforeExecute<Run>",
        "/// Doc.\npub async fn f(flow: &mut FlowContext<Run>) -> Result<(), E> { Ok(()) }",
    ),
];

/// Arguments and blocks of plugins that are right.
const PLUGINS: [(&str, &str); 1] = [(
    r#"plugin = "audit", crate = a::b"#,
    r#"impl Audit {
        #[hook_handler(Placed, on_failure = "closed")]
        async fn started(&self, order: &Order) -> Result<(), E> { Ok(()) }
        #[cfg(unix)] #[hook_handler(Check, guard)]
        fn no(&self, call: &Call, cx: &HookContext) -> Verdict { Verdict::Pass }
        #[hook_handler(BeforeExecute<Run>, target = "search")]
        async fn cached(&self, flow: &mut FlowContext<Run>) {}
        fn helper(&self) {}
    }"#,
)];

const MERGES: [&str; 1] =
    ["#[derive(Default)] #[merge(crate = a::b)] pub struct Amended<T: Clone> where T: Send {
        /// Doc.\n#[cfg(x)] pub a: Option<T>, b: ::core::option::Option<Vec<u8>>,
    }"];

/// Tries inputs at random, on a thread of their own: one that hangs is reported.
fn try_all<S>(what: &'static str, inputs: fn() -> S, expand: fn(&S::Value))
where
    S: Strategy + 'static,
{
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = asked.unwrap_or(CASES);
    let trying = Arc::new(Mutex::new(String::new()));
    let (done, ended) = channel();
    let now = Arc::clone(&trying);
    let tries = std::thread::spawn(move || {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let tried = TestRunner::new(config).run(&inputs(), |input| {
            *now.lock().unwrap() = format!("{input:?}");
            expand(&input);
            Ok(())
        });
        if let Err(failed) = tried {
            panic!("{what}: {failed}");
        }
        drop(done);
    });
    let ended: Result<(), _> = ended.recv_timeout(LONG);
    assert_ne!(ended, Err(RecvTimeoutError::Timeout), "{what} hangs: {}", trying.lock().unwrap());
    if let Err(panic) = tries.join() {
        std::panic::resume_unwind(panic);
    }
    println!("\nproof: macros, {what}: {cases} inputs, no panic, no hang");
}

/// Expands a block: the runtime's path in front of it is not the user's.
fn points(block: TokenStream) -> TokenStream {
    let mut input = tokens("[::hooks_runtime]");
    input.extend(block);
    crate::hook_points::hook_points(input)
}

/// The item comes out as it went in, behind what allows its signature.
fn assert_passed_on(item: &TokenStream, expansion: &TokenStream) {
    assert!(expansion.to_string().contains(&item.to_string()), "the item is passed on");
}

/// Whatever was wrong, what comes out can be read: a mistake is an error with a
/// text of ours, never a riddle of the compiler's.
fn assert_rust(expansion: &TokenStream) {
    if let Err(error) = syn::parse2::<syn::File>(expansion.clone()) {
        panic!("{error}: {expansion}");
    }
}

#[test]
fn what_is_nearly_right_is_right_before_it_is_changed() {
    let points = POINTS.map(|source| points(tokens(source)));
    let handlers = HANDLERS.map(|(arguments, item)| {
        crate::hook_handler::hook_handler(tokens(arguments), &tokens(item))
    });
    let plugins = PLUGINS.map(|(arguments, item)| {
        crate::hook_handlers::hook_handlers(tokens(arguments), tokens(item))
    });
    let merges = MERGES.map(|source| crate::merge::merge(tokens(source)));
    for expansion in points.into_iter().chain(handlers).chain(plugins).chain(merges) {
        assert_eq!(messages(expansion), []);
    }
}

#[test]
fn arbitrary_tokens_never_panic() {
    try_all(
        "arbitrary tokens",
        || (trees(), trees()),
        |(arguments, item)| {
            let (arguments, item) = (stream(arguments), stream(item));
            crate::hook_points::hook_points(item.clone());
            crate::merge::merge(item.clone());
            crate::handlers::handlers(item.clone());
            crate::hook_handlers::hook_handlers(arguments.clone(), item.clone());
            let expansion = crate::hook_handler::hook_handler(arguments, &item);
            assert_passed_on(&item, &expansion);
        },
    );
}

#[test]
fn nearly_right_points_never_panic() {
    try_all(
        "nearly right points",
        || (0..POINTS.len(), changes()),
        |(source, changes)| {
            assert_rust(&points(changed(POINTS[*source], changes)));
        },
    );
}

#[test]
fn nearly_right_handlers_never_panic() {
    let inputs = || (0..HANDLERS.len(), changes(), changes());
    try_all("nearly right handlers", inputs, |(source, arguments, item)| {
        let (right_arguments, right_item) = HANDLERS[*source];
        let arguments = changed(right_arguments, arguments);
        crate::hook_handler::hook_handler(arguments.clone(), &tokens(right_item));
        let item = changed(right_item, item);
        let expansion = crate::hook_handler::hook_handler(arguments, &item);
        assert_passed_on(&item, &expansion);
    });
}

#[test]
fn nearly_right_plugins_never_panic() {
    let inputs = || (0..PLUGINS.len(), changes(), changes());
    try_all("nearly right plugins", inputs, |(source, arguments, item)| {
        let (right_arguments, right_item) = PLUGINS[*source];
        let arguments = changed(right_arguments, arguments);
        crate::hook_handlers::hook_handlers(arguments, changed(right_item, item));
        crate::hook_handlers::hook_handlers(tokens(right_arguments), changed(right_item, item));
    });
}

#[test]
fn nearly_right_merges_never_panic() {
    try_all(
        "nearly right merges",
        || (0..MERGES.len(), changes()),
        |(source, changes)| {
            assert_rust(&crate::merge::merge(changed(MERGES[*source], changes)));
        },
    );
}

#[test]
fn every_prefix_of_a_declaration_is_survived() {
    let source = r#"#![hook(json = "camelCase")] /// Doc. #[hook(timeout = "5s", name = "x")]
        pub modifying Name { a: Option<Vec<u8>>, #[cfg(x)] b: u8 } -> { c: u8 } pub flow F(u8) -> [u8; 4];"#;
    let block: Vec<TokenTree> = tokens(source).into_iter().collect();
    for end in 0..=block.len() {
        crate::hook_points::hook_points(block[..end].iter().cloned().collect());
    }
    let arguments: Vec<TokenTree> =
        tokens(r#"a::Point<B, C>, plugin = "x", before = ["a", "b"], target = D<E, F>, guard, priority = -1"#)
            .into_iter()
            .collect();
    for end in 0..=arguments.len() {
        let arguments = arguments[..end].iter().cloned().collect();
        crate::hook_handler::hook_handler(arguments, &tokens("fn f(p: &u8) {}"));
    }
}
