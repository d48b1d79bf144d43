//! `key = value, flag` lists, read so that one bad entry spoils no other.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token, parse_quote};

use crate::errors::Errors;
use crate::{stream, suggest};

/// The keys that a list may have.
pub(crate) struct Known {
    /// Every key, in the order messages list them.
    pub(crate) all: &'static [&'static str],
    /// Those that may be given more than once.
    pub(crate) repeatable: &'static [&'static str],
}

/// Reads entries up to the end of the input. `entry` is called behind each
/// known key and reads its value.
pub(crate) fn parse(
    input: ParseStream,
    known: &Known,
    errors: &mut Errors,
    mut entry: impl FnMut(&Ident, ParseStream, &mut Errors) -> syn::Result<()>,
) {
    let mut seen: Vec<String> = Vec::new();
    while !input.is_empty() {
        if let Err(error) = one(input, known, &mut seen, errors, &mut entry) {
            errors.add(error);
            skip_entry(input);
        }
    }
}

/// The same for the tokens of an attribute's argument list.
pub(crate) fn parse_tokens(
    tokens: TokenStream,
    known: &Known,
    errors: &mut Errors,
    entry: impl FnMut(&Ident, ParseStream, &mut Errors) -> syn::Result<()>,
) {
    stream::read(tokens, |input| parse(input, known, errors, entry));
}

/// Consumes the `=` behind a key; `example` is what the user should have written.
pub(crate) fn equals(input: ParseStream, example: &str) -> syn::Result<()> {
    input
        .parse::<Token![=]>()
        .map(drop)
        .map_err(|error| syn::Error::new(error.span(), format!("write `{example}`")))
}

/// Reads `= "text"`, where the text may not be empty.
pub(crate) fn string(input: ParseStream, example: &str) -> syn::Result<LitStr> {
    equals(input, example)?;
    text(input, example)
}

/// Reads `= "text"`, or a constant in place of the text.
pub(crate) fn constant(input: ParseStream, example: &str) -> syn::Result<Expr> {
    equals(input, example)?;
    if input.peek(LitStr) {
        let literal = text(input, example)?;
        return Ok(parse_quote!(#literal));
    }
    let at = input.span();
    match input.parse()? {
        Expr::Lit(_) => Err(syn::Error::new(at, format!("write `{example}`"))),
        constant => Ok(constant),
    }
}

/// Reads `= "text"` or `= ["text", "text"]`.
pub(crate) fn strings(input: ParseStream, example: &str) -> syn::Result<Vec<LitStr>> {
    equals(input, example)?;
    if !input.peek(syn::token::Bracket) {
        return text(input, example).map(|only| vec![only]);
    }
    let list;
    syn::bracketed!(list in input);
    let mut texts = Vec::new();
    while !list.is_empty() {
        texts.push(text(&list, example)?);
        if !list.is_empty() {
            list.parse::<Token![,]>()?;
        }
    }
    Ok(texts)
}

/// Reads a string literal that is not empty.
pub(crate) fn text(input: ParseStream, example: &str) -> syn::Result<LitStr> {
    let literal: LitStr = input.parse().map_err(|error| {
        let quoted = quoted(input, example);
        syn::Error::new(error.span(), format!("write `{}`", quoted.as_deref().unwrap_or(example)))
    })?;
    if literal.value().is_empty() {
        let message = format!("this may not be empty: write `{example}`");
        return Err(syn::Error::new(literal.span(), message));
    }
    Ok(literal)
}

/// The example with the word that was written without its quotes.
fn quoted(input: ParseStream, example: &str) -> Option<String> {
    let (key, _) = example.split_once('=')?;
    let word: Ident = input.fork().parse().ok()?;
    Some(format!("{key}= \"{word}\""))
}

fn one(
    input: ParseStream,
    known: &Known,
    seen: &mut Vec<String>,
    errors: &mut Errors,
    entry: &mut impl FnMut(&Ident, ParseStream, &mut Errors) -> syn::Result<()>,
) -> syn::Result<()> {
    let key = Ident::parse_any(input).map_err(|error| {
        let message = format!("expected a key: known are {}", suggest::list(known.all));
        syn::Error::new(error.span(), message)
    })?;
    let word = key.to_string();
    if !known.all.contains(&word.as_str()) {
        let message = format!("unknown key `{word}`: {}", suggest::hint(&word, known.all));
        return Err(syn::Error::new(key.span(), message));
    }
    if seen.contains(&word) && !known.repeatable.contains(&word.as_str()) {
        errors.push(key.span(), format!("`{word}` is given twice: remove one"));
    }
    seen.push(word);
    entry(&key, input, errors)?;
    if !input.is_empty() {
        input
            .parse::<Token![,]>()
            .map_err(|error| syn::Error::new(error.span(), "expected `,` before the next key"))?;
    }
    Ok(())
}

/// Leaves the input behind the comma that most likely ends the bad entry: one
/// with a new entry, or nothing, after it. Commas between generic arguments
/// stand at the same level, hence the look ahead.
pub(crate) fn skip_entry(input: ParseStream) {
    while !input.is_empty() {
        let comma = input.peek(Token![,]);
        // Every token tree parses, so the loop always advances.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
        let entry_follows = input.is_empty()
            || (input.peek(Ident::peek_any)
                && (input.peek2(Token![=]) || input.peek2(Token![,]) || is_last(input)));
        if comma && entry_follows {
            return;
        }
    }
}

fn is_last(input: ParseStream) -> bool {
    let ahead = input.fork();
    ahead.parse::<TokenTree>().is_ok() && ahead.is_empty()
}
