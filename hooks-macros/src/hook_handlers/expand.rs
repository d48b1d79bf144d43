//! Writes the plugin.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, parse_quote};

use super::model::{Plugin, Registered};
use crate::hook_handler::{self, Shared};

/// The impl that makes the type a plugin.
pub(crate) fn plugin(plugin: &Plugin) -> TokenStream {
    let Plugin { rt, cfgs, id, generics, ty, handlers } = plugin;
    let bounded = bounded(generics);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let lints = hook_handler::lints();
    let id = id.map_or_else(
        || quote!(::core::option::Option::None),
        |id| quote!(::core::option::Option::Some(#id)),
    );
    let count = handlers.len();
    let pushes = handlers.iter().map(|registered| push(plugin, registered));
    quote! {
        #(#cfgs)*
        #lints
        impl #impl_generics #rt::__private::OneBlockOfHookHandlers for #ty #where_clause {
            const ID: ::core::option::Option<&'static ::core::primitive::str> = #id;

            fn registrations(
                __plugin: &::std::sync::Arc<Self>,
            ) -> ::std::vec::Vec<#rt::Registration> {
                let mut __list = ::std::vec::Vec::with_capacity(#count);
                #(#pushes)*
                __list
            }
        }
    }
}

/// The generics with the bounds of a plugin, which the user does not write.
fn bounded(generics: &Generics) -> Generics {
    let mut bounded = generics.clone();
    if !generics.params.is_empty() {
        bounded.make_where_clause().predicates.push(parse_quote! {
            Self: ::core::marker::Send + ::core::marker::Sync + 'static
        });
    }
    bounded
}

/// A block for each, because each brings a function of the same name.
fn push(plugin: &Plugin, registered: &Registered) -> TokenStream {
    let Registered { cfgs, arguments, handler } = registered;
    let variable = format_ident!("__plugin", span = Span::call_site());
    let shared = Shared { ty: plugin.ty, variable: &variable };
    let registration = hook_handler::registration(&plugin.rt, arguments, handler, Some(&shared));
    quote! {
        #(#cfgs)*
        {
            let __registration = { #registration };
            __list.push(__registration);
        }
    }
}
