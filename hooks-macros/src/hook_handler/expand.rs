//! Writes the registration of a handler.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::model::{Arguments, Draft, Handler, Target};
use crate::{location, runtime};

/// What stands next to a free function: a type of the same name, in the other
/// namespace, so that one path leads to both.
pub(crate) fn function(arguments: &Arguments, draft: &Draft, handler: &Handler) -> TokenStream {
    let rt = runtime::path(arguments.krate.as_ref().map(|(_, path)| path));
    let ident = &handler.ident;
    let registration = registration(&rt, arguments, handler, None);
    annotated(&rt, draft, &quote!(#registration), ident)
}

/// The type, with an impl whose one function has the given body.
pub(crate) fn annotated(
    rt: &TokenStream,
    draft: &Draft,
    body: &TokenStream,
    ident: &Ident,
) -> TokenStream {
    let vis = &draft.vis;
    let cfgs = location::cfgs(&draft.attrs);
    let lints = lints();
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #lints
        #vis enum #ident {}

        #(#cfgs)*
        #lints
        impl #rt::__private::Annotated for #ident {
            fn registration() -> #rt::Registration {
                #body
            }
        }

        #(#cfgs)*
        #rt::__collect! { #ident }
    }
}

/// Generated code is nobody's to polish.
pub(crate) fn lints() -> TokenStream {
    quote! {
        #[allow(
            non_camel_case_types,
            missing_docs,
            missing_debug_implementations,
            missing_copy_implementations,
            unreachable_pub,
            dead_code,
            deprecated,
            unused_mut,
            unused_qualifications,
            unused_variables,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
    }
}

/// How a method is reached.
pub(crate) struct Shared<'a> {
    /// The type of the plugin.
    pub(crate) ty: &'a syn::Type,
    /// The variable that holds the shared plugin.
    pub(crate) variable: &'a Ident,
}

/// A function of a fixed signature that calls the user's, then the expression
/// that registers it.
pub(crate) fn registration(
    rt: &TokenStream,
    arguments: &Arguments,
    handler: &Handler,
    shared: Option<&Shared>,
) -> TokenStream {
    let call = call(rt, arguments, handler, shared);
    let point = &handler.point;
    let options = options(rt, arguments, handler);
    let source = location::source(rt, handler.ident.span());
    let finish = finish(handler, shared);
    // A point that is none is shown where it is named.
    let at_point = at_point(handler);
    let rt_at_point = runtime::shown_at(rt, at_point);
    let start = quote_spanned!(at_point=> #rt_at_point::on::<#point>() #options);
    quote! {
        #call
        #start .__located(#source) #finish
    }
}

/// Each variable of the inner function stands where a mismatch is to be shown:
/// the payload under the parameter's type, the result under the return type.
fn call(
    rt: &TokenStream,
    arguments: &Arguments,
    handler: &Handler,
    shared: Option<&Shared>,
) -> TokenStream {
    let Handler { point, ident, .. } = handler;
    let at_name = location::shown_at(ident.span());
    let input = format_ident!("__input", span = location::shown_at(handler.payload_at));
    let output = format_ident!("__output", span = location::shown_at(handler.result_at));
    let asyncness = handler.is_async.then(|| quote!(async));
    let awaited = handler.is_async.then(|| quote!(.await));
    // A context costs what it holds: only those who take one are given one.
    let context = handler.context_at.map(|_| quote!(__cx: &'a #rt::HookContext,));
    let this = match shared {
        Some(Shared { ty, .. }) => quote!(__this: &'a #ty,),
        None if context.is_some() => quote!(),
        // Something has to name the lifetime outright for it to be any.
        None => quote!(_: &'a (),),
    };
    let owner = shared.map(|shared| {
        let ty = shared.ty;
        quote_spanned!(at_name=> <#ty>::)
    });
    let this_argument = shared.map(|_| quote_spanned!(at_name=> __this,));
    let context_argument = handler.context_at.map(|at| {
        let cx = format_ident!("__cx", span = location::shown_at(at));
        quote!(, #cx)
    });
    let returned = format_ident!(
        "{}",
        if arguments.guard { "returned_guard" } else { "returned" },
        span = location::shown_at(handler.result_at)
    );
    let rt_at_result = runtime::shown_at(rt, handler.result_at);
    let result = quote_spanned! {location::shown_at(handler.result_at)=>
        #rt_at_result::__private::#returned::<#point, _>(#output)
    };
    let at_point = at_point(handler);
    let rt_at_point = runtime::shown_at(rt, at_point);
    let input_type = quote_spanned!(at_point=> #rt_at_point::__private::Input<'a, #point>);
    let output_type = quote_spanned!(at_point=> #rt_at_point::__private::Output<#point>);
    quote! {
        #asyncness fn __call<'a>(
            #this
            __input: #input_type,
            #context
        ) -> #output_type {
            let #output = #owner #ident(#this_argument #input #context_argument) #awaited;
            #result
        }
    }
}

fn options(rt: &TokenStream, arguments: &Arguments, handler: &Handler) -> TokenStream {
    let name = &handler.name;
    let plugin = arguments.plugin.as_ref().map(|(_, plugin)| quote!(.plugin(#plugin)));
    let priority = arguments.priority.map(|priority| quote!(.priority(#priority)));
    let timeout = arguments.timeout.map(|timeout| {
        let duration = timeout.expand();
        quote!(.timeout(#duration))
    });
    let on_failure = arguments.on_failure.map(|policy| {
        let policy = policy.expand(rt);
        quote!(.on_failure(#policy))
    });
    let before = &arguments.before;
    let after = &arguments.after;
    let target = arguments.target.as_ref().map(|target| match target {
        Target::Type(ty) => quote!(.target::<#ty>()),
        Target::Named(name) => quote!(.target_named(#name)),
    });
    let guard = arguments.guard.then(|| quote!(.__guard()));
    quote_spanned! {at_point(handler)=>
        .name(#name) #plugin #priority #timeout #on_failure
        #(.before(#before))* #(.after(#after))* #target #guard
    }
}

fn at_point(handler: &Handler) -> Span {
    let last = handler.point.segments.last();
    location::shown_at(last.map_or_else(Span::call_site, |last| last.ident.span()))
}

/// Stands at the function's name, where a future that is not `Send` is shown.
fn finish(handler: &Handler, shared: Option<&Shared>) -> TokenStream {
    let span = location::shown_at(handler.ident.span());
    let kind = if handler.is_async { "async" } else { "sync" };
    let suffix = if shared.is_some() { "_with" } else { "" };
    let context = if handler.context_at.is_some() { "_cx" } else { "" };
    let method = format_ident!("__{kind}{suffix}{context}", span = span);
    let plugin = shared.map(|shared| {
        let variable = shared.variable;
        quote!(::core::clone::Clone::clone(#variable),)
    });
    quote_spanned!(span=> .#method(#plugin __call))
}
