//! Sorts a point's attributes and reads the ones that are for the macro.

use proc_macro2::{Span, TokenStream};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, LitStr, Meta, Token};

use super::model::{BlockOptions, CatalogueFn, PointAttrs, Schema};
use crate::duration::Nanos;
use crate::errors::Errors;
use crate::keys::{self, Known};
use crate::policy::Policy;
use crate::suggest;

const POINT_KEYS: Known = Known { all: &["name", "timeout", "on_failure"], repeatable: &[] };

const BLOCK_KEYS: Known =
    Known { all: &["json", "schema", "catalogue", "timeout", "on_failure"], repeatable: &[] };

/// The words that serde knows for `rename_all`.
const JSON_CASES: [&str; 8] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// Reads `#![hook(…)]` and `#![cfg_attr(…, hook(schema))]`.
pub(crate) fn block(attrs: &[Attribute], errors: &mut Errors) -> BlockOptions {
    let mut options = BlockOptions::default();
    for attr in attrs {
        if attr.path().is_ident("cfg_attr") {
            let schema = attr.parse_args_with(conditional_schema);
            if let Some((span, condition)) = errors.take(schema) {
                options.schema = Schema::When(condition);
                options.schema_at = Some(span);
            }
            continue;
        }
        if !attr.path().is_ident("hook") {
            errors
                .push(attr.path().span(), "only `#![hook(…)]` can stand at the head of the block");
            continue;
        }
        let Some(tokens) = arguments(attr, "hook(json = \"camelCase\")", errors) else {
            continue;
        };
        keys::parse_tokens(tokens, &BLOCK_KEYS, errors, |key, input, _| {
            if key == "json" {
                options.json = Some(json(&keys::string(input, "json = \"camelCase\"")?)?);
            } else if key == "schema" {
                options.schema = Schema::Always;
                options.schema_at = Some(key.span());
            } else if key == "catalogue" {
                options.catalogue = Some(catalogue(input)?);
            } else if key == "timeout" {
                options.timeout = Some(Nanos::parse(input)?);
            } else {
                options.on_failure = Some(on_failure(input)?.1);
            }
            Ok(())
        });
    }
    options
}

/// Reads `condition, hook(schema)`. What a condition decides, the compiler
/// must be able to leave out, and of the block's options only schemas can be.
fn conditional_schema(input: syn::parse::ParseStream) -> syn::Result<(Span, TokenStream)> {
    let condition: Meta = input.parse()?;
    let only = "of the block's options only `schema` can have a condition: write \
                `#![cfg_attr(feature = \"schema\", hook(schema))]`";
    input.parse::<Token![,]>()?;
    let Meta::List(list) = input.parse()? else {
        return Err(syn::Error::new(condition.span(), only));
    };
    let word = list.parse_args::<proc_macro2::Ident>();
    input.parse::<Option<Token![,]>>()?;
    match word {
        Ok(word) if list.path.is_ident("hook") && word == "schema" && input.is_empty() => {
            Ok((word.span(), quote::quote!(#condition)))
        }
        _ => Err(syn::Error::new(list.path.span(), only)),
    }
}

/// Reads `= pub fn points`.
fn catalogue(input: syn::parse::ParseStream) -> syn::Result<CatalogueFn> {
    let example = "catalogue = pub fn points";
    keys::equals(input, example)?;
    let wrong = |error: syn::Error| syn::Error::new(error.span(), format!("write `{example}`"));
    let vis = input.parse().map_err(wrong)?;
    input.parse::<Token![fn]>().map_err(wrong)?;
    let ident = input.parse().map_err(wrong)?;
    Ok(CatalogueFn { vis, ident })
}

/// Sorts the attributes of a point.
pub(crate) fn point(attrs: Vec<Attribute>, errors: &mut Errors) -> PointAttrs {
    let mut sorted = PointAttrs::default();
    for attr in attrs {
        let path = attr.path();
        let span = path.span();
        if path.is_ident("hook") {
            hook(&attr, &mut sorted, errors);
        } else if path.is_ident("payload") {
            sorted.payload_at = Some(span);
            sorted.payload.extend(nested(&attr, "payload(derive(PartialEq))", errors));
        } else if path.is_ident("result") {
            sorted.result_at = Some(span);
            sorted.result.extend(nested(&attr, "result(derive(PartialEq))", errors));
        } else if let Some(meant) = slip(path) {
            let message = format!("unknown attribute: did you mean `{meant}`?");
            errors.push(span, message);
        } else if goes_everywhere(&attr) {
            sorted.everywhere.push(attr);
        } else {
            match attr.meta {
                Meta::NameValue(doc) if doc.path.is_ident("doc") => sorted.docs.push(doc.value),
                _ => sorted.own.push(attr),
            }
        }
    }
    sorted
}

/// The attribute of ours that one of no other meaning is a slip for.
fn slip(path: &syn::Path) -> Option<&'static str> {
    let word = path.get_ident()?.to_string();
    suggest::closest(&word, &["hook", "payload", "result"])
}

fn hook(attr: &Attribute, sorted: &mut PointAttrs, errors: &mut Errors) {
    let Some(tokens) = arguments(attr, "hook(timeout = \"5s\")", errors) else {
        return;
    };
    keys::parse_tokens(tokens, &POINT_KEYS, errors, |key, input, _| {
        if key == "name" {
            sorted.name = Some(keys::string(input, "name = \"wire_name\"")?);
        } else if key == "timeout" {
            sorted.timeout = Some(Nanos::parse(input)?);
        } else {
            let (span, policy) = on_failure(input)?;
            sorted.on_failure = Some((span, policy));
        }
        Ok(())
    });
}

fn on_failure(input: syn::parse::ParseStream) -> syn::Result<(Span, Policy)> {
    let literal = keys::string(input, "on_failure = \"closed\"")?;
    Ok((literal.span(), Policy::parse(&literal)?))
}

fn json(case: &LitStr) -> syn::Result<LitStr> {
    let word = case.value();
    if JSON_CASES.contains(&word.as_str()) {
        return Ok(case.clone());
    }
    let message = format!("unknown case `{word}`: {}", suggest::hint(&word, &JSON_CASES));
    Err(syn::Error::new(case.span(), message))
}

fn nested(attr: &Attribute, example: &str, errors: &mut Errors) -> Vec<Meta> {
    let Some(tokens) = arguments(attr, example, errors) else {
        return Vec::new();
    };
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens);
    errors.take(metas).into_iter().flatten().collect()
}

fn arguments(attr: &Attribute, example: &str, errors: &mut Errors) -> Option<TokenStream> {
    if let Meta::List(list) = &attr.meta {
        return Some(list.tokens.clone());
    }
    errors.push(attr.path().span(), format!("write `#[{example}]`"));
    None
}

/// Conditions hold for all that a point generates, and so do permissions. A
/// `cfg_attr` goes along only where what it applies may stand on any item.
fn goes_everywhere(attr: &Attribute) -> bool {
    if attr.path().is_ident("cfg") || attr.path().is_ident("allow") {
        return true;
    }
    attr.path().is_ident("cfg_attr")
        && attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).is_ok_and(
            |metas| {
                metas.iter().skip(1).all(|meta| {
                    let Meta::List(list) = meta else { return false };
                    // Of the words of `doc` only `cfg` may stand on an impl.
                    let documents =
                        || list.parse_args().is_ok_and(|doc: Meta| doc.path().is_ident("cfg"));
                    list.path.is_ident("cfg")
                        || list.path.is_ident("allow")
                        || (list.path.is_ident("doc") && documents())
                })
            },
        )
}
