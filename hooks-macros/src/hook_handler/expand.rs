//! Writes the registration of a handler.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use super::model::{Arguments, Draft, Handler, Taking, Target};
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
    // A private type would be reported as a private enum where another module
    // lists it; the list itself checks whether the function is visible.
    let vis = if let Visibility::Public(public) = &draft.vis {
        quote!(#public)
    } else {
        quote_spanned!(ident.span()=> pub(crate))
    };
    let cfgs = location::cfgs(&draft.attrs);
    let lints = lints();
    // All of it has the span of the function's name, so that an editor leads from
    // the type to the function.
    let hidden = lints_at(ident.span());
    let marker = quote_spanned! {ident.span()=>
        #(#cfgs)*
        #[doc(hidden)]
        #hidden
        #vis enum #ident {}
    };
    quote! {
        #marker

        #(#cfgs)*
        #lints
        impl #rt::__private::Annotated for #ident {
            fn registration() -> #rt::__private::Registration {
                #body
            }
        }

        #(#cfgs)*
        #rt::__private::__collect! { #ident }
    }
}

/// The point dictates parts of the signature, so lints on those do not apply.
pub(crate) fn dictated(at: Span) -> TokenStream {
    quote_spanned! {at=>
        #[allow(
            clippy::trivially_copy_pass_by_ref,
            clippy::unnecessary_wraps,
            clippy::unused_async,
            clippy::unused_self
        )]
    }
}

/// Style lints do not apply to generated code.
pub(crate) fn lints() -> TokenStream {
    lints_at(Span::call_site())
}

fn lints_at(span: Span) -> TokenStream {
    quote_spanned! {span=>
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

/// The expression that registers a closure around the user's function.
pub(crate) fn registration(
    rt: &TokenStream,
    arguments: &Arguments,
    handler: &Handler,
    shared: Option<&Shared>,
) -> TokenStream {
    let point = &handler.point;
    let name = &handler.name;
    let source = location::source(rt, handler.ident.span());
    let options = options(rt, arguments);
    let end = end(handler, shared);
    let plugin = shared.map(|shared| {
        let variable = shared.variable;
        quote!(::core::clone::Clone::clone(#variable),)
    });
    let closure = closure(rt, handler, shared);
    let assert_send = handler.is_async.then(|| {
        let assert_send = Ident::new("assert_send", location::start_of(handler.ident.span()));
        quote!(.#assert_send())
    });
    quote! {
        #rt::__private::On::<#point>::__annotated(#name, #source) #options .#end(#plugin #closure) #assert_send
    }
}

/// Each step of the closure has the span at which a mismatch is to be reported.
///
/// No name of an expansion has the span of a name of the user: an editor would
/// offer it as one more definition of the user's name. So a wrong payload is
/// reported at its `&`, a wrong result under braces with the span of its type, and
/// the rest where the user's name begins.
fn closure(rt: &TokenStream, handler: &Handler, shared: Option<&Shared>) -> TokenStream {
    let ident = &handler.ident;
    let asyncness = handler.is_async.then(|| quote!(async));
    let awaited = handler.is_async.then(|| quote!(.await));
    let reference = match handler.input {
        Taking::Shared => "shared",
        Taking::Exclusive => "exclusive",
        Taking::Open => "payload",
    };
    let at_payload = location::shown_at(handler.payload_at);
    let reference = Ident::new(reference, at_payload);
    let payload = quote_spanned!(at_payload=> __payload.#reference());
    let this = shared.map(|_| quote!(__this,));
    let callee = match shared {
        None => quote!(#ident),
        Some(Shared { ty, .. }) => quote!(<#ty>::#ident),
    };
    let cx = handler.context_at.map(|_| quote!(, __cx));
    let context = handler.context_at.map(|at| {
        let taken = Ident::new("taken", location::shown_at(at));
        quote!(, #rt::__private::Context(__cx).#taken())
    });
    let input = Ident::new("__input", at_point(handler));
    let (open, take) = match handler.guard_at {
        Some(at) => {
            (Ident::new("open_as_guard", location::start_of(at)), quote!(returned_by_guard))
        }
        None => (Ident::new("open", at_point(handler)), quote!(returned)),
    };
    let opened = quote_spanned!(at_point(handler)=> let (__payload, __to) = #input.#open(););
    let mut returned = Group::new(Delimiter::Brace, quote!(__returned));
    returned.set_span(location::shown_at(handler.result_at));
    quote! {
        #asyncness |#this #input #cx| {
            #opened
            let __returned = #callee(#this #payload #context) #awaited;
            #rt::__private::#take(__to, #returned)
        }
    }
}

fn options(rt: &TokenStream, arguments: &Arguments) -> TokenStream {
    // A constant text, as for a whole block.
    let plugin = arguments.plugin.as_ref().map(|(_, plugin)| {
        quote!(.plugin({
            const __PLUGIN: &'static ::core::primitive::str = #plugin;
            __PLUGIN
        }))
    });
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
    let when = arguments.when.as_ref().map(|condition| quote!(.when(#condition)));
    let once = arguments.once.then(|| quote!(.once()));
    let pure = arguments.pure.then(|| quote!(.pure()));
    let guard = arguments.guard.map(|_| quote!(.__guard()));
    let replace = arguments.replace.then(|| quote!(.replace()));
    quote! {
        #plugin #priority #timeout #on_failure
        #(.before(#before))* #(.after(#after))* #target #when #once #pure #guard #replace
    }
}

/// Where a type that is not a point is reported.
fn at_point(handler: &Handler) -> Span {
    let last = handler.point.segments.last();
    last.map_or_else(Span::call_site, |last| location::start_of(last.ident.span()))
}

/// The runtime's function for this form of handler.
fn end(handler: &Handler, shared: Option<&Shared>) -> Ident {
    let kind = if handler.is_async { "async" } else { "sync" };
    let parameters = if handler.context_at.is_some() { 2 } else { 1 };
    let suffix = if shared.is_some() { "_with" } else { "" };
    format_ident!("__{kind}{parameters}{suffix}", span = at_point(handler))
}
