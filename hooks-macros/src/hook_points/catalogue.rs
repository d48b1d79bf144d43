//! Writes the function that returns the catalogue of a block.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Expr, Lit, Meta};

use super::model::{Block, CatalogueFn, Field, Point, Schema, Shape};
use super::structs;
use crate::{doc_text, location, runtime};

/// The function, if the block asks for one.
pub(crate) fn function(block: &Block) -> Option<TokenStream> {
    let CatalogueFn { vis, ident } = block.catalogue.as_ref()?;
    let rt = &block.rt;
    let points = block.points.iter().map(|point| info(block, point));
    let optional = block.json.is_some().then(|| {
        quote! {
            #[allow(unused_imports)]
            use #rt::__private::{WithJson as _, WithJsonFlow as _, WithSchema as _, Without as _};
        }
    });
    let judged = block.points.iter().map(|point| judged(block, point));
    Some(quote! {
        /// The catalogue of the hook points declared here.
        #[must_use]
        #[allow(deprecated, clippy::too_many_lines)]
        #vis fn #ident() -> #rt::catalogue::Catalogue {
            #optional
            #rt::__private::catalogue([#(#points),*])
        }
        #(#judged)*
    })
}

/// One point, with what only its declaration knows.
fn info(block: &Block, point: &Point) -> TokenStream {
    let rt = &block.rt;
    let Point { attrs, ident, .. } = point;
    let everywhere = &attrs.everywhere;
    let payload = described(&point.payload, &structs::payload_name(ident));
    let result = optional(
        point
            .result
            .as_ref()
            .filter(|_| point.model.has_result())
            .map(|result| described(result, &structs::result_name(ident))),
    );
    let deprecated = optional(deprecation(&attrs.own));
    let has_stages = point.model.has_stages;
    let stages = has_stages.then(|| quote!(.__stages::<#ident>()));
    let mut point = quote! {
        #rt::catalogue::PointInfo::__new::<#ident>(#payload, #result, #deprecated) #stages
    };
    let ask = quote!(#rt::__private::Of::<#ident>::ASK);
    if block.json.is_some() {
        let json = if has_stages { quote!(__json_flow) } else { quote!(__json) };
        point = quote!(#ask.#json(#point));
    }
    match &block.schema {
        Schema::Never | Schema::MissingWhen(_) => {}
        Schema::Always => point = quote!(#ask.__schema(#point)),
        Schema::When(condition) => {
            point = quote! {{
                let __point = #point;
                #[cfg(#condition)]
                let __point = #ask.__schema(__point);
                __point
            }};
        }
    }
    quote!(#(#everywhere)* #point)
}

/// The name of a type and, where it is declared here, its fields.
fn described(shape: &Shape, declared: &proc_macro2::Ident) -> TokenStream {
    match shape {
        Shape::Type(ty) => {
            let name = location::spelled(ty);
            quote!((#name, &[]))
        }
        Shape::Fields(fields) => {
            let name = declared.to_string();
            let fields = fields.iter().map(field);
            quote!((#name, &[#(#fields),*]))
        }
    }
}

fn field(Field { attrs, ident, ty }: &Field) -> TokenStream {
    let cfgs = location::cfgs(attrs);
    let name = syn::ext::IdentExt::unraw(ident).to_string();
    let ty = location::spelled(ty);
    let doc = doc_text::text(&doc_text::lines(attrs));
    quote!(#(#cfgs)* (#name, #ty, #doc))
}

/// What `#[deprecated]` says, an empty text if it says nothing.
fn deprecation(attrs: &[Attribute]) -> Option<TokenStream> {
    let attr = attrs.iter().find(|attr| attr.path().is_ident("deprecated"))?;
    let mut note = String::new();
    match &attr.meta {
        Meta::Path(_) => {}
        Meta::NameValue(short) => note = text_of(&short.value),
        // What is wrong with the list, the compiler says.
        Meta::List(list) => drop(list.parse_nested_meta(|meta| {
            let value: Expr = meta.value()?.parse()?;
            if meta.path.is_ident("note") {
                note = text_of(&value);
            }
            Ok(())
        })),
    }
    Some(quote!(#note))
}

fn text_of(value: &Expr) -> String {
    match value {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => text.value(),
        _ => String::new(),
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}

/// In a block with JSON the named types go over the wire as well. They are
/// judged where they are named, and whatever features the runtime has.
fn judged(block: &Block, point: &Point) -> TokenStream {
    if block.json.is_none() {
        return TokenStream::new();
    }
    let everywhere = &point.attrs.everywhere;
    let result = point.result.as_ref().filter(|_| point.model.has_result());
    let named = [Some(&point.payload), result].into_iter().flatten();
    let checks = named.filter_map(|shape| {
        let Shape::Type(ty) = shape else { return None };
        let span = location::shown_at(location::of_type(ty));
        let rt = runtime::shown_at(&block.rt, span);
        let in_schema = quote_spanned!(span=> #rt::__private::in_schema::<#ty>(););
        let in_schema = match &block.schema {
            Schema::Never | Schema::MissingWhen(_) => None,
            Schema::Always => Some(in_schema),
            Schema::When(condition) => Some(quote!(#[cfg(#condition)] { #in_schema })),
        };
        Some(quote_spanned! {span=>
            #(#everywhere)*
            const _: () = {
                #rt::__private::in_json::<#ty>();
                #in_schema
            };
        })
    });
    checks.collect()
}
