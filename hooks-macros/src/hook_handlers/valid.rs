//! Judges a block: one function a rule, every mistake noted.

use std::collections::HashMap;

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericParam, Ident, ItemImpl, ReturnType, Type};

use super::model::{
    BlockArguments, DraftBlock, DraftStep, Method, Plugin, Registered, Step, StepKind,
};
use crate::errors::Errors;
use crate::hook_handler::{self, Draft};
use crate::{doc_text, location, runtime};

const BORROWS: &str =
    "a plugin outlives what it could borrow: let it own its state, or share an `Arc`";

/// `None` if the block cannot be a plugin. A wrong method is left out.
pub(crate) fn check<'a>(draft: &'a DraftBlock, errors: &mut Errors) -> Option<Plugin<'a>> {
    let header = draft.header.as_ref();
    let sound = header.is_some_and(|header| check_header(header, errors));
    if header.is_some() && !draft.has_handler_mark {
        errors.push(
            Span::call_site(),
            "no method of this block is a handler: mark one with `#[hook_handler(Point)]`",
        );
    }
    let mut names = HashMap::new();
    let mut handlers = Vec::new();
    for method in &draft.methods {
        handlers.extend(check_method(method, &mut names, errors));
    }
    let steps = check_steps(draft, errors);
    let header = header.filter(|_| sound)?;
    let BlockArguments { plugin, version, description, krate, .. } = &draft.arguments;
    Some(Plugin {
        rt: runtime::path(krate.as_ref()),
        cfgs: location::cfgs(&header.attrs),
        id: plugin.as_ref(),
        version: version.as_ref(),
        description: description.as_ref().map(ToTokens::to_token_stream).or_else(|| {
            let lines = doc_text::lines(&header.attrs);
            (!lines.is_empty()).then(|| doc_text::text(&lines))
        }),
        generics: &header.generics,
        ty: &header.self_ty,
        handlers,
        steps,
    })
}

fn check_steps(draft: &DraftBlock, errors: &mut Errors) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for DraftStep { kind, at, draft: method } in &draft.steps {
        let word = kind.word();
        if !draft.arguments.names_a_plugin {
            errors.push(
                *at,
                format!(
                    "a plugin has a `#[{word}]`, a built-in block has none: write \
                     `#[hook_handlers(plugin = \"id\")]`, or call it yourself"
                ),
            );
        }
        let Some(step) = check_step(*kind, method, errors) else { continue };
        // Methods under conditions may exclude each other.
        let twice = steps.iter().any(|first| first.kind == *kind && first.cfgs.is_empty());
        if twice && step.cfgs.is_empty() {
            let message =
                format!("a plugin has one `#[{word}]`: call this method from the other one");
            errors.push(*at, message);
        } else {
            steps.push(step);
        }
    }
    steps
}

fn check_step(
    kind: StepKind,
    Draft { sig, attrs, .. }: &Draft,
    errors: &mut Errors,
) -> Option<Step> {
    let what = format!("`#[{}]`", kind.word());
    let shared = hook_handler::check_receiver(sig, &format!("{what} takes `&self`"), errors);
    let qualifiers = hook_handler::check_qualifiers(sig, &what, errors);
    let generics = hook_handler::check_generics(sig, &what, errors);
    let mut parameters = sig.inputs.iter().filter(|one| matches!(one, FnArg::Typed(_)));
    let extra = parameters.next();
    if let Some(extra) = extra {
        let message =
            format!("{what} takes nothing but `&self`: keep what it needs in the plugin's value");
        errors.push(extra.span(), message);
    }
    let sound = shared && qualifiers && generics && extra.is_none();
    sound.then(|| Step {
        kind,
        cfgs: location::cfgs(attrs),
        ident: sig.ident.clone(),
        is_async: sig.asyncness.is_some(),
        result_at: match &sig.output {
            ReturnType::Type(_, ty) => location::of_type(ty),
            ReturnType::Default => location::start_of(sig.ident.span()),
        },
    })
}

fn check_header(header: &ItemImpl, errors: &mut Errors) -> bool {
    let mut sound = true;
    if let Some((path, _)) = &header.trait_ {
        errors.push(path.span(), "a plugin is an inherent impl block: write `impl Type { … }`");
        sound = false;
    }
    if let Some(parameter) = header.generics.params.first() {
        let message = match parameter {
            GenericParam::Lifetime(_) => BORROWS,
            _ => "a plugin's block cannot be generic: write the types out, as in `impl Type<Db>`",
        };
        errors.push(parameter.span(), message);
        sound = false;
    } else if let Some(at) = elided(&header.self_ty) {
        errors.push(at, BORROWS);
        sound = false;
    }
    sound
}

/// Where the type has a lifetime that is left out, as in `Audit<'_>`.
pub(crate) fn elided(ty: &Type) -> Option<Span> {
    let is_elided = |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name == "_");
    let tokens = location::flat(ty.to_token_stream());
    let pairs = tokens.windows(2);
    pairs
        .filter(|pair| matches!(&pair[0], TokenTree::Punct(tick) if tick.as_char() == '\''))
        .find(|pair| is_elided(&pair[1]))
        .map(|pair| pair[1].span())
}

fn check_method<'a>(
    method: &'a Method,
    names: &mut HashMap<(String, String), Ident>,
    errors: &mut Errors,
) -> Option<Registered<'a>> {
    let Method { arguments, draft } = method;
    let owned = arguments.plugin.as_ref().map(|(span, _)| (*span, "plugin", "names the plugin"));
    let rooted = arguments.krate.as_ref().map(|(span, _)| (*span, "crate", "names the crate"));
    for (span, key, what) in owned.into_iter().chain(rooted) {
        errors.push(span, format!("the block {what}: move `{key}` to `#[hook_handlers(…)]`"));
    }
    let handler = hook_handler::check_method(arguments, draft, errors)?;
    let cfgs = location::cfgs(&draft.attrs);
    let point = handler.point.to_token_stream().to_string();
    // Methods under conditions may exclude each other.
    if cfgs.is_empty()
        && let Some(first) = names.insert((point, handler.name.clone()), handler.ident.clone())
    {
        // Two methods of one identifier are the compiler's to report.
        if first == handler.ident {
            return None;
        }
        let span = arguments.name.as_ref().map_or_else(|| handler.ident.span(), syn::LitStr::span);
        errors.push(
            span,
            format!(
                "this point has a handler `{}` in this block already: write another `name`",
                handler.name
            ),
        );
        return None;
    }
    Some(Registered { cfgs, arguments, handler })
}
