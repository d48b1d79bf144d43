//! Reads the attribute's arguments and the function's signature.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, LitInt, LitStr, Path, Token};

use super::model::{Arguments, Draft, Target};
use crate::duration::Nanos;
use crate::errors::Errors;
use crate::keys::{self, Known};
use crate::policy::Policy;
use crate::{case, plugin_id, runtime, stream};

const KEYS: Known = Known {
    all: &[
        "plugin",
        "name",
        "priority",
        "timeout",
        "on_failure",
        "before",
        "after",
        "target",
        "when",
        "guard",
        "once",
        "pure",
        "replace",
        "crate",
    ],
    repeatable: &["before", "after"],
};

const NO_POINT: &str = "name the hook point first: `#[hook_handler(Point)]`";

/// Reads `Point, key = value, flag`.
pub(crate) fn arguments(tokens: TokenStream, errors: &mut Errors) -> Arguments {
    stream::read(tokens, |input| {
        let mut arguments = Arguments { point: point(input, errors), ..Arguments::default() };
        keys::parse(input, &KEYS, errors, |key, input, _| entry(&mut arguments, key, input));
        arguments
    })
}

/// Reads the attributes, visibility and signature of a function that has this mark.
pub(crate) fn function(item: TokenStream, mark: &str, errors: &mut Errors) -> Option<Draft> {
    let at = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let draft = stream::read(item, |input| draft(input).ok());
    if draft.is_none() {
        errors.push(at, format!("`#[{mark}]` goes on a function"));
    }
    draft
}

fn draft(input: ParseStream) -> syn::Result<Draft> {
    Ok(Draft {
        attrs: input.call(Attribute::parse_outer)?,
        vis: input.parse()?,
        sig: input.parse()?,
    })
}

fn point(input: ParseStream, errors: &mut Errors) -> Option<Path> {
    let key_first = input.peek(Ident::peek_any) && input.peek2(Token![=]);
    if input.is_empty() || key_first {
        errors.push(input.span(), NO_POINT);
        return None;
    }
    let Ok(path) = input.parse::<Path>() else {
        match input.fork().parse::<LitStr>() {
            Ok(wire) => errors.push(
                wire.span(),
                format!(
                    "name the point by its type, not by its wire name: `#[hook_handler({})]`",
                    case::pascal(&wire.value())
                ),
            ),
            Err(_) => errors.push(input.span(), NO_POINT),
        }
        keys::skip_entry(input);
        return None;
    };
    if !input.is_empty()
        && let Err(error) = input.parse::<Token![,]>()
    {
        errors.push(error.span(), "expected `,` after the hook point");
        keys::skip_entry(input);
    }
    Some(path)
}

fn entry(arguments: &mut Arguments, key: &Ident, input: ParseStream) -> syn::Result<()> {
    match key.to_string().as_str() {
        "plugin" => arguments.plugin = Some((key.span(), plugin(input)?)),
        "crate" => arguments.krate = Some((key.span(), runtime::parse(input)?)),
        "name" => arguments.name = Some(keys::string(input, "name = \"handler\"")?),
        "priority" => arguments.priority = Some(priority(input)?),
        "timeout" => arguments.timeout = Some(Nanos::parse(input)?),
        "on_failure" => {
            let literal = keys::string(input, "on_failure = \"closed\"")?;
            arguments.on_failure = Some(Policy::parse(&literal)?);
        }
        "before" => arguments.before.extend(keys::strings(input, "before = \"handler\"")?),
        "after" => arguments.after.extend(keys::strings(input, "after = \"handler\"")?),
        "target" => arguments.target = Some(target(input)?),
        "when" => arguments.when = Some(condition(input)?),
        "once" => {
            flag(key, input)?;
            arguments.once = true;
        }
        "pure" => {
            flag(key, input)?;
            arguments.pure = true;
        }
        "replace" => {
            flag(key, input)?;
            arguments.replace = true;
        }
        _ => {
            flag(key, input)?;
            arguments.guard = Some(key.span());
        }
    }
    Ok(())
}

/// A key that has no value.
fn flag(key: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![=]) {
        let message = format!("`{key}` is a flag: write it without a value");
        return Err(syn::Error::new(input.span(), message));
    }
    Ok(())
}

/// Reads the value of `plugin = …`: a literal, or a constant.
pub(crate) fn plugin(input: ParseStream) -> syn::Result<Expr> {
    let id = keys::constant(input, "plugin = \"id\"")?;
    if let Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) = &id {
        plugin_id::check(literal)?;
    }
    Ok(id)
}

fn priority(input: ParseStream) -> syn::Result<i32> {
    const EXAMPLE: &str = "priority = -10";
    keys::equals(input, EXAMPLE)?;
    let minus: Option<Token![-]> = input.parse()?;
    let number: LitInt = input.parse().map_err(|error| {
        syn::Error::new(error.span(), format!("a priority is a whole number: write `{EXAMPLE}`"))
    })?;
    let sign = if minus.is_some() { "-" } else { "" };
    let known_suffix = matches!(number.suffix(), "" | "i32");
    format!("{sign}{}", number.base10_digits()).parse().ok().filter(|_| known_suffix).ok_or_else(
        || syn::Error::new(number.span(), "a priority is an `i32`: write a smaller number"),
    )
}

/// Reads the value of `when = …`: a closure of the payload, or a path to a function.
fn condition(input: ParseStream) -> syn::Result<Expr> {
    const EXAMPLE: &str = "when = |payload| payload.size > 100";
    keys::equals(input, EXAMPLE)?;
    let at = input.span();
    match input.parse() {
        Ok(condition @ (Expr::Closure(_) | Expr::Path(_))) => {
            check_receiver(condition.to_token_stream())?;
            Ok(condition)
        }
        _ => Err(syn::Error::new(
            at,
            format!(
                "a condition is a closure of the payload, or a function of it: write `{EXAMPLE}`"
            ),
        )),
    }
}

/// A condition stands outside of its method, where there is no `self`.
fn check_receiver(condition: TokenStream) -> syn::Result<()> {
    for token in condition {
        match token {
            TokenTree::Ident(word) if word == "self" => {
                let message = "a condition sees the payload only: ask `self` in the method";
                return Err(syn::Error::new(word.span(), message));
            }
            TokenTree::Group(group) => check_receiver(group.stream())?,
            _ => {}
        }
    }
    Ok(())
}

fn target(input: ParseStream) -> syn::Result<Target> {
    const EXAMPLE: &str = "target = Type` or `target = \"name\"";
    keys::equals(input, EXAMPLE)?;
    if input.peek(LitStr) {
        return keys::text(input, EXAMPLE).map(Target::Named);
    }
    let at = input.span();
    input
        .parse()
        .map(|ty| Target::Type(Box::new(ty)))
        .map_err(|_| syn::Error::new(at, format!("write `{EXAMPLE}`")))
}
