//! Writes the code of a block.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::model::{Block, Point, Shape};
use super::models::ResultRule;
use super::{catalogue, derives, docs, structs};
use crate::{doc_text, location, runtime};

/// All points, in the order of their declaration, and their catalogue.
pub(crate) fn block(block: &Block) -> TokenStream {
    let points = block.points.iter().map(|one| point(block, one));
    let catalogue = catalogue::function(block);
    let crates = derives::crates(block);
    quote!(#crates #(#points)* #catalogue)
}

fn point(block: &Block, point: &Point) -> TokenStream {
    let marker = marker(point);
    let hook_point = hook_point(block, point);
    let flow_point = point.model.has_stages.then(|| flow_point(block, point));
    let payload = structs::payload(block, point);
    let result = structs::result(block, point);
    quote!(#marker #hook_point #flow_point #payload #result)
}

fn marker(point: &Point) -> TokenStream {
    let Point { attrs, vis, ident, .. } = point;
    let docs = docs::attributes(point);
    let everywhere = &attrs.everywhere;
    let own = &attrs.own;
    // All of it stands at the point's name: an editor leads to a name of the
    // user only where nothing else of the item is elsewhere.
    quote_spanned! {ident.span()=>
        #docs
        #(#everywhere)*
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
            ::core::hash::Hash,
            ::core::default::Default
        )]
        #(#own)*
        #vis struct #ident;
    }
}

fn hook_point(block: &Block, point: &Point) -> TokenStream {
    let rt = &block.rt;
    let Point { attrs, ident, wire, .. } = point;
    let everywhere = &attrs.everywhere;
    let payload = payload_type(point);
    let result = result_type(block, point);
    let model = format_ident!("{}", point.model.marker);
    let doc = doc_text::text(&attrs.docs);
    let location = location::source(rt, ident.span());
    let merging = merging(block, point);
    let displayed = displayed(block, point);
    let timeout = timeout(point);
    let on_failure = point.on_failure.map(|policy| {
        let policy = policy.expand(rt);
        quote!(.on_failure(#policy))
    });
    quote! {
        #(#everywhere)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::HookPoint for #ident {
            type Payload = #payload;
            type Result = #result;
            type Model = #rt::model::#model;

            const NAME: &'static ::core::primitive::str = #wire;

            #merging

            fn descriptor() -> &'static #rt::__private::PointDescriptor {
                static DESCRIPTOR: #rt::__private::PointDescriptor =
                    #rt::__private::PointDescriptor::new(
                        #wire,
                        <#rt::model::#model as #rt::model::Model>::KIND,
                        #doc,
                        #location,
                    )
                    #timeout
                    #on_failure;
                &DESCRIPTOR
            }

            #displayed
        }
    }
}

/// The stages of a flow, in the order in which the runtime lists them.
const STAGES: [&str; 6] =
    ["beforeValidation", "afterValidation", "beforeExecute", "afterExecute", "onError", "finally"];

fn flow_point(block: &Block, point: &Point) -> TokenStream {
    let rt = &block.rt;
    let Point { attrs, ident, wire, .. } = point;
    let everywhere = &attrs.everywhere;
    let doc = doc_text::text(&attrs.docs);
    let location = location::source(rt, ident.span());
    let timeout = timeout(point);
    // Each stage is a point with a wire name of its own.
    let stages = STAGES.map(|stage| format!("{wire}/{stage}"));
    quote! {
        #(#everywhere)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::flow::FlowPoint for #ident {
            const STAGE_NAMES: [&'static ::core::primitive::str; 6] = [#(#stages),*];

            fn stages() -> &'static #rt::__private::StageDescriptors {
                static STAGES: #rt::__private::StageDescriptors =
                    #rt::__private::StageDescriptors::new(
                        <#ident as #rt::flow::FlowPoint>::STAGE_NAMES,
                        #doc,
                        #location,
                    )
                    #timeout;
                &STAGES
            }
        }
    }
}

/// How results are merged. A named one is judged where it is named, and nowhere else.
fn merging(block: &Block, point: &Point) -> Option<TokenStream> {
    if !point.model.is_merged() {
        return None;
    }
    let result = result_type(block, point);
    let span = match &point.result {
        Some(Shape::Type(ty)) => location::shown_at(location::of_type(ty)),
        _ => Span::call_site(),
    };
    let rt = runtime::shown_at(&block.rt, span);
    Some(quote_spanned! {span=>
        const MERGING: #rt::__private::Merging<#result> =
            #rt::__private::merging::<#result>();
    })
}

/// What reports show of the reason of a rejection. A named one is judged where it is
/// named, and nowhere else; one in braces is a mistake that is reported already.
fn displayed(block: &Block, point: &Point) -> Option<TokenStream> {
    let rt = &block.rt;
    let named = match (point.model.result, &point.result) {
        (ResultRule::Reason(_), None) => None,
        (ResultRule::Reason(_), Some(Shape::Type(ty))) => Some(quote!(::<#ty>)),
        _ => return None,
    };
    Some(quote! {
        fn displayed(reason: &Self::Result) -> &dyn ::core::fmt::Display {
            #rt::__private::displayed #named (reason)
        }
    })
}

fn timeout(point: &Point) -> Option<TokenStream> {
    point.timeout.map(|nanos| {
        let duration = nanos.expand();
        quote!(.timeout(#duration))
    })
}

fn payload_type(point: &Point) -> TokenStream {
    match &point.payload {
        Shape::Fields(_) => {
            let name = structs::payload_name(&point.ident);
            quote!(#name)
        }
        Shape::Type(ty) => quote!(#ty),
    }
}

fn result_type(block: &Block, point: &Point) -> TokenStream {
    let rt = &block.rt;
    match (point.model.result, &point.result) {
        (ResultRule::Reason(_), None) => quote!(#rt::__private::TextReason),
        (ResultRule::None(_), _) | (_, None) => quote!(()),
        (_, Some(Shape::Type(ty))) => quote!(#ty),
        (_, Some(Shape::Fields(_))) => {
            let name = structs::result_name(&point.ident);
            quote!(#name)
        }
    }
}
