//! `GET api/audit`: what has no effect, or was never used.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hooks_runtime::registry::{Audit, NeverCalled};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shared::Shared;
use crate::text::address;

/// What has no effect, or was never used.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditResponse {
    /// Whether everything adds up.
    clean: bool,
    /// Points that were never fired, though they have handlers or are declared.
    never_fired: Vec<&'static str>,
    /// Handlers that were never called.
    never_called: Vec<NeverCalledRow>,
    /// Points that were fired and are in no catalogue of the page, if it has any.
    undeclared: Vec<&'static str>,
    /// All else, each as a sentence: constraints that name no handler or are not kept,
    /// plugins that never registered a handler, names that are declared twice.
    problems: Vec<String>,
}

/// A handler that was never called.
#[derive(Debug, Serialize, JsonSchema)]
struct NeverCalledRow {
    /// The handler, as `point:plugin/handler`.
    handler: String,
    why: String,
}

pub(super) async fn audit(State(shared): State<Arc<Shared>>) -> Json<AuditResponse> {
    // Two catalogues may have points of one name, and do not go together then: each is
    // asked on its own.
    let declared = shared.groups.iter().map(|group| shared.hooks.audit_with(&group.catalogue));
    let audits: Vec<Audit> = declared.collect();
    let audit = shared.hooks.audit();
    let mut never_fired: BTreeSet<_> = audit.never_fired.iter().copied().collect();
    never_fired.extend(audits.iter().flat_map(|audit| audit.never_fired.iter().copied()));
    // Of two points of one name the registry has one, and its catalogue knows.
    let declared = |name: &str, judged: &dyn Fn(&Audit) -> bool| {
        let mut audits = shared.groups.iter().zip(&audits);
        audits.any(|(group, audit)| group.catalogue.get(name).is_some() && judged(audit))
    };
    never_fired.retain(|name| !declared(name, &|audit| !audit.never_fired.contains(name)));
    let is_here = |name: &str| {
        let clashes = |audit: &Audit| audit.declared_twice.iter().any(|clash| clash.name == name);
        declared(name, &|audit| !clashes(audit))
    };
    // Undeclared is what is in none of them.
    let undeclared =
        audits.iter().map(|audit| audit.undeclared.iter().copied().collect::<BTreeSet<_>>());
    let undeclared = undeclared.reduce(|all, more| &all & &more).unwrap_or_default();
    let mut problems: Vec<String> = Vec::new();
    problems.extend(audit.unknown_constraints.iter().map(ToString::to_string));
    problems.extend(audit.dropped.iter().map(ToString::to_string));
    problems.extend(audit.unknown_plugins.iter().map(ToString::to_string));
    let twice: BTreeSet<String> = audits
        .iter()
        .flat_map(|audit| audit.declared_twice.iter())
        .filter(|clash| !is_here(clash.name))
        .map(ToString::to_string)
        .collect();
    problems.extend(twice);
    let never_called = audit.never_called.iter().map(|never| {
        let NeverCalled { point, handler, owner, why } = never;
        NeverCalledRow { handler: address(point, owner, handler), why: why.to_string() }
    });
    let never_called: Vec<_> = never_called.collect();
    Json(AuditResponse {
        clean: never_fired.is_empty()
            && never_called.is_empty()
            && undeclared.is_empty()
            && problems.is_empty(),
        never_fired: never_fired.into_iter().collect(),
        never_called,
        undeclared: undeclared.into_iter().collect(),
        problems,
    })
}
