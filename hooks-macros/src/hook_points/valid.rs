//! Judges a block: one function a rule, every mistake noted.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{LitStr, Meta, Path, Token, Type};

use super::model::{
    Arrow, Block, BlockOptions, DraftBlock, DraftPoint, Point, PointAttrs, Schema, Shape,
};
use super::models::{Model, ResultRule};
use super::{attrs, fallback};
use crate::errors::Errors;
use crate::merge::check_count;
use crate::{case, features, suggest};

/// The longest wire name, in bytes.
const MAX_NAME: usize = 128;

/// Makes every point ready to expand, broken ones with what fits best.
pub(crate) fn check(draft: DraftBlock, errors: &mut Errors) -> Block {
    let DraftBlock { rt, options, points } = draft;
    let mut taken = Taken::default();
    let mut checked = Vec::new();
    for point in points {
        let point = check_point(point, &options, errors);
        taken.check_name(&point, errors);
        // A second item of one name would be a second error.
        if taken.check_types(&point, errors) {
            checked.push(point);
        }
    }
    let json = check_json(options.json.as_ref(), errors);
    let schema = check_schema(&options, errors);
    let catalogue = options.catalogue;
    Block { rt, json, schema, catalogue, points: checked }
}

/// A schema describes JSON; without it the derive would be a second error.
fn check_schema(options: &BlockOptions, errors: &mut Errors) -> Schema {
    match (options.schema_at, &options.json) {
        (Some(at), None) => {
            let message = "a schema describes JSON: add `json = \"camelCase\"`, or another case";
            errors.push(at, message);
            Schema::Never
        }
        (Some(at), _) if !features::SCHEMA => {
            if let Schema::When(condition) = &options.schema {
                return Schema::MissingWhen(condition.clone());
            }
            errors.push(at, features::missing("schema"));
            Schema::Never
        }
        _ => options.schema.clone(),
    }
}

/// Without serde every derive would be an error of its own.
fn check_json(json: Option<&LitStr>, errors: &mut Errors) -> Option<LitStr> {
    let case = json?;
    if !features::SERDE {
        errors.push(case.span(), features::missing("json"));
        return None;
    }
    Some(case.clone())
}

fn check_point(draft: DraftPoint, options: &BlockOptions, errors: &mut Errors) -> Point {
    let mut attrs = attrs::point(draft.attrs, errors);
    let model = check_model(draft.word.as_ref(), &draft.result, errors);
    let wire = check_wire(&draft.ident, &attrs, errors);
    let on_failure = check_on_failure(model, &attrs, errors).or(options.on_failure);
    let mut result = check_result(model, &draft.ident, draft.result, errors);
    let mut payload = draft.payload.unwrap_or_else(fallback::payload);
    check_owned("payload", &mut payload, errors);
    if let Some(result) = &mut result {
        check_owned(if model.has_reason() { "reason" } else { "result" }, result, errors);
    }
    check_in_place("payload", attrs.payload_at, Some(&payload), errors);
    check_in_place("result", attrs.result_at, result.as_ref(), errors);
    check_derives(&mut attrs.payload, &["Debug", "Clone"], errors);
    check_derives(&mut attrs.result, result_derives(model), errors);
    Point {
        model,
        wire,
        timeout: attrs.timeout.or(options.timeout),
        // A flow's stages have fixed policies, whatever the block says.
        on_failure: on_failure.filter(|_| !model.has_stages),
        attrs,
        vis: draft.vis,
        ident: draft.ident,
        payload,
        result,
    }
}

fn check_model(word: Option<&Ident>, result: &Arrow, errors: &mut Errors) -> &'static Model {
    let text = word.map(ToString::to_string);
    if let Some(model) = text.as_deref().and_then(Model::from_word) {
        return model;
    }
    if let (Some(word), Some(text)) = (word, &text) {
        errors.push(
            word.span(),
            format!("unknown hook model `{text}`: {}", suggest::hint(text, &Model::words())),
        );
    }
    fallback::model(text.as_deref(), !matches!(result, Arrow::Absent))
}

fn check_wire(ident: &Ident, attrs: &PointAttrs, errors: &mut Errors) -> String {
    let (wire, span) = match &attrs.name {
        Some(name) => (name.value(), name.span()),
        None => (case::snake(ident), ident.span()),
    };
    if wire.len() > MAX_NAME {
        errors.push(
            span,
            format!("a wire name has at most {MAX_NAME} bytes, this one has {}", wire.len()),
        );
    }
    if let Some(bad) = wire.chars().find(|letter| !letter.is_ascii_graphic()) {
        let fix = match attrs.name {
            Some(_) => "use other characters",
            None => "give the point `#[hook(name = \"…\")]`",
        };
        errors.push(
            span,
            format!(
                "a wire name is printable ASCII without spaces, so {bad:?} cannot be in it: {fix}"
            ),
        );
    }
    wire
}

fn check_on_failure(
    model: &Model,
    attrs: &PointAttrs,
    errors: &mut Errors,
) -> Option<crate::policy::Policy> {
    let (span, policy) = attrs.on_failure?;
    if model.has_stages {
        errors.push(span, "the stages of a flow have fixed failure policies: remove `on_failure`");
    }
    Some(policy)
}

fn check_result(model: &Model, ident: &Ident, arrow: Arrow, errors: &mut Errors) -> Option<Shape> {
    let (span, shape) = match arrow {
        Arrow::Given(span, shape) => (span, shape),
        Arrow::Unreadable => return fallback::unreadable(model),
        Arrow::Absent => return check_absent(model, ident, errors),
    };
    match (model.result, &shape) {
        (ResultRule::None(mistake), _) | (ResultRule::Reason(mistake), Shape::Fields(_)) => {
            errors.push(span, mistake);
        }
        (ResultRule::Merged, Shape::Fields(fields)) => {
            check_count(fields.len(), ident.span(), errors);
        }
        _ => {}
    }
    Some(shape)
}

fn check_absent(model: &Model, ident: &Ident, errors: &mut Errors) -> Option<Shape> {
    let fix = match model.result {
        ResultRule::None(_) | ResultRule::Reason(_) => return None,
        ResultRule::Merged => "`-> { field: Type }` or `-> Type;`",
        ResultRule::Plain => "`-> Type;` or `-> { field: Type }`",
    };
    let word = model.word;
    errors
        .push(ident.span(), format!("a {word} point has a result: write {fix} after the payload"));
    Some(fallback::result())
}

/// Attributes can be put only on a struct that the macro declares.
fn check_in_place(what: &str, at: Option<Span>, shape: Option<&Shape>, errors: &mut Errors) {
    let Some(span) = at else { return };
    match shape {
        Some(Shape::Fields(_)) => {}
        Some(Shape::Type(_)) => errors.push(
            span,
            format!("the {what} is a type that exists: put the attributes on its declaration"),
        ),
        None => errors.push(span, format!("this point has no {what}: remove the attribute")),
    }
}

fn result_derives(model: &Model) -> &'static [&'static str] {
    if model.is_merged() { &["Debug", "Clone", "Default"] } else { &["Debug", "Clone"] }
}

/// A trait derived twice would be reported on generated code, so the second one
/// is left out.
fn check_derives(metas: &mut [Meta], given: &[&str], errors: &mut Errors) {
    for meta in metas {
        let Meta::List(list) = meta else { continue };
        if !list.path.is_ident("derive") {
            continue;
        }
        let paths = list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let Ok(paths) = paths else { continue };
        let (again, new): (Vec<Path>, Vec<Path>) = paths.into_iter().partition(|path| {
            let name = path.segments.last().map(|segment| segment.ident.to_string());
            name.is_some_and(|name| given.contains(&name.as_str()))
        });
        for segment in again.iter().filter_map(|path| path.segments.last()) {
            let message = format!("`{}` is derived already: remove it", segment.ident);
            errors.push(segment.ident.span(), message);
        }
        if !again.is_empty() {
            list.tokens = quote!(#(#new),*);
        }
    }
}

/// The compiler would offer to make the point generic, which it cannot be.
fn check_owned(what: &str, shape: &mut Shape, errors: &mut Errors) {
    let types: Vec<&mut Type> = match shape {
        Shape::Fields(fields) => fields.iter_mut().map(|field| &mut field.ty).collect(),
        Shape::Type(ty) => vec![ty.as_mut()],
    };
    for ty in types {
        if let Some((at, owned)) = fallback::owned(ty) {
            let message =
                format!("a {what} owns what it holds: write an owned type, as `String` for `&str`");
            errors.push(at, message);
            *ty = owned;
        }
    }
}

/// The names that a block has used so far, each with its point and whether
/// that point may be compiled out.
#[derive(Default)]
struct Taken {
    wires: HashMap<String, (Ident, bool)>,
    types: HashMap<String, (Ident, bool)>,
}

impl Taken {
    fn check_name(&mut self, point: &Point, errors: &mut Errors) {
        let conditional = point.attrs.is_conditional();
        let Some((first, was_conditional)) = self.wires.get(&point.wire) else {
            self.wires.insert(point.wire.clone(), (point.ident.clone(), conditional));
            return;
        };
        // A second point of one identifier is reported for that.
        if *first == point.ident || (conditional && *was_conditional) {
            return;
        }
        let span = point.attrs.name.as_ref().map_or_else(|| point.ident.span(), LitStr::span);
        errors.push(
            span,
            format!(
                "the wire name `{}` is taken by `{first}` in this block: \
                 give one of them another `#[hook(name = \"…\")]`",
                point.wire
            ),
        );
    }

    fn check_types(&mut self, point: &Point, errors: &mut Errors) -> bool {
        let conditional = point.attrs.is_conditional();
        let mut free = true;
        for name in type_names(point) {
            let key = name.unraw().to_string();
            let Some((first, was_conditional)) = self.types.get(&key) else {
                self.types.insert(key, (point.ident.clone(), conditional));
                continue;
            };
            if free && !(conditional && *was_conditional) {
                free = false;
                errors.push(
                    point.ident.span(),
                    format!("`{key}` is declared already by the point `{first}` in this block: choose another name"),
                );
            }
        }
        free
    }
}

/// The types that the expansion of a point declares.
fn type_names(point: &Point) -> Vec<Ident> {
    let mut names = vec![point.ident.clone()];
    if matches!(point.payload, Shape::Fields(_)) {
        names.push(format_ident!("{}Payload", point.ident));
    }
    if matches!(point.result, Some(Shape::Fields(_))) {
        names.push(format_ident!("{}Result", point.ident));
    }
    names
}
