//! Calls the macros on source text.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parser as _;

/// Tokens of source text that lexes.
pub(crate) fn tokens(source: &str) -> TokenStream {
    source.parse().expect("the test's source lexes")
}

/// Expands a block of points.
pub(crate) fn points(source: &str) -> TokenStream {
    crate::hook_points::hook_points(tokens(&format!("[::hooks_runtime] {source}")))
}

/// Expands a handler.
pub(crate) fn handler(arguments: &str, item: &str) -> TokenStream {
    crate::hook_handler::hook_handler(tokens(arguments), &tokens(item))
}

/// Expands a plugin's block.
pub(crate) fn plugin(arguments: &str, item: &str) -> TokenStream {
    crate::hook_handlers::hook_handlers(tokens(arguments), tokens(item))
}

/// Expands a list of handlers.
pub(crate) fn list(source: &str) -> TokenStream {
    crate::handlers::handlers(tokens(&format!("[::hooks_runtime] {source}")))
}

/// Expands the derive.
pub(crate) fn merge(item: &str) -> TokenStream {
    crate::merge::merge(tokens(item))
}

/// The messages of all `compile_error!`s at the top level of an expansion, or
/// of the block that it is, each with the source text that it underlines.
pub(crate) fn messages(expansion: TokenStream) -> Vec<(String, String)> {
    let mut trees: Vec<TokenTree> = expansion.into_iter().collect();
    if let [TokenTree::Group(block)] = &trees[..] {
        trees = block.stream().into_iter().collect();
    }
    let mut found = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Ident(ident) = tree else {
            continue;
        };
        let Some(TokenTree::Group(group)) = trees.get(at + 2) else {
            continue;
        };
        if ident == "compile_error" {
            let literal: syn::LitStr = syn::parse2(group.stream()).expect("a message");
            let underlined = group.span().source_text().unwrap_or_default();
            found.push((underlined, literal.value()));
        }
    }
    found
}

/// Asserts that the expansion reports exactly these mistakes: the underlined
/// text, and a part of the message.
#[track_caller]
pub(crate) fn assert_messages(expansion: TokenStream, expected: &[(&str, &str)]) {
    let found = messages(expansion);
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|((underlined, message), (at, part))| underlined == at && message.contains(part));
    assert!(matches, "found {found:#?}, expected {expected:#?}");
}

/// Asserts that the expansion is Rust and holds the text, spaces aside.
#[track_caller]
pub(crate) fn assert_holds(expansion: &TokenStream, text: &str) {
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let printed = expansion.to_string();
    assert!(squeeze(&printed).contains(&squeeze(text)), "`{text}` is not in {printed}");
}

/// The expansion as a person would format it.
pub(crate) fn pretty(expansion: TokenStream) -> String {
    let file = parse_file.parse2(expansion).expect("an expansion is Rust");
    prettyplease::unparse(&file)
}

fn parse_file(input: syn::parse::ParseStream) -> syn::Result<syn::File> {
    input.parse()
}
