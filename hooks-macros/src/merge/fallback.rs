//! A merge that does nothing, for a type that cannot have a real one: uses of
//! the type then add no errors of their own.

use proc_macro2::TokenStream;
use quote::quote;

use super::model::{Draft, Kind};

/// The empty impl. A union can seldom have the `Default` that it needs.
pub(crate) fn implementation(draft: &Draft) -> TokenStream {
    if matches!(draft.kind, Kind::Union) {
        return TokenStream::new();
    }
    let Draft { rt, ident, generics, .. } = draft;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #rt::__private::Merge for #ident #type_generics #where_clause {
            const FIELDS: &'static [&'static ::core::primitive::str] = &[];

            fn merge(&mut self, _: Self) -> #rt::__private::FieldSet {
                #rt::__private::FieldSet::new()
            }

            fn filled(&self) -> #rt::__private::FieldSet {
                #rt::__private::FieldSet::new()
            }
        }
    }
}
