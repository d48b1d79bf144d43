//! Judges what a handler takes: one function a rule, every mistake noted.

use proc_macro2::{Ident, Span, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Path, Type};

use super::model::Taking;
use crate::errors::Errors;
use crate::location;

/// The points whose handlers get their input exclusively.
const EXCLUSIVE: [&str; 6] =
    ["BeforeValidation", "AfterValidation", "BeforeExecute", "AfterExecute", "OnError", "Finally"];

/// The types of a handler's parameters.
pub(crate) struct Parameters<'a> {
    pub(crate) payload: &'a Type,
    pub(crate) context: Option<&'a Type>,
}

/// Judges the parameters of the function `name`, but for its receiver.
pub(crate) fn check<'a>(
    point: Option<&Path>,
    name: &Ident,
    parameters: &[&'a FnArg],
    errors: &mut Errors,
) -> Option<Parameters<'a>> {
    let count = check_count(point, name, parameters, errors);
    let payload = parameters.first().and_then(|parameter| typed(parameter))?;
    let context = parameters.get(1).and_then(|parameter| typed(parameter));
    if !check_order(point, payload, errors) {
        return None;
    }
    let payload_ok = check_payload(point, payload, errors);
    let context_ok = context.is_none_or(|ty| check_context(ty, errors));
    (count && payload_ok && context_ok).then_some(Parameters { payload, context })
}

fn typed(parameter: &FnArg) -> Option<&Type> {
    match parameter {
        FnArg::Typed(parameter) => Some(&parameter.ty),
        FnArg::Receiver(_) => None,
    }
}

fn check_count(
    point: Option<&Path>,
    name: &Ident,
    parameters: &[&FnArg],
    errors: &mut Errors,
) -> bool {
    if parameters.is_empty() {
        errors.push(
            name.span(),
            format!(
                "a handler takes the payload: add a parameter, as in `{}`",
                likely_parameter(point)
            ),
        );
    }
    for extra in parameters.iter().skip(2) {
        let span: Span = match extra {
            FnArg::Typed(parameter) => location::of_type(&parameter.ty),
            FnArg::Receiver(receiver) => receiver.span(),
        };
        errors.push(
            span,
            "a handler takes the payload and, if it likes, `&HookContext`: remove this parameter",
        );
    }
    (1..=2).contains(&parameters.len())
}

/// The parameter that a handler of the point most likely has.
fn likely_parameter(point: Option<&Path>) -> String {
    let Some(last) = point.and_then(|point| point.segments.last()) else {
        return "payload: &Payload".to_owned();
    };
    if is_stage(&last.ident) {
        format!("flow: &mut FlowContext{}", location::spelled(&last.arguments))
    } else {
        format!("payload: &{}Payload", last.ident.unraw())
    }
}

fn is_stage(point: &Ident) -> bool {
    EXCLUSIVE.iter().any(|name| point == name)
}

/// The compiler would offer to swap the arguments of a generated call.
fn check_order(point: Option<&Path>, first: &Type, errors: &mut Errors) -> bool {
    let context = is_called(behind(first), "HookContext");
    if context {
        errors.push(
            location::of_type(first),
            format!(
                "the payload comes first: write `{}, cx: &HookContext`",
                likely_parameter(point)
            ),
        );
    }
    !context
}

fn check_payload(point: Option<&Path>, ty: &Type, errors: &mut Errors) -> bool {
    let Type::Reference(reference) = plain(ty) else {
        errors.push(
            location::of_type(ty),
            format!(
                "handlers get the payload by shared reference: take `&{}`",
                location::spelled(ty)
            ),
        );
        return false;
    };
    let Some(exclusive) = &reference.mutability else {
        return true;
    };
    // Without a point there is nothing to judge by.
    let allowed =
        point.is_none_or(|point| point.segments.last().is_some_and(|last| is_stage(&last.ident)));
    match point {
        Some(point) if !allowed && is_called(&reference.elem, "FlowContext") => {
            let flow = location::spelled(point);
            errors.push(
                exclusive.span,
                format!(
                    "handlers belong to the stages of a flow: write \
                     `#[hook_handler(BeforeExecute<{flow}>)]`, or another of its stages"
                ),
            );
        }
        _ if !allowed => {
            let message = format!(
                "handlers get the payload by shared reference: take `&{}`",
                location::spelled(&*reference.elem)
            );
            errors.push(exclusive.span, message);
        }
        _ => {}
    }
    allowed
}

/// The `&` of a parameter's type.
pub(crate) fn reference(ty: &Type) -> Span {
    match plain(ty) {
        Type::Reference(reference) => reference.and_token.span,
        other => location::of_type(other),
    }
}

/// How the payload's type takes it.
pub(crate) fn taking(ty: &Type) -> Taking {
    match plain(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Taking::Exclusive,
        Type::Reference(reference) if is_open(&reference.elem) => Taking::Open,
        _ => Taking::Shared,
    }
}

fn is_open(ty: &Type) -> bool {
    let words = location::flat(ty.to_token_stream());
    words.iter().any(|word| matches!(word, TokenTree::Ident(ident) if ident == "impl"))
}

fn is_called(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident == name))
}

fn check_context(ty: &Type, errors: &mut Errors) -> bool {
    let shared = matches!(plain(ty), Type::Reference(reference) if reference.mutability.is_none());
    if !shared {
        errors.push(location::of_type(ty), "the context is shared: take `&HookContext`");
    }
    shared
}

/// The type behind a reference, if there is one.
fn behind(ty: &Type) -> &Type {
    match plain(ty) {
        Type::Reference(reference) => plain(&reference.elem),
        other => other,
    }
}

/// The type behind the invisible group in which a `macro_rules!` passes one on.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => plain(&group.elem),
        other => other,
    }
}
