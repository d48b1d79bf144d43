//! A fire, as pages see it.

use std::collections::BTreeMap;

use hooks_runtime::operator::TracedFire;
use hooks_runtime::report::{HandlerReport, HandlerStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::{address, nanoseconds, shortened, unix_ms};

/// More rows of one fire are counted only: a point may have thousands of handlers.
const MOST_ROWS: usize = 64;
/// Of the notes of a handler.
const MOST_NOTES: usize = 16;

/// One fire.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FireEvent {
    /// Its number: no other fire of the process has it.
    pub(crate) id: u64,
    /// Of a stage, the number of the run that it is part of.
    pub(crate) run: Option<u64>,
    /// The fire whose handler fired it.
    pub(crate) parent: Option<u64>,
    /// How many fires it is nested in.
    pub(crate) depth: usize,
    /// The wire name of the point.
    pub(crate) point: &'static str,
    /// Its model.
    pub(crate) model: String,
    /// The outcome in one word, such as `passed`, `rejected` or `failed`.
    pub(crate) outcome: &'static str,
    /// The error, where it failed.
    pub(crate) error: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// How long it took, in nanoseconds.
    pub(crate) took_ns: u64,
    /// What became of each handler, in order: at most 64.
    pub(crate) handlers: Vec<HandlerRow>,
    /// How many handlers are left out of that list.
    pub(crate) more: usize,
    /// How many break-glass settings held.
    pub(crate) break_glass: usize,
}

/// What became of one handler in a fire.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HandlerRow {
    /// The handler, as `point:plugin/handler`.
    pub(crate) handler: String,
    /// `ran`, `filtered`, `failed`, `cancelled`, `shadowed` or `shadow_failed`.
    pub(crate) status: &'static str,
    /// What it decided, why it was not called, how it failed: as text.
    pub(crate) text: String,
    /// How long it ran, in nanoseconds; nothing where it was not called.
    pub(crate) took_ns: Option<u64>,
    /// The settings of an operator that counted for it.
    pub(crate) settings: Vec<u64>,
    /// What it noted of the call: at most 16 notes.
    pub(crate) notes: BTreeMap<&'static str, String>,
}

impl FireEvent {
    /// One line of JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<&TracedFire> for FireEvent {
    fn from(fire: &TracedFire) -> Self {
        let rows = fire.report().handlers();
        let shown = rows.iter().take(MOST_ROWS);
        Self {
            id: fire.id(),
            run: fire.run(),
            parent: fire.parent(),
            depth: fire.depth(),
            point: fire.point(),
            model: fire.model().to_string(),
            outcome: fire.outcome(),
            error: fire.error().map(shortened),
            at_ms: unix_ms(fire.at()),
            took_ns: nanoseconds(fire.took()),
            handlers: shown.map(|row| HandlerRow::new(fire.point(), row)).collect(),
            more: rows.len().saturating_sub(MOST_ROWS),
            break_glass: fire.report().break_glass().len(),
        }
    }
}

impl HandlerRow {
    fn new(point: &str, row: &HandlerReport) -> Self {
        Self {
            handler: address(point, row.owner(), row.handler()),
            status: match row.status() {
                HandlerStatus::Failed { .. } => "failed",
                other => other.as_str(),
            },
            text: shortened(&row.status().to_string()),
            took_ns: row.elapsed().map(nanoseconds),
            settings: row.settings().iter().map(|setting| setting.id().number()).collect(),
            notes: row.notes().take(MOST_NOTES).map(|(key, it)| (key, shortened(it))).collect(),
        }
    }
}
