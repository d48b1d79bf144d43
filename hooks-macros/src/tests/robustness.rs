//! Arbitrary tokens: no macro panics or hangs, and items are passed on.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::support::tokens;

const ROUNDS: u64 = 4_000;

/// What a user's half-typed source is made of.
const WORDS: &[&str] = &[
    "pub",
    "void",
    "modifying",
    "claiming",
    "gating",
    "flow",
    "viod",
    "Name",
    "Other",
    "r#type",
    "fn",
    "async",
    "unsafe",
    "extern",
    "const",
    "self",
    "&",
    "mut",
    "impl",
    "struct",
    "enum",
    "union",
    "for",
    "where",
    "dyn",
    "->",
    ":",
    "::",
    ";",
    ",",
    "=",
    "<",
    ">",
    "#",
    "!",
    "-",
    "'a",
    "'a'",
    "\"text\"",
    "\"5s\"",
    "\"\"",
    "\"öä ü\"",
    "5",
    "-1",
    "1.5",
    "99999999999999999999",
    "hook",
    "payload",
    "result",
    "derive",
    "cfg",
    "cfg_attr",
    "doc",
    "hook_handler",
    "plugin",
    "name",
    "priority",
    "timeout",
    "on_failure",
    "before",
    "after",
    "target",
    "guard",
    "crate",
    "json",
    "merge",
    "Option",
    "Option<u8>",
    "#[hook(timeout = 5)]",
    "#[hook_handler(P)]",
    "#[payload(derive(Debug))]",
    "#![hook(json = \"camelCase\")]",
    "fn f(&self, p: &u8)",
    "void Name",
    "{ a: u8 }",
    "(u8)",
    "/// doc\n",
    "/** doc */",
    "...",
    "_",
    "..",
    "|",
    "?",
];

/// A small generator, so that a failing round can be repeated by its number.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }

    fn stream(&mut self, depth: usize) -> TokenStream {
        let mut stream = TokenStream::new();
        for _ in 0..self.below(12) {
            if depth > 0 && self.below(4) == 0 {
                let delimiter =
                    [Delimiter::Brace, Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::None]
                        [self.below(4)];
                let inner = self.stream(depth - 1);
                stream.extend([TokenTree::Group(Group::new(delimiter, inner))]);
            } else {
                stream.extend(tokens(WORDS[self.below(WORDS.len())]));
            }
        }
        stream
    }
}

#[test]
fn arbitrary_tokens_never_panic() {
    for round in 0..ROUNDS {
        let mut random = Random(round);
        crate::hook_points::hook_points(random.stream(3));
        crate::merge::merge(random.stream(3));
        crate::hook_handlers::hook_handlers(random.stream(2), random.stream(3));
        let item = random.stream(3);
        let expansion = crate::hook_handler::hook_handler(random.stream(2), &item);
        assert!(expansion.to_string().starts_with(&item.to_string()), "round {round}");
    }
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
