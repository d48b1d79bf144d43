//! Writes the derives of serde and schemars, by way of the runtime: the user's
//! crate depends on neither.
//!
//! Both take the path of their crate as text, in which `$crate` cannot stand. So a
//! hidden import beside the structs gives it a name, and the text is that name.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{LitStr, Meta};

use super::model::{Block, Point, Schema, Shape};
use crate::features;

const SERDE: &str = "serde";
const SCHEMARS: &str = "schemars";

/// The imports, if a struct of the block needs them.
pub(crate) fn crates(block: &Block) -> TokenStream {
    let import = |name: &str| {
        let rt = &block.rt;
        let (krate, alias) = (format_ident!("{name}"), alias(block, name));
        quote! {
            #[doc(hidden)]
            #[allow(unused_imports)]
            use #rt::__private::#krate as #alias;
        }
    };
    let declares = block.points.iter().any(declares_a_struct);
    let serde = (declares && block.json.is_some()).then(|| import(SERDE));
    let schemars = match &block.schema {
        Schema::Always if declares => import(SCHEMARS),
        Schema::When(condition) if declares => {
            let import = import(SCHEMARS);
            quote!(#[cfg(#condition)] #import)
        }
        Schema::MissingWhen(condition) => {
            let message = features::missing("schema");
            quote!(#[cfg(#condition)] ::core::compile_error!(#message);)
        }
        _ => TokenStream::new(),
    };
    quote!(#serde #schemars)
}

fn declares_a_struct(point: &Point) -> bool {
    let shapes = [Some(&point.payload), point.result.as_ref()];
    shapes.into_iter().flatten().any(|shape| matches!(shape, Shape::Fields(_)))
}

/// A name that no other block in the module has: points have names of their own,
/// and of two with one name, under conditions, each has its place.
fn alias(block: &Block, krate: &str) -> Ident {
    let Some(point) = block.points.first() else {
        return format_ident!("__hooks_{krate}");
    };
    let (ident, span) = (point.ident.unraw(), point.ident.span());
    // There is no compiler to ask where the macros are called as functions.
    let place = if proc_macro::is_available() {
        let place = span.unwrap();
        format!("_{}_{}", place.line(), place.column())
    } else {
        String::new()
    };
    Ident::new(&format!("__hooks_{krate}_{ident}{place}"), Span::call_site())
}

/// The alias as the text that a derive reads, unless the user says another.
fn named(block: &Block, krate: &str, attrs: &[Meta]) -> Option<LitStr> {
    let said = attrs.iter().any(|meta| words_of(meta, krate).any(|word| word == "crate"));
    (!said).then(|| LitStr::new(&alias(block, krate).to_string(), Span::call_site()))
}

/// The user's own `serde` words win, and a flattened field takes what would
/// otherwise be unknown.
pub(crate) fn serde(block: &Block, attrs: &[Meta], flattened: bool) -> Option<TokenStream> {
    let (case, rt) = (block.json.as_ref()?, &block.rt);
    let said = |word| attrs.iter().any(|meta| meta_says(meta, &[word]));
    let rename = (!said("rename_all")).then(|| quote!(#[serde(rename_all = #case)]));
    let deny =
        (!flattened && !said("deny_unknown_fields")).then(|| quote!(#[serde(deny_unknown_fields)]));
    let named = named(block, SERDE, attrs).map(|text| quote!(#[serde(crate = #text)]));
    Some(quote! {
        #[derive(#rt::__private::serde::Serialize, #rt::__private::serde::Deserialize)]
        #named
        #rename
        #deny
    })
}

pub(crate) fn schema(block: &Block, attrs: &[Meta]) -> Option<TokenStream> {
    let rt = &block.rt;
    let derive = quote!(derive(#rt::__private::schemars::JsonSchema));
    let named = named(block, SCHEMARS, attrs).map(|text| quote!(schemars(crate = #text)));
    let metas = [Some(derive), named].into_iter().flatten();
    match &block.schema {
        Schema::Never | Schema::MissingWhen(_) => None,
        Schema::Always => Some(quote!(#(#[#metas])*)),
        Schema::When(condition) => Some(quote!(#(#[cfg_attr(#condition, #metas)])*)),
    }
}

/// Whether it is a `#[serde(…)]` that uses one of the words.
pub(crate) fn meta_says(meta: &Meta, words: &[&str]) -> bool {
    words_of(meta, SERDE).any(|word| words.iter().any(|known| word == known))
}

/// The words in the attribute of a derive.
fn words_of(meta: &Meta, of: &str) -> impl Iterator<Item = Ident> {
    let tokens = match meta {
        Meta::List(list) if list.path.is_ident(of) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    tokens.into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    })
}
