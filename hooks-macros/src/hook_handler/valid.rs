//! Judges a handler's signature: one function a rule, every mistake noted.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericParam, Path, ReceiverKind, ReturnType, Safety, Signature, Type};

use super::model::{Arguments, Draft, Handler};
use crate::errors::Errors;
use crate::location;

/// The points whose handlers get their input exclusively.
const EXCLUSIVE: [&str; 6] =
    ["BeforeValidation", "AfterValidation", "BeforeExecute", "AfterExecute", "OnError", "Finally"];

/// Judges a free function.
pub(crate) fn check_function(
    arguments: &Arguments,
    draft: &Draft,
    errors: &mut Errors,
) -> Option<Handler> {
    if let Some(receiver) = draft.sig.receiver() {
        errors.push(
            receiver.self_token.span,
            "a method becomes a handler through its block: put `#[hook_handlers]` on the impl block",
        );
        return None;
    }
    let parameters: Vec<&FnArg> = draft.sig.inputs.iter().collect();
    check(arguments, &draft.sig, &parameters, errors)
}

/// Judges a method of a `#[hook_handlers]` block.
pub(crate) fn check_method(
    arguments: &Arguments,
    draft: &Draft,
    errors: &mut Errors,
) -> Option<Handler> {
    let shared = check_receiver(&draft.sig, errors);
    let parameters: Vec<&FnArg> =
        draft.sig.inputs.iter().filter(|parameter| matches!(parameter, FnArg::Typed(_))).collect();
    check(arguments, &draft.sig, &parameters, errors).filter(|_| shared)
}

fn check(
    arguments: &Arguments,
    sig: &Signature,
    parameters: &[&FnArg],
    errors: &mut Errors,
) -> Option<Handler> {
    let qualifiers = check_qualifiers(sig, errors);
    let generics = check_generics(sig, errors);
    let count = check_count(sig, parameters, errors);
    let payload = parameters.first().and_then(|parameter| typed(parameter));
    let context = parameters.get(1).and_then(|parameter| typed(parameter));
    let order = check_order(payload, errors);
    let payload_ok =
        payload.is_none_or(|ty| !order || check_payload(arguments.point.as_ref(), ty, errors));
    let context_ok = context.is_none_or(|ty| !order || check_context(ty, errors));
    // A point that is missing is reported already.
    let point = arguments.point.clone()?;
    let sound = qualifiers && generics && count && order && payload_ok && context_ok;
    sound.then(|| Handler {
        point,
        ident: sig.ident.clone(),
        name: name(arguments, &sig.ident),
        is_async: sig.asyncness.is_some(),
        context_at: context.map(location::of_type),
        payload_at: payload.map_or_else(|| sig.ident.span(), location::of_type),
        result_at: match &sig.output {
            ReturnType::Type(_, ty) => location::of_type(ty),
            ReturnType::Default => sig.ident.span(),
        },
    })
}

fn name(arguments: &Arguments, ident: &Ident) -> String {
    match &arguments.name {
        Some(name) => name.value(),
        None => ident.unraw().to_string(),
    }
}

fn typed(parameter: &FnArg) -> Option<&Type> {
    match parameter {
        FnArg::Typed(parameter) => Some(&parameter.ty),
        FnArg::Receiver(_) => None,
    }
}

fn check_receiver(sig: &Signature, errors: &mut Errors) -> bool {
    let Some(receiver) = sig.receiver() else {
        errors.push(
            sig.ident.span(),
            format!(
                "a handler of a plugin takes `&self` first: write `fn {}(&self, …)`",
                sig.ident
            ),
        );
        return false;
    };
    let span = match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => return true,
        ReceiverKind::Typed(_, ty) if is_shared_self(ty) => return true,
        ReceiverKind::Reference(_, _, Some(exclusive)) => exclusive.span,
        _ => receiver.self_token.span,
    };
    errors.push(span, "a plugin is shared: take `&self`");
    false
}

/// Whether the type is `&Self`, as in `self: &Self`.
fn is_shared_self(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_none()
        && matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self")))
}

fn check_qualifiers(sig: &Signature, errors: &mut Errors) -> bool {
    let safety = match &sig.safety {
        Safety::Unsafe(word) => Some((word.span, "unsafe")),
        Safety::Safe(word) => Some((word.span, "safe")),
        Safety::Default => None,
    };
    let found = [
        sig.constness.as_ref().map(|word| (word.span, "const")),
        safety,
        sig.abi.as_ref().map(|abi| (abi.extern_token.span, "extern")),
        sig.variadic.as_ref().map(|dots| (dots.dots.spans[0], "variadic")),
    ];
    let mut sound = true;
    for (span, word) in found.into_iter().flatten() {
        errors.push(span, format!("a handler cannot be {word}: remove this"));
        sound = false;
    }
    sound
}

fn check_generics(sig: &Signature, errors: &mut Errors) -> bool {
    let mut sound = true;
    for parameter in &sig.generics.params {
        let ident = match parameter {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
        };
        errors.push(
            ident.span(),
            format!("a handler cannot be generic: write the type that `{ident}` stands for"),
        );
        sound = false;
    }
    sound
}

fn check_count(sig: &Signature, parameters: &[&FnArg], errors: &mut Errors) -> bool {
    if parameters.is_empty() {
        errors.push(
            sig.ident.span(),
            "a handler takes the payload: add a parameter `payload: &Payload`",
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

/// The compiler would offer to swap the arguments of a call that nobody wrote.
fn check_order(first: Option<&Type>, errors: &mut Errors) -> bool {
    let context = first.map(behind).filter(|ty| is_called(ty, "HookContext"));
    if let Some(ty) = context {
        errors.push(
            location::of_type(ty),
            "the payload comes first: write `payload: &Payload, cx: &HookContext`",
        );
    }
    context.is_none()
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
    let allowed = point.is_none_or(|point| {
        point.segments.last().is_some_and(|last| EXCLUSIVE.iter().any(|name| last.ident == name))
    });
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
