//! Reads a block of declarations. A broken one is reported and left behind;
//! the ones after it are read all the same.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::token::{Brace, Bracket, Paren};
use syn::{Attribute, Generics, Token, Type, Visibility};

use super::attrs;
use super::model::{Arrow, BlockOptions, DraftBlock, DraftPoint, Field, Shape};
use super::models::Model;
use crate::errors::Errors;
use crate::{runtime, stream, suggest};

/// Reads `[runtime path] #![hook(…)] point point …`.
pub(crate) fn parse(input: TokenStream, errors: &mut Errors) -> DraftBlock {
    let (rt, block_tokens) = runtime::split(input);
    let (options, points) = stream::read(block_tokens, |input| block(input, errors));
    DraftBlock { rt, options, points }
}

fn block(input: ParseStream, errors: &mut Errors) -> (BlockOptions, Vec<DraftPoint>) {
    let options = match input.call(Attribute::parse_inner) {
        Ok(inner) => attrs::block(&inner, errors),
        Err(error) => {
            errors.add(error);
            BlockOptions::default()
        }
    };
    let mut points = Vec::new();
    while !input.is_empty() {
        let start = input.cursor();
        match point(input, errors) {
            Ok(point) => points.extend(point),
            Err(error) => {
                errors.add(error);
                skip_point(input, input.cursor() == start);
            }
        }
    }
    (options, points)
}

/// Reads one point. An error means that nothing usable was found; a point that
/// has at least its name is returned, with the mistakes noted.
fn point(input: ParseStream, errors: &mut Errors) -> syn::Result<Option<DraftPoint>> {
    let attrs = input.call(Attribute::parse_outer)?;
    if input.is_empty() {
        let at = attrs.last().map_or_else(Span::call_site, |attr| attr.pound_token.span);
        return Err(syn::Error::new(at, "no hook point follows: write one, or remove this"));
    }
    let vis: Visibility = input.parse()?;
    let (word, ident) = heading(input, errors)?;
    if input.peek(Token![<]) {
        errors.push(input.span(), "a hook point cannot be generic: remove the parameters");
        input.parse::<Generics>()?;
    }
    let mut point = DraftPoint { attrs, vis, word, ident, payload: None, result: Arrow::Absent };
    if let Err(error) = body(input, &mut point, errors) {
        errors.add(error);
        skip_point(input, false);
    }
    Ok(Some(point))
}

/// Reads `void Name`. A name alone is read as a point without its model.
fn heading(input: ParseStream, errors: &mut Errors) -> syn::Result<(Option<Ident>, Ident)> {
    let no_point = |at| syn::Error::new(at, format!("expected a hook point: {}", example()));
    // Another `pub` is the next declaration, whatever became of this one.
    if input.peek(Token![pub]) {
        return Err(no_point(input.span()));
    }
    let word = Ident::parse_any(input).map_err(|error| no_point(error.span()))?;
    if input.peek(Ident::peek_any) && !input.peek(Token![pub]) {
        let ident = input.parse()?;
        return Ok((Some(word), ident));
    }
    if Model::from_word(&word.to_string()).is_some() || is_keyword(&word) {
        let message = format!("expected the name of a hook point after `{word}`");
        return Err(syn::Error::new(word.span(), message));
    }
    errors.push(
        word.span(),
        format!(
            "the model of `{word}` is missing: write one of {} before it",
            suggest::list(&Model::words())
        ),
    );
    Ok((None, word))
}

fn example() -> String {
    format!(
        "write `pub void Name {{ … }}`, or another model: {}",
        suggest::list(&Model::words()[1..])
    )
}

fn is_keyword(word: &Ident) -> bool {
    syn::parse_str::<Ident>(&word.to_string()).is_err()
}

/// Reads payload, result and terminator.
fn body(input: ParseStream, point: &mut DraftPoint, errors: &mut Errors) -> syn::Result<()> {
    let mut closed = input.peek(Brace);
    point.payload = Some(payload(input, &point.ident, errors)?);
    if input.peek(Token![->]) {
        let arrow: Token![->] = input.parse()?;
        point.result = Arrow::Unreadable;
        let shape = result(input, errors)?;
        closed = matches!(shape, Shape::Fields(_));
        point.result = Arrow::Given(arrow.spans[0], shape);
    }
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
    } else if !closed {
        // The next declaration, if there is one, starts right here.
        errors.push(
            point.ident.span(),
            format!("the declaration of `{}` does not end: add `;`", point.ident),
        );
        skip_point(input, false);
    }
    Ok(())
}

fn payload(input: ParseStream, name: &Ident, errors: &mut Errors) -> syn::Result<Shape> {
    if input.peek(Brace) {
        return fields(input, errors).map(Shape::Fields);
    }
    if !input.peek(Paren) {
        let message = format!(
            "the payload of `{name}` is missing: write `{{ field: Type }}` or `(Type)` after the name"
        );
        return Err(syn::Error::new(name.span(), message));
    }
    let content;
    let parens = syn::parenthesized!(content in input);
    if content.is_empty() {
        let message = "name the type of the payload, or declare it in braces: `{ field: Type }`";
        return Err(syn::Error::new(parens.span.join(), message));
    }
    let ty = typed(&content)?;
    content.parse::<Option<Token![,]>>()?;
    if !content.is_empty() {
        let message = "a payload is one type: declare the fields in braces, `{ field: Type }`";
        let at = content.span();
        drain(&content);
        errors.push(at, message);
    }
    Ok(Shape::Type(Box::new(ty)))
}

fn result(input: ParseStream, errors: &mut Errors) -> syn::Result<Shape> {
    if input.peek(Brace) {
        return fields(input, errors).map(Shape::Fields);
    }
    if input.is_empty() || input.peek(Token![;]) {
        let message = "the result is missing: write a type or `{ field: Type }` after `->`";
        return Err(syn::Error::new(input.span(), message));
    }
    let ty = typed(input)?;
    if !input.peek(Brace) {
        return Ok(Shape::Type(Box::new(ty)));
    }
    errors.push(
        ty.span(),
        "fields of a result are declared without a name: remove this, or declare the type elsewhere \
         and write `;` in place of the fields",
    );
    fields(input, errors).map(Shape::Fields)
}

fn fields(input: ParseStream, errors: &mut Errors) -> syn::Result<Vec<Field>> {
    let content;
    syn::braced!(content in input);
    let mut fields = Vec::new();
    while !content.is_empty() {
        match field(&content) {
            Ok((field, vis)) => {
                if let Visibility::Restricted(vis) = vis {
                    errors.push(vis.span(), "the fields are public: remove this or write `pub`");
                }
                fields.push(field);
            }
            Err(error) => {
                errors.add(error);
                skip_field(&content);
            }
        }
    }
    Ok(fields)
}

fn field(input: ParseStream) -> syn::Result<(Field, Visibility)> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    let ident: Ident = if input.peek(syn::Ident) {
        input.parse()?
    } else {
        let word = Ident::parse_any(input)
            .map_err(|error| syn::Error::new(error.span(), "expected a field: `name: Type`"))?;
        let message = if word == "_" {
            "expected a field: `_` is no name".to_owned()
        } else {
            format!("`{word}` is a keyword: write `r#{word}` or another name")
        };
        return Err(syn::Error::new(word.span(), message));
    };
    input.parse::<Token![:]>().map_err(|_| {
        syn::Error::new(
            ident.span(),
            format!("the type of `{ident}` is missing: write `{ident}: Type`"),
        )
    })?;
    let ty = typed(input)?;
    if !input.is_empty() {
        input
            .parse::<Token![,]>()
            .map_err(|error| syn::Error::new(error.span(), "expected `,` before the next field"))?;
    }
    Ok((Field { attrs, ident, ty }, vis))
}

/// The parser lists every token that may start a type, which is of no help.
fn typed(input: ParseStream) -> syn::Result<Type> {
    input.parse().map_err(|error| syn::Error::new(error.span(), "expected a type here"))
}

/// Leaves the input where a declaration plausibly starts: behind a `;`, behind
/// a brace that no arrow follows, or before the head of one.
fn skip_point(input: ParseStream, stuck: bool) {
    let mut must_advance = stuck;
    while !input.is_empty() {
        if !must_advance && starts_point(input) {
            return;
        }
        must_advance = false;
        let ends = input.peek(Token![;]) || input.peek(Brace);
        // Every token tree parses, so the loop always advances.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
        if ends && !input.peek(Token![->]) {
            input.parse::<Option<Token![;]>>().ok();
            return;
        }
    }
}

fn starts_point(input: ParseStream) -> bool {
    if input.peek(Token![#]) && input.peek2(Bracket) || input.peek(Token![pub]) {
        return true;
    }
    let ahead = input.fork();
    ahead
        .call(Ident::parse_any)
        .is_ok_and(|word| Model::from_word(&word.to_string()).is_some() && ahead.peek(syn::Ident))
}

/// Leaves the input behind the comma that most likely ends the bad field.
/// Commas between generic arguments stand at the same level, hence the look
/// ahead for the start of a field.
fn skip_field(input: ParseStream) {
    while !input.is_empty() {
        let comma = input.peek(Token![,]);
        if input.parse::<TokenTree>().is_err() {
            return;
        }
        let starts = input.peek(Token![#])
            || input.peek(Token![pub])
            || (input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]));
        if comma && starts {
            return;
        }
    }
}

/// An unread rest would make the parser report it a second time.
fn drain(input: ParseStream) {
    while !input.is_empty() && input.parse::<TokenTree>().is_ok() {}
}
