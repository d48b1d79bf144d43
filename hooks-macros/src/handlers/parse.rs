//! Reads the entries of a list: the paths of functions.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, Path, Token};

use crate::errors::Errors;
use crate::{location, runtime, stream};

/// Reads `[runtime path] path, path, …`.
pub(crate) fn parse(input: TokenStream, errors: &mut Errors) -> (TokenStream, Vec<Path>) {
    let (rt, list) = runtime::split(input);
    // A path that a `macro_rules!` passes on comes in an invisible group,
    // which an import does not accept.
    let paths = stream::read(visible(list), |input| entries(input, errors));
    (rt, paths)
}

fn entries(input: ParseStream, errors: &mut Errors) -> Vec<Path> {
    let mut paths = Vec::new();
    while !input.is_empty() {
        match entry(input) {
            Ok(path) => paths.push(path),
            Err(error) => {
                errors.add(error);
                skip(input);
            }
        }
        input.parse::<Option<Token![,]>>().ok();
    }
    paths
}

fn entry(input: ParseStream) -> syn::Result<Path> {
    let at = input.span();
    let ahead = input.fork();
    if let Ok(path) = ahead.call(Path::parse_mod_style)
        && (ahead.is_empty() || ahead.peek(Token![,]))
    {
        check_method(&path)?;
        return input.call(Path::parse_mod_style);
    }
    let message = match input.fork().parse() {
        Ok(Expr::Closure(_)) => {
            "a closure has no annotation: register it with \
             `hooks.register(on::<Point>().handler(closure))`, or `.guard(closure)` if it is a guard"
        }
        Ok(Expr::Call(call)) => {
            let function = location::spelled(&call.func);
            let message = format!("list the function itself: write `{function}`");
            return Err(syn::Error::new(call.func.span(), message));
        }
        Ok(Expr::Reference(reference)) => {
            let function = location::spelled(&reference.expr);
            return Err(syn::Error::new(
                at,
                format!("list the function itself: write `{function}`"),
            ));
        }
        Ok(Expr::Lit(ExprLit { lit: Lit::Str(name), .. })) => {
            let message = format!("list the function itself: write `{}`", name.value());
            return Err(syn::Error::new(at, message));
        }
        Ok(Expr::Path(path)) => {
            let at = path.path.segments.last().map_or(at, |last| last.ident.span());
            return Err(syn::Error::new(at, "a handler cannot be generic: list a plain function"));
        }
        _ => "expected the name of a function with `#[hook_handler(Point)]`",
    };
    Err(syn::Error::new(at, message))
}

/// By convention only types begin with a capital letter, and an import cannot
/// reach into one.
fn check_method(path: &Path) -> syn::Result<()> {
    let mut segments = path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(method), Some(ty)) = (segments.next(), segments.next()) else { return Ok(()) };
    if !ty.to_string().starts_with(char::is_uppercase) {
        return Ok(());
    }
    Err(syn::Error::new(
        method.span(),
        format!(
            "`{method}` is a method: put `#[hook_handlers]` on the impl block of `{ty}` and \
             register all its handlers with `hooks.install(value)`"
        ),
    ))
}

/// Leaves the input before the comma that ends the bad entry.
fn skip(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // Every token tree parses, so the loop always advances.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

fn visible(tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                visible(group.stream())
            }
            other => other.into(),
        })
        .collect()
}
