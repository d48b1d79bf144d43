//! Tokens at random, and inputs that are nearly right.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::support::tokens;

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

/// A tree of tokens that can be printed and made smaller.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Word(&'static str),
    Group(Delimiter, Vec<Self>),
}

/// Any tokens at all.
pub(crate) fn trees() -> impl Strategy<Value = Vec<Tree>> {
    let word = select(WORDS).prop_map(Tree::Word);
    let tree = word.prop_recursive(4, 64, 12, |inner| {
        (delimiters(), vec(inner, 0..12))
            .prop_map(|(delimiter, trees)| Tree::Group(delimiter, trees))
    });
    vec(tree, 0..12)
}

fn delimiters() -> impl Strategy<Value = Delimiter> {
    select(vec![Delimiter::Brace, Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::None])
}

/// The tokens of a tree.
pub(crate) fn stream(trees: &[Tree]) -> TokenStream {
    let token = |tree: &Tree| match tree {
        Tree::Word(word) => tokens(word),
        Tree::Group(delimiter, trees) => {
            TokenTree::Group(Group::new(*delimiter, stream(trees))).into()
        }
    };
    trees.iter().map(token).collect()
}

/// One change of an input, at the token of that number.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    at: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Remove,
    Double,
    /// Trades places with the next.
    Swap,
    Insert(Vec<Tree>),
    Replace(Vec<Tree>),
    /// Another pair of brackets, where there is one.
    Bracket(Delimiter),
}

/// A few changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let few = || vec(select(WORDS).prop_map(Tree::Word), 1..3);
    let kind = prop_oneof![
        3 => Just(Kind::Remove),
        2 => Just(Kind::Double),
        2 => Just(Kind::Swap),
        3 => few().prop_map(Kind::Insert),
        3 => few().prop_map(Kind::Replace),
        1 => delimiters().prop_map(Kind::Bracket),
    ];
    vec((0..400_usize, kind).prop_map(|(at, kind)| Change { at, kind }), 1..5)
}

/// The input after the changes.
pub(crate) fn changed(source: &str, changes: &[Change]) -> TokenStream {
    let mut input = tokens(source);
    for change in changes {
        let count = count(&input);
        if count > 0 {
            let mut left = change.at % count;
            input = change_at(input, &mut left, &change.kind);
        }
    }
    input
}

fn count(input: &TokenStream) -> usize {
    let nested = |tree: TokenTree| match tree {
        TokenTree::Group(group) => 1 + count(&group.stream()),
        _ => 1,
    };
    input.clone().into_iter().map(nested).sum()
}

/// Changes the token that is `left` tokens away, counted into the groups.
fn change_at(input: TokenStream, left: &mut usize, kind: &Kind) -> TokenStream {
    let mut out = Vec::new();
    let mut trees = input.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let here = *left == 0;
        // Past the place it runs round, and comes to no token any more.
        *left = left.wrapping_sub(1);
        if !here {
            out.push(match tree {
                TokenTree::Group(group) => {
                    let inner = change_at(group.stream(), left, kind);
                    let mut made = Group::new(group.delimiter(), inner);
                    made.set_span(group.span());
                    TokenTree::Group(made)
                }
                tree => tree,
            });
            continue;
        }
        match (kind, tree) {
            (Kind::Remove, _) => (),
            (Kind::Double, tree) => out.extend([tree.clone(), tree]),
            (Kind::Swap, tree) => {
                out.extend(trees.next());
                out.push(tree);
            }
            (Kind::Insert(more), tree) => {
                out.extend(stream(more));
                out.push(tree);
            }
            (Kind::Replace(other), _) => out.extend(stream(other)),
            (Kind::Bracket(delimiter), TokenTree::Group(group)) => {
                out.push(TokenTree::Group(Group::new(*delimiter, group.stream())));
            }
            (Kind::Bracket(_), tree) => out.push(tree),
        }
    }
    out.into_iter().collect()
}
