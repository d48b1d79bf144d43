//! Writes the payload and result structs that are declared in place.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, LitStr, Meta};

use super::derives::{self, meta_says};
use super::model::{Block, Field, Point, Shape};
use crate::location;
use crate::merge::{Merged, MergedField, implementation, is_option};

/// The name of a payload declared in place.
pub(crate) fn payload_name(point: &Ident) -> Ident {
    format_ident!("{point}Payload", span = point.span())
}

/// The name of a result declared in place.
pub(crate) fn result_name(point: &Ident) -> Ident {
    format_ident!("{point}Result", span = point.span())
}

/// The payload's struct, if the point declares it.
pub(crate) fn payload(block: &Block, point: &Point) -> Option<TokenStream> {
    let Shape::Fields(fields) = &point.payload else {
        return None;
    };
    Some(declaration(
        block,
        point,
        &Struct {
            name: payload_name(&point.ident),
            what: "payload",
            attrs: &point.attrs.payload,
            fields,
            optional: false,
        },
    ))
}

/// The result's struct, if the point declares it, with its merge.
pub(crate) fn result(block: &Block, point: &Point) -> Option<TokenStream> {
    let Some(Shape::Fields(fields)) = &point.result else {
        return None;
    };
    let optional = point.model.is_merged();
    let name = result_name(&point.ident);
    let merge = optional.then(|| {
        implementation(&Merged {
            rt: block.rt.clone(),
            attrs: point.attrs.everywhere.clone(),
            ident: name.clone(),
            generics: syn::Generics::default(),
            fields: fields.iter().map(merged).collect(),
        })
    });
    let declared = declaration(
        block,
        point,
        &Struct { name, what: "result", attrs: &point.attrs.result, fields, optional },
    );
    Some(quote!(#declared #merge))
}

struct Struct<'a> {
    name: Ident,
    what: &'a str,
    attrs: &'a [Meta],
    fields: &'a [Field],
    /// Whether each field is wrapped in an `Option`.
    optional: bool,
}

fn declaration(block: &Block, point: &Point, item: &Struct) -> TokenStream {
    let Struct { name, what, attrs, fields, optional } = item;
    let vis = &point.vis;
    let everywhere = &point.attrs.everywhere;
    let at = point.ident.span();
    let doc = LitStr::new(&format!(" The {what} of [`{}`].", point.ident), at);
    let default = optional.then(|| quote_spanned!(at=> , ::core::default::Default));
    let flattened = fields.iter().any(|field| says(&field.attrs, &["flatten"]));
    let serde = derives::serde(block, attrs, flattened);
    let schema = derives::schema(block, attrs);
    let fields = fields.iter().map(|field| declared_field(field, block.json.is_some(), *optional));
    // The fields are the user's to document and to name, on pain of no lint, and
    // there for others to read.
    quote_spanned! {at=>
        #[doc = #doc]
        #(#everywhere)*
        #[allow(
            dead_code,
            missing_docs,
            missing_copy_implementations,
            clippy::struct_excessive_bools,
            clippy::struct_field_names
        )]
        #[derive(::core::fmt::Debug, ::core::clone::Clone #default)]
        #serde
        #schema
        #(#[#attrs])*
        #vis struct #name {
            #(#fields,)*
        }
    }
}

fn declared_field(field: &Field, json: bool, optional: bool) -> TokenStream {
    let Field { attrs, ident, ty } = field;
    let may_be_absent = optional || is_option(ty);
    let serde = (json && may_be_absent && !says(attrs, &["default", "skip_serializing_if"])).then(
        || quote!(#[serde(default, skip_serializing_if = "::core::option::Option::is_none")]),
    );
    let at = ident.span();
    let ty = if optional { quote_spanned!(at=> ::core::option::Option<#ty>) } else { quote!(#ty) };
    quote_spanned!(at=> #(#attrs)* #serde pub #ident: #ty)
}

/// Whether a `#[serde(…)]` among the attributes uses one of the words.
fn says(attrs: &[Attribute], words: &[&str]) -> bool {
    attrs.iter().any(|attr| meta_says(&attr.meta, words))
}

fn merged(field: &Field) -> MergedField {
    let at = location::of_type(&field.ty);
    MergedField { ident: field.ident.clone(), at, cfgs: location::cfgs(&field.attrs) }
}
