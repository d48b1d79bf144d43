//! Writes the first-wins merge.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Attribute, MetaList};

use super::model::{Merged, MergedField};
use crate::location;

/// The `Merge` impl.
pub(crate) fn implementation(merged: &Merged) -> TokenStream {
    let Merged { rt, attrs, ident, generics, fields } = merged;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let names = fields.iter().map(name);
    let takes =
        fields.iter().enumerate().map(|(at, field)| take_if_empty(rt, field, &index(fields, at)));
    let fills =
        fields.iter().enumerate().map(|(at, field)| note_if_filled(rt, field, &index(fields, at)));
    let drops = fields.iter().map(|field| drop_if_filled(rt, field));
    // A struct without fields reads neither argument.
    let unused = fields.is_empty().then(|| quote!(let _ = __later;));
    // Without fields nothing is ever inserted.
    let binding = if fields.is_empty() { quote!(let __set) } else { quote!(let mut __set) };
    quote! {
        #(#attrs)*
        #[automatically_derived]
        #[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
        impl #impl_generics #rt::__private::Merge for #ident #type_generics #where_clause {
            const FIELDS: &'static [&'static ::core::primitive::str] = &[#(#names),*];

            #[inline(always)]
            fn merge(&mut self, mut __later: Self) -> #rt::__private::FieldSet {
                #unused
                #binding = #rt::__private::FieldSet::new();
                #(#takes)*
                __set
            }

            #[inline]
            fn filled(&self) -> #rt::__private::FieldSet {
                #binding = #rt::__private::FieldSet::new();
                #(#fills)*
                __set
            }

            fn drop_fields(&mut self) {
                #(#drops)*
            }
        }
    }
}

fn name(field: &MergedField) -> TokenStream {
    let cfgs = &field.cfgs;
    let name = field.ident.unraw().to_string();
    quote!(#(#cfgs)* #name)
}

fn take_if_empty(rt: &TokenStream, field: &MergedField, index: &TokenStream) -> TokenStream {
    let MergedField { ident, at, cfgs } = field;
    // Each function behind `is_filled`, so that a type that is no option is reported
    // once: the compiler keeps to itself what follows from an error in its place.
    quote_spanned! {location::shown_at(*at)=>
        #(#cfgs)*
        if #rt::__private::is_filled(&__later.#ident) {
            if #rt::__private::is_filled(&self.#ident) {
                #rt::__private::drop_field(&mut __later.#ident);
            } else {
                // Not assigned: what is there is empty, and has no drop to run.
                ::core::mem::swap(&mut self.#ident, &mut __later.#ident);
                __set.insert(#index);
            }
        }
    }
}

fn note_if_filled(rt: &TokenStream, field: &MergedField, index: &TokenStream) -> TokenStream {
    let MergedField { ident, at, cfgs } = field;
    quote_spanned! {location::shown_at(*at)=>
        #(#cfgs)*
        if #rt::__private::is_filled(&self.#ident) {
            __set.insert(#index);
        }
    }
}

fn drop_if_filled(rt: &TokenStream, field: &MergedField) -> TokenStream {
    let MergedField { ident, at, cfgs } = field;
    quote_spanned! {location::shown_at(*at)=>
        #(#cfgs)*
        if #rt::__private::is_filled(&self.#ident) {
            #rt::__private::drop_field(&mut self.#ident);
        }
    }
}

/// The field's place in `FIELDS`, which is a literal unless fields before it
/// may be compiled out.
fn index(fields: &[MergedField], at: usize) -> TokenStream {
    let before = &fields[..at];
    let certain = before.iter().filter(|field| field.cfgs.is_empty()).count();
    let conditional = before.iter().filter(|field| !field.cfgs.is_empty()).map(|field| {
        let conditions = field.cfgs.iter().filter_map(condition).map(|list| &list.tokens);
        quote! {
            + <::core::primitive::usize as ::core::convert::From<::core::primitive::bool>>::from(
                ::core::cfg!(all(#(#conditions),*))
            )
        }
    });
    quote!(#certain #(#conditional)*)
}

fn condition(cfg: &Attribute) -> Option<&MetaList> {
    cfg.meta.require_list().ok()
}
