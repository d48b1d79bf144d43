//! The catalogue as a page for people.

use std::fmt::Write as _;

use super::{Catalogue, PointInfo, TypeInfo};
use crate::point::ModelKind;

impl Catalogue {
    /// The points as Markdown: a section of the second level for each.
    ///
    /// Where a type has a JSON Schema its fields are listed as the wire spells
    /// them, and the types that they refer to follow the points; otherwise
    /// fields are listed as Rust spells them.
    pub fn to_markdown(&self) -> String {
        let mut page: Vec<String> = self.points().iter().map(section).collect();
        page.extend(shared_types(self));
        page.join("\n")
    }
}

/// A `|` would end the cell, a line break the table.
pub(super) fn cell(text: &str) -> String {
    unlinked(text).replace('|', "\\|").replace('\n', " ")
}

/// The text with links to Rust items, such as ``[`Vec`]``, as plain code: only
/// rustdoc can follow them, and only from where they are written.
pub(super) fn unlinked(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        plain.push_str(before);
        match after.split_once("`]") {
            Some((item, after)) if !after.starts_with(['(', '[']) => {
                let _ = write!(plain, "`{item}`");
                rest = after;
            }
            _ => {
                plain.push_str("[`");
                rest = after;
            }
        }
    }
    plain + rest
}

fn section(point: &PointInfo) -> String {
    let limit = point.timeout().map_or_else(String::new, |limit| format!(", {limit:?}"));
    let mut text =
        format!("## `{}`\n\n*{}*, {}{limit}\n", point.name(), point.model(), point.policy());
    match point.deprecated() {
        None => {}
        Some("") => text.push_str("\n**Deprecated.**\n"),
        Some(note) => drop(writeln!(text, "\n**Deprecated:** {note}")),
    }
    if !point.doc().is_empty() {
        let _ = writeln!(text, "\n{}", unlinked(point.doc()));
    }
    if let [first, .., last] = *point.stage_names() {
        let _ = writeln!(text, "\nHandlers belong to its stages, from `{first}` to `{last}`.");
    }
    let (payload, result) = match point.model() {
        ModelKind::Flow => ("Input", "Output"),
        ModelKind::Claiming => ("Payload", "Claim"),
        ModelKind::Gating => ("Payload", "Reason"),
        _ => ("Payload", "Result"),
    };
    text.push_str(&described(payload, point.payload()));
    text.extend(point.result().map(|ty| described(result, ty)));
    text
}

fn described(what: &str, ty: &TypeInfo) -> String {
    format!("\n{what} `{}`\n{}", ty.name(), fields(ty))
}

#[cfg(feature = "schema")]
fn fields(ty: &TypeInfo) -> String {
    ty.schema().map_or_else(|| declared_fields(ty), |schema| super::schema::shape(&schema))
}

#[cfg(not(feature = "schema"))]
fn fields(ty: &TypeInfo) -> String {
    declared_fields(ty)
}

fn declared_fields(ty: &TypeInfo) -> String {
    let rows = ty.fields().iter().map(|field| {
        format!("| `{}` | `{}` | {} |\n", field.name, cell(field.ty), cell(field.doc))
    });
    table(rows.collect())
}

/// A table of fields, unless there are none.
pub(super) fn table(rows: String) -> String {
    if rows.is_empty() { rows } else { format!("\n| field | type | |\n|---|---|---|\n{rows}") }
}

#[cfg(feature = "schema")]
fn shared_types(catalogue: &Catalogue) -> Option<String> {
    let types = catalogue.points().iter().flat_map(|point| {
        std::iter::once(point.payload()).chain(point.result()).filter_map(TypeInfo::schema)
    });
    super::schema::definitions(types)
}

#[cfg(not(feature = "schema"))]
fn shared_types(_: &Catalogue) -> Option<String> {
    None
}
