//! Judges a handler's signature: one function a rule, every mistake noted.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{FnArg, GenericParam, ReceiverKind, ReturnType, Safety, Signature, Type};

use super::model::{Arguments, Draft, Handler};
use super::parameters::{self, Parameters};
use crate::errors::Errors;
use crate::location;

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
    let shared = check_receiver(&draft.sig, "a handler of a plugin takes `&self` first", errors);
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
    let qualifiers = check_qualifiers(sig, "a handler", errors);
    let generics = check_generics(sig, "a handler", errors);
    let parameters = parameters::check(arguments.point.as_ref(), &sig.ident, parameters, errors);
    // A point that is missing is reported already.
    let point = arguments.point.clone()?;
    let Parameters { payload, context } = parameters?;
    let sound = qualifiers && generics;
    sound.then(|| Handler {
        point,
        ident: sig.ident.clone(),
        name: name(arguments, &sig.ident),
        is_async: sig.asyncness.is_some(),
        input: parameters::taking(payload),
        guard_at: arguments.guard,
        context_at: context.map(parameters::reference),
        payload_at: parameters::reference(payload),
        result_at: match &sig.output {
            ReturnType::Type(_, ty) => location::of_type(ty),
            ReturnType::Default => location::start_of(sig.ident.span()),
        },
    })
}

fn name(arguments: &Arguments, ident: &Ident) -> String {
    match &arguments.name {
        Some(name) => name.value(),
        None => ident.unraw().to_string(),
    }
}

/// Whether a method takes `&self`; `missing` says that it should.
pub(crate) fn check_receiver(sig: &Signature, missing: &str, errors: &mut Errors) -> bool {
    let Some(receiver) = sig.receiver() else {
        let parameters = if sig.inputs.is_empty() { "" } else { ", …" };
        errors.push(
            sig.ident.span(),
            format!("{missing}: write `fn {}(&self{parameters})`", sig.ident),
        );
        return false;
    };
    match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => return true,
        ReceiverKind::Typed(_, ty) if is_shared_self(ty) => return true,
        ReceiverKind::Reference(_, _, Some(exclusive)) => errors.push(
            exclusive.span,
            "a plugin is shared: take `&self`, and keep what changes in a `Mutex` or an atomic",
        ),
        _ => errors.push(receiver.self_token.span, "a plugin is shared: take `&self`"),
    }
    false
}

/// Whether the type is `&Self`, as in `self: &Self`.
fn is_shared_self(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_none()
        && matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self")))
}

/// Whether `what` has no qualifiers but `async`.
pub(crate) fn check_qualifiers(sig: &Signature, what: &str, errors: &mut Errors) -> bool {
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
        errors.push(span, format!("{what} cannot be {word}: remove this"));
        sound = false;
    }
    sound
}

/// Whether `what` has no parameters but lifetimes.
pub(crate) fn check_generics(sig: &Signature, what: &str, errors: &mut Errors) -> bool {
    let mut sound = true;
    for parameter in &sig.generics.params {
        let ident = match parameter {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
        };
        errors.push(
            ident.span(),
            format!("{what} cannot be generic: write the type that `{ident}` stands for"),
        );
        sound = false;
    }
    sound
}
