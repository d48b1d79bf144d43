//! What the rows are filtered and walked with. Without scripts it is not shown.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::facts::Facts;
use crate::agent::{Event, Record};
use crate::view::legend::MODELS;
use crate::view::markup::Text;

/// Of how many rows something is said.
type Counts<'a> = BTreeMap<&'a str, usize>;

/// What the rows can be filtered by, with how many rows each choice finds.
#[derive(Default)]
pub(super) struct Choices<'a> {
    /// By model.
    points: BTreeMap<String, Counts<'a>>,
    plugins: Counts<'a>,
    /// Of fires, and of all other rows.
    outcomes: [Counts<'a>; 2],
}

impl<'a> Choices<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut choices = Self::default();
        for record in records {
            let mut last = None;
            for entry in &record.entries {
                let Some(facts) = Facts::of(&entry.event, last) else { continue };
                let mut outcomes = &mut choices.outcomes[1];
                if let Event::Fired(fired) = &entry.event {
                    outcomes = &mut choices.outcomes[0];
                    last = facts.point;
                    let points = choices.points.entry(fired.report.model().to_string());
                    *points.or_default().entry(fired.report.point()).or_default() += 1;
                }
                for outcome in facts.outcomes {
                    *outcomes.entry(outcome).or_default() += 1;
                }
                for plugin in facts.plugins {
                    *choices.plugins.entry(plugin).or_default() += 1;
                }
            }
        }
        choices
    }

    /// How many rows a choice of an outcome finds.
    pub(super) fn rows(&self, outcome: &str) -> usize {
        self.outcomes.iter().filter_map(|counts| counts.get(outcome)).sum()
    }
}

/// The search, the filters, the switch, the buttons and the keys.
pub(super) fn controls(html: &mut String, choices: &Choices<'_>) -> fmt::Result {
    html.push_str(SEARCH);
    html.push_str("<label>Point <select id=\"point\"><option value=\"\">all</option>");
    for (_, model, _) in MODELS {
        let Some(points) = choices.points.get(model) else { continue };
        group(html, model, points)?;
    }
    html.push_str("</select></label>\n");
    html.push_str("<label>Plugin <select id=\"plugin\"><option value=\"\">all</option>");
    options(html, &choices.plugins)?;
    html.push_str("</select></label>\n");
    html.push_str("<label>Outcome <select id=\"outcome\"><option value=\"\">all</option>");
    for (name, outcomes) in ["what came of a fire", "other rows"].iter().zip(&choices.outcomes) {
        group(html, name, outcomes)?;
    }
    html.push_str("</select></label>\n");
    html.push_str(REST);
    Ok(())
}

fn group(html: &mut String, name: &str, counts: &Counts<'_>) -> fmt::Result {
    write!(html, "<optgroup label=\"{name}\">")?;
    options(html, counts)?;
    html.push_str("</optgroup>");
    Ok(())
}

fn options(html: &mut String, counts: &Counts<'_>) -> fmt::Result {
    for (name, count) in counts {
        let name = Text(name);
        write!(html, "<option value=\"{name}\">{name} ({count})</option>")?;
    }
    Ok(())
}

const SEARCH: &str = "\
<form id=\"controls\" class=\"controls\" role=\"search\" aria-label=\"Rows of the timeline\" hidden>
<label class=\"grow\">Search <input id=\"search\" type=\"search\" placeholder=\"words of a row, or said\" \
autocomplete=\"off\" spellcheck=\"false\" aria-keyshortcuts=\"/\"></label>
";

const REST: &str = "\
<label class=\"switch\"><input id=\"quiet\" type=\"checkbox\" role=\"switch\" aria-keyshortcuts=\"q\"> \
show quiet rows</label>
<span class=\"jump\" role=\"group\" aria-label=\"Refusals and failures\">\
<button id=\"previous\" type=\"button\" aria-keyshortcuts=\"p\" aria-label=\"previous refusal or failure\">↑</button>\
<span id=\"place\"></span>\
<button id=\"next\" type=\"button\" aria-keyshortcuts=\"n\" aria-label=\"next refusal or failure\">↓</button></span>
<output id=\"count\" role=\"status\" aria-live=\"polite\"></output>
<span class=\"ends\"><button id=\"clear\" type=\"button\" aria-keyshortcuts=\"Escape\">clear</button>\
<button id=\"help\" type=\"button\" aria-keyshortcuts=\"?\" aria-haspopup=\"dialog\">keys ?</button></span>
</form>
<dialog id=\"keys\" aria-labelledby=\"keys-title\"><h2 id=\"keys-title\">Keys</h2>
<dl>
<dt><kbd>/</kbd></dt><dd>search; <kbd>Enter</kbd> goes to the first row found</dd>
<dt><kbd>j</kbd> <kbd>↓</kbd></dt><dd>next row</dd>
<dt><kbd>k</kbd> <kbd>↑</kbd></dt><dd>previous row</dd>
<dt><kbd>n</kbd></dt><dd>next refusal or failure</dd>
<dt><kbd>p</kbd></dt><dd>previous refusal or failure</dd>
<dt><kbd>q</kbd></dt><dd>show quiet rows, or hide them: fires without handlers</dd>
<dt><kbd>Esc</kbd></dt><dd>clear the search and the filters</dd>
<dt><kbd>?</kbd></dt><dd>these keys</dd>
</dl>
<form method=\"dialog\"><button>close</button></form></dialog>
<p id=\"none\" class=\"none\" hidden>No row is shown. <kbd>Esc</kbd> clears the search and the filters.</p>
";
