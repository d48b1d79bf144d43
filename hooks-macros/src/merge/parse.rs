//! Reads the item under the derive.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Item, Path};

use super::model::{Draft, Kind};
use crate::errors::Errors;
use crate::keys::{self, Known};
use crate::runtime;

const KEYS: Known = Known { all: &["crate"], repeatable: &[] };

/// `None` if the tokens are no struct, enum or union at all.
pub(crate) fn parse(input: TokenStream, errors: &mut Errors) -> Option<Draft> {
    let (attrs, ident, generics, kind) = match errors.take(syn::parse2(input))? {
        Item::Struct(item) => (item.attrs, item.ident, item.generics, Kind::Struct(item.fields)),
        Item::Enum(item) => (item.attrs, item.ident, item.generics, Kind::Enum),
        Item::Union(item) => (item.attrs, item.ident, item.generics, Kind::Union),
        _ => {
            errors.push(Span::call_site(), "`Merge` is derived for a struct");
            return None;
        }
    };
    let rt = runtime::path(options(&attrs, errors).as_ref());
    Some(Draft { rt, ident, generics, kind })
}

fn options(attrs: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("merge")) {
        let Some(list) = errors.take(attr.meta.require_list()) else {
            continue;
        };
        keys::parse_tokens(list.tokens.clone(), &KEYS, errors, |_, input, _| {
            krate = Some(runtime::parse(input)?);
            Ok(())
        });
    }
    krate
}
