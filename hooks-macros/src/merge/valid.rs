//! Judges whether a type can merge field by field.

use proc_macro2::{Ident, Span};
use syn::{Fields, FieldsNamed, GenericArgument, PathArguments, Type};

use super::model::{Draft, Kind, MAX_FIELDS, Merged, MergedField};
use crate::errors::Errors;
use crate::location;

/// Every rule that the type breaks is noted; `None` if there is one.
pub(crate) fn check(draft: &Draft, errors: &mut Errors) -> Option<Merged> {
    let fields = check_kind(draft, errors)?;
    let mut sound = check_count(fields.named.len(), draft.ident.span(), errors);
    let mut merged = Vec::new();
    for field in &fields.named {
        sound &= check_option(&field.ty, errors);
        sound &= field.ident.as_ref().is_none_or(|ident| check_name(ident, errors));
        // Fields under a false condition are gone before a derive runs.
        let cfgs = Vec::new();
        let at = location::of_type(&field.ty);
        merged.extend(field.ident.clone().map(|ident| MergedField { ident, at, cfgs }));
    }
    sound.then(|| Merged {
        rt: draft.rt.clone(),
        attrs: Vec::new(),
        ident: draft.ident.clone(),
        generics: draft.generics.clone(),
        fields: merged,
    })
}

fn check_kind<'a>(draft: &'a Draft, errors: &mut Errors) -> Option<&'a FieldsNamed> {
    let message = match &draft.kind {
        Kind::Struct(Fields::Named(fields)) => return Some(fields),
        Kind::Struct(_) => {
            "a merged result has named fields: write `struct Name { field: Option<T> }`"
        }
        Kind::Enum => "`Merge` works field by field: derive it for a struct, not for an enum",
        Kind::Union => "`Merge` works field by field: derive it for a struct, not for a union",
    };
    errors.push(draft.ident.span(), message);
    None
}

/// Whether the type is written as an `Option` of one thing. Only the spelling
/// can be judged here; the compiler judges the rest.
pub(crate) fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|segment| {
        segment.ident == "Option"
            && matches!(&segment.arguments, PathArguments::AngleBracketed(list)
                if list.args.len() == 1
                    && matches!(list.args.first(), Some(GenericArgument::Type(_))))
    })
}

/// Notes a struct with more fields than the runtime can keep apart.
pub(crate) fn check_count(count: usize, span: Span, errors: &mut Errors) -> bool {
    if count > MAX_FIELDS {
        errors.push(
            span,
            format!("a merged result has at most {MAX_FIELDS} fields, this one has {count}: group some in a struct"),
        );
    }
    count <= MAX_FIELDS
}

/// Notes a field that no expression can name. The parser takes `_` for a name.
fn check_name(ident: &Ident, errors: &mut Errors) -> bool {
    let named = ident != "_";
    if !named {
        errors.push(ident.span(), "each field of a merged result has a name: `_` is none");
    }
    named
}

fn check_option(ty: &Type, errors: &mut Errors) -> bool {
    let option = match ty {
        // A type that a `macro_rules!` matched arrives in an invisible group.
        Type::Group(group) => is_option(&group.elem),
        other => is_option(other),
    };
    if !option {
        errors.push(
            location::of_type(ty),
            format!(
                "each field of a merged result is an `Option`: write `Option<{}>`",
                location::spelled(ty)
            ),
        );
    }
    option
}
