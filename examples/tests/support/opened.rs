//! The page of a day, open in a browser, and the rows that it has to have.

use hooks_browser::Browser;
use hooks_examples::agent::{Event, Fired, Outcome, Record};
use hooks_points::ToolResult;
use hooks_runtime::registry::Owner;
use hooks_runtime::report::{HandlerReport, HandlerStatus};
use tempfile::TempDir;

use super::page::hostile_page;

/// A page in a browser, and what is in the page.
pub(crate) struct Opened {
    pub(crate) browser: Browser,
    pub(crate) rows: Vec<Row>,
    folder: TempDir,
}

/// A row as it has to be.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The name of the point, or all of the text.
    pub(crate) label: String,
    pub(crate) point: Option<&'static str>,
    pub(crate) plugins: Vec<String>,
    pub(crate) outcomes: Vec<&'static str>,
    pub(crate) quiet: bool,
    pub(crate) trouble: bool,
}

/// The labels of the rows that are to be seen.
pub(crate) const SHOWN: &str = "[...document.querySelectorAll('.timeline > li')] \
    .filter((row) => row.checkVisibility()) \
    .map((row) => (row.querySelector('.point') ?? row).textContent)";

/// The label of the row that has the focus.
pub(crate) const FOCUSED: &str = "(() => { const row = document.activeElement; \
    return row.matches('.timeline > li') && row.getAttribute('aria-current') === 'true' \
      ? (row.querySelector('.point') ?? row).textContent : row.id || row.tagName; })()";

impl Opened {
    pub(crate) async fn page() -> Self {
        let (page, records) = hostile_page().await;
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("page.html"), page).expect("a page");
        let rows = records.iter().flat_map(rows).collect();
        let mut opened = Self { browser: Browser::start(), rows, folder };
        opened.open("", 1280);
        opened
    }

    pub(crate) fn open(&mut self, hash: &str, width: u32) {
        self.browser.open(&self.folder.path().join("page.html"), hash, width);
    }

    pub(crate) fn text(&mut self, id: &str) -> String {
        let text = self.browser.eval(&format!("document.getElementById('{id}').textContent"));
        text.as_str().expect("text").to_owned()
    }

    pub(crate) fn focused(&mut self) -> String {
        self.browser.eval(FOCUSED).as_str().expect("text").to_owned()
    }

    /// Whether what has the focus is in the window, and not behind the controls.
    pub(crate) fn sees_focused(&mut self) -> bool {
        let inside = "(() => { const row = document.activeElement.getBoundingClientRect(); \
            const bar = document.getElementById('controls').getBoundingClientRect(); \
            const jump = document.getElementById('next').parentElement.getBoundingClientRect(); \
            const bottom = jump.bottom < innerHeight - 1 ? innerHeight : jump.top; \
            return row.top >= Math.max(0, bar.bottom) && row.bottom <= bottom; })()";
        self.browser.eval(inside) == true
    }

    pub(crate) fn labels(&self, wanted: impl Fn(&Row) -> bool) -> Vec<String> {
        self.rows.iter().filter(|row| wanted(row)).map(|row| row.label.clone()).collect()
    }

    /// The rows that are wanted are shown, no others, and the count says so; `quiet` is
    /// whether those without handlers are among them.
    #[track_caller]
    pub(crate) fn assert_shown(&mut self, quiet: bool, what: &str, wanted: impl Fn(&Row) -> bool) {
        let expected = self.labels(|row| wanted(row) && (quiet || !row.quiet));
        let shown: Vec<String> =
            serde_json::from_value(self.browser.eval(SHOWN)).expect("labels of rows");
        assert_eq!(shown, expected, "{what}");
        let folded = self.rows.iter().filter(|row| wanted(row) && row.quiet && !quiet).count();
        let folded = if folded == 0 { String::new() } else { format!(", {folded} quiet hidden") };
        let count = format!("{} of {} rows shown{folded}", shown.len(), self.rows.len());
        assert_eq!(self.text("count"), count, "{what}");
        let none = self.browser.eval("document.getElementById('none').checkVisibility()");
        assert_eq!(none, shown.is_empty(), "{what}");
    }

    /// The values that a list has to choose from.
    pub(crate) fn choices(&mut self, list: &str) -> Vec<String> {
        let values =
            format!("[...document.querySelectorAll('#{list} option')].map((it) => it.value)");
        let mut values: Vec<String> =
            serde_json::from_value(self.browser.eval(&values)).expect("values");
        assert_eq!(values.remove(0), "", "the first is no filter");
        values
    }
}

/// The rows of a record.
fn rows(record: &Record) -> Vec<Row> {
    let mut last = None;
    let mut rows = Vec::new();
    for entry in &record.entries {
        let (point, plugins) = (None, Vec::new());
        let row = |label: String, outcomes, trouble| Row {
            label,
            point,
            plugins,
            outcomes,
            quiet: false,
            trouble,
        };
        rows.push(match &entry.event {
            Event::Said { .. } => continue,
            Event::Fired(fired) => {
                last = Some(fired.report.point());
                fire_row(fired)
            }
            Event::Ran { tool, args, result } => {
                let (came, outcomes) = match result {
                    ToolResult::Success { value, .. } => {
                        (value.trim_end().replace('\n', ", "), vec!["tool ran"])
                    }
                    ToolResult::Failure { error, .. } => {
                        (format!("failed: {error}"), vec!["tool ran", "tool failed"])
                    }
                };
                row(format!("> {tool} {args} -> {came}"), outcomes, !result.is_success())
            }
            Event::Refused { what, reason, by } => {
                let plugin = by.split('/').next().expect("a plugin").to_owned();
                let label = format!("{what} refused by {by}: {reason}");
                Row { point: last, plugins: vec![plugin], ..row(label, vec!["refusal"], true) }
            }
            Event::Note(note) => row(note.clone(), vec!["note"], false),
            Event::Failed(error) => row(error.clone(), vec!["turn failed"], true),
            other => panic!("{other:?}"),
        });
    }
    rows
}

fn fire_row(fired: &Fired) -> Row {
    let handlers = fired.report.handlers();
    let ran = |row: &&HandlerReport| matches!(row.status(), HandlerStatus::Ran(_));
    let failed = |row: &&HandlerReport| matches!(row.status(), HandlerStatus::Failed { .. });
    let word = match &fired.outcome {
        _ if handlers.is_empty() => "no handlers",
        Outcome::Claimed { .. } => "claimed",
        Outcome::Answered { .. } => "answered",
        Outcome::Rejected { .. } => "rejected",
        Outcome::Amended(changes) if changes.iter().any(|it| it.field == "error") => "refused",
        Outcome::Amended(changes) if !changes.is_empty() => "changed",
        Outcome::Passed { rewritten_by } if !rewritten_by.is_empty() => "rewritten",
        _ if !handlers.iter().copied().any(|row| ran(&row)) => "none called",
        Outcome::Called => "called",
        Outcome::Amended(_) => "unchanged",
        Outcome::Unclaimed => "unclaimed",
        Outcome::Passed { .. } => "passed",
        Outcome::Completed => "ran",
        Outcome::Failed(_) => "stopped",
    };
    let trouble = handlers.iter().copied().any(|row| failed(&row));
    let plugins = handlers.iter().filter_map(|row| match row.owner() {
        Owner::Plugin(id) => Some(id.to_string()),
        Owner::BuiltIn => None,
    });
    Row {
        label: fired.report.point().to_owned(),
        point: Some(fired.report.point()),
        plugins: plugins.collect(),
        outcomes: [word].into_iter().chain(trouble.then_some("handler failed")).collect(),
        quiet: handlers.is_empty(),
        trouble,
    }
}
