//! Writes the plugin.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Generics, parse_quote};

use super::model::{Plugin, Registered, Step};
use crate::hook_handler::{self, Shared};
use crate::location;

/// The impl that makes the type a plugin.
pub(crate) fn plugin(plugin: &Plugin) -> TokenStream {
    let Plugin { rt, cfgs, id, version, description, generics, ty, handlers, steps } = plugin;
    let bounded = bounded(generics);
    let (impl_generics, _, where_clause) = bounded.split_for_impl();
    let lints = hook_handler::lints();
    let id = id.map_or_else(
        || quote!(::core::option::Option::None),
        |id| quote!(::core::option::Option::Some(#id)),
    );
    let version = version.map(|version| said("VERSION", version));
    let description = description.as_ref().map(|description| said("DESCRIPTION", description));
    let steps = steps.iter().map(|one| step(plugin, one));
    let count = handlers.len();
    let pushes = handlers.iter().map(|registered| push(plugin, registered));
    quote! {
        #(#cfgs)*
        #lints
        impl #impl_generics #rt::__private::OneBlockOfHookHandlers for #ty #where_clause {
            const ID: ::core::option::Option<&'static ::core::primitive::str> = #id;
            #version
            #description

            fn registrations(
                __plugin: &::std::sync::Arc<Self>,
            ) -> ::std::vec::Vec<#rt::__private::Registration> {
                let mut __list = ::std::vec::Vec::with_capacity(#count);
                #(#pushes)*
                __list
            }

            #(#steps)*
        }
    }
}

/// What the plugin says about itself.
fn said(name: &str, text: &impl ToTokens) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote! {
        const #name: ::core::option::Option<&'static ::core::primitive::str> = {
            const __TEXT: &'static ::core::primitive::str = #text;
            ::core::option::Option::Some(__TEXT)
        };
    }
}

/// The function that makes a step of the plugin's life. A future that is not `Send`
/// is reported where the method's name begins, a wrong result under its type.
fn step(plugin: &Plugin, step: &Step) -> TokenStream {
    let Plugin { rt, ty, .. } = plugin;
    let Step { kind, cfgs, ident, is_async, result_at } = step;
    let name = Ident::new(kind.word(), Span::call_site());
    let awaited = is_async.then(|| quote!(.await));
    let assert_send = Ident::new("assert_send", location::start_of(ident.span()));
    let mut returned = Group::new(Delimiter::Brace, quote!(__returned));
    returned.set_span(location::shown_at(*result_at));
    quote! {
        #(#cfgs)*
        fn #name(
            __plugin: &::std::sync::Arc<Self>,
        ) -> ::core::option::Option<#rt::__private::LifecycleStep> {
            let __plugin = ::core::clone::Clone::clone(__plugin);
            let __step = #rt::__private::LifecycleFuture(async move {
                let __returned = <#ty>::#ident(&*__plugin) #awaited;
                #rt::__private::step_returned(#returned)
            });
            ::core::option::Option::Some(__step.#assert_send())
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
