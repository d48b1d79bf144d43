//! Tokens as text, spaced as people write them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

pub fn tidy(item: &impl ToTokens) -> String {
    let mut text = String::new();
    write(item.to_token_stream(), &mut text);
    for (from, to) in [
        (" ,", ","),
        (",)", ")"),
        (" :", ":"),
        (": : ", "::"),
        (" ::", "::"),
        (":: ", "::"),
        ("& ", "&"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ;", ";"),
        (" ?", "?"),
        ("? ", "?"),
        (" !", "!"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("' ", "'"),
        (", >", ">"),
    ] {
        text = text.replace(from, to);
    }
    for (from, to) in [
        ("->", " -> "),
        ("=>", " => "),
        ("  ", " "),
        (":(", ": ("),
        (",(", ", ("),
        (",<", ", <"),
        (">where", "> where"),
        ("=(", "= ("),
        ("dyn(", "dyn ("),
        ("+?", "+ ?"),
    ] {
        text = text.replace(from, to);
    }
    text.trim().to_owned()
}

fn write(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(group.stream(), text);
                let inner = text.trim_end().len();
                text.truncate(inner);
                text.push_str(close);
                text.push(' ');
            }
            TokenTree::Punct(punct) => {
                text.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    text.push(' ');
                }
            }
            other => {
                text.push_str(&other.to_string());
                text.push(' ');
            }
        }
    }
}
