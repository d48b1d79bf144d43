//! What is odd about an entry.

use std::path::{Path, PathBuf};

use super::entry::{Entry, HandlerKind};
use super::meant::{self, How, Meant};
use crate::dialect::Dialect;
use crate::matcher::Matcher;
use crate::rules::{EventRule, Mcp, Rules, Subject};
use crate::verdict::fails_closed;

/// A longer name is none that was meant for another.
const LONGEST: usize = 64;

/// So many names in a matcher are said to be those of no tool.
const MOST_NAMES: usize = 10;

/// Looks for what is odd about an entry whose event is known, with its matcher on that line,
/// in a host that has these tools.
pub(super) fn examine(
    entry: &mut Entry,
    matcher: Option<usize>,
    (project, tools): (&Path, &[String]),
) {
    let rules = entry.dialect.rules();
    let Some(rule) = entry.rule else { return };
    let line = matcher.unwrap_or(entry.place.line);
    check_matcher(entry, rules, (rule, tools), line);
    check_options(entry, rule);
    check_scripts(entry);
    check_folder(entry, project);
}

/// There is no such event. Where its name is nearly that of a gate, or that of a gate in
/// another dialect, the entry may be a guard: that is a mistake in it.
pub(super) fn unknown_event(entry: &mut Entry, rules: &Rules, line: usize) {
    let unknown = format!("{} has no event `{}`", rules.product, entry.event);
    let meant = meant::event(entry.dialect, &entry.event);
    let hint = hint(meant);
    entry.suspect(line, format!("{unknown}, so it never runs{hint}"));
    let told = meant.filter(|meant| meant.how != How::Similar).map(|meant| meant.event);
    entry.meant = told.filter(|event| event.kind.is_gate() && !event.kind.is_stop());
    entry.broken |= entry.meant.is_some() && entry.skipped.is_none();
    entry.skipped.get_or_insert(unknown + &hint);
}

fn hint(meant: Option<Meant>) -> String {
    meant.map_or_else(String::new, |Meant { event, how }| match how {
        How::Elsewhere => format!("; there it is `{}`", event.name),
        How::Nearly | How::Similar => format!("; did you mean `{}`?", event.name),
    })
}

/// What is said where an event is to be fired that the dialect does not have.
pub(crate) fn no_event(dialect: Dialect, event: &str) -> String {
    let hint = hint(meant::event(dialect, event));
    format!("{} has no event `{event}`{hint}", dialect.product())
}

/// What is said of a key that the dialect does not have, beside those that it has.
pub(super) fn unknown_key(key: &str, known: &[&str]) -> String {
    let meant = meant::key(key, known.iter().copied());
    let hint = meant.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
    format!("the key `{key}` means nothing here{hint}")
}

/// The most similar of these names, if any is.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let similar = names.map(|other| {
        let similarity = strsim::jaro_winkler(&lower, &other.to_lowercase());
        (similarity, strsim::jaro_winkler(name, other), other)
    });
    // Of two that differ in case only, the one in the case that was written.
    let best =
        similar.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    best.filter(|(similarity, ..)| *similarity > 0.8).map(|(.., name)| name)
}

fn check_matcher(
    entry: &mut Entry,
    rules: &Rules,
    (rule, tools): (&EventRule, &[String]),
    line: usize,
) {
    let Some(written) = entry.matcher.clone().filter(|it| !matches!(it.as_str(), "" | "*")) else {
        return;
    };
    let product = rules.product;
    if let Some(error) = entry.compiled.unread().map(str::to_owned) {
        let text = format!("{error}, so it is compared as it is written");
        entry.suspect(line, text);
    }
    match rule.subject {
        Subject::Nothing => {
            let event = rule.name;
            entry.suspect(
                line,
                format!(
                    "{product} ignores the matcher of `{event}`: `{written}` restricts nothing"
                ),
            );
        }
        Subject::Tool(_) => check_tools(entry, rules, (&written, tools), line),
        Subject::Word(_, words) => {
            if !words.iter().any(|word| entry.compiled.matches(word)) {
                let words = words.join(", ");
                entry.suspect(line, format!("the matcher `{written}` matches none of {words}"));
            }
        }
        Subject::Text(_) => {}
    }
}

fn check_tools(entry: &mut Entry, rules: &Rules, (written, tools): (&str, &[String]), line: usize) {
    let of_product = rules.tools.iter().flat_map(|tool| tool.names).copied();
    let known: Vec<&str> = of_product.chain(tools.iter().map(String::as_str)).collect();
    let product = rules.product;
    match entry.compiled.clone() {
        Matcher::All | Matcher::Unread { .. } => {}
        Matcher::Names(names) => {
            let unknown = names.iter().filter(|name| !known.contains(&name.as_str()));
            let mut texts = unknown.filter_map(|name| unknown_tool(rules, name, &known));
            for text in texts.by_ref().take(MOST_NAMES) {
                entry.suspect(line, text);
            }
            if texts.next().is_some() {
                entry.suspect(line, format!("it has more names of which {product} has no tool"));
            }
        }
        Matcher::Expression(_) => {
            let of_server = (rules.mcp.name)("server", "tool");
            let mut tools = known.iter().copied().chain([of_server.as_str()]);
            let matches = tools.any(|tool| entry.compiled.matches(tool));
            if matches || written.to_lowercase().contains("mcp") {
                return;
            }
            let words = written.trim_matches(['^', '$', '(', ')']).split('|');
            let own = |word| meant::tool(rules, word).map(|own| format!("`{word}` `{own}`"));
            let calls: Vec<_> = words.filter_map(own).collect();
            let mut text = format!("the matcher `{written}` matches no tool of {product}");
            if !calls.is_empty() {
                text = format!("{text}: {product} calls {}", calls.join(", "));
            }
            entry.suspect(line, text);
        }
    }
}

/// What is to be said of a name in a matcher, which is that of no known tool.
fn unknown_tool(rules: &Rules, name: &str, known: &[&str]) -> Option<String> {
    let product = rules.product;
    if name.starts_with(rules.mcp.prefix) {
        let is_whole = rules.mcp.prefix != Mcp::COMMON.prefix || Mcp::parts(name).is_some();
        return (!is_whole).then(|| {
            format!("`{name}` matches no tool: write `{name}__.*` for all tools of that server")
        });
    }
    let unknown = format!("{product} has no tool `{name}`");
    Some(match (meant::tool(rules, name), nearest(name, known.iter().copied())) {
        (Some(own), _) => format!("{unknown}: {product} calls it `{own}`"),
        (None, Some(nearest)) => format!("{unknown}; did you mean `{nearest}`?"),
        (None, None) => unknown,
    })
}

fn check_options(entry: &mut Entry, rule: &EventRule) {
    let Some(handler) = entry.handler.clone() else { return };
    let line = entry.place.line;
    if handler.background && rule.kind.is_gate() {
        let text = "it is `async`, so nothing waits for its answer: it cannot block here";
        entry.suspect(line, text);
    }
    if handler.rule.is_some() && !matches!(rule.subject, Subject::Tool(_)) {
        entry.suspect(
            line,
            "`if` is for events of tools; here it keeps the handler from ever running",
        );
        entry.skipped.get_or_insert("`if` is for events of tools only".into());
    }
    if handler.fails_closed && !fails_closed(rule, &handler) {
        entry.suspect(line, "`onFailure: \"block\"` has no effect here");
    }
}

fn check_folder(entry: &mut Entry, project: &Path) {
    let folder = entry.handler.as_ref().and_then(|handler| handler.directory.as_deref());
    if let Some(folder) = folder.map(|folder| project.join(folder)).filter(|it| !it.is_dir()) {
        let text = format!("the folder `{}` of its `cwd` does not exist", from_here(&folder));
        entry.suspect(entry.place.line, text);
    }
}

fn check_scripts(entry: &mut Entry) {
    let line = entry.place.line;
    if matches!(&entry.handler, Some(handler) if matches!(handler.kind, HandlerKind::Http { .. })) {
        return;
    }
    let scripts = entry.scripts.clone();
    for path in scripts.missing {
        entry.suspect(line, format!("its script `{}` does not exist", from_here(&path)));
    }
    for path in scripts.not_executable {
        entry.suspect(
            line,
            format!("`{}` may not be executed: run `chmod +x` on it", from_here(&path)),
        );
    }
    for program in scripts.not_found {
        entry.suspect(line, format!("the program `{program}` is not found by `PATH`"));
    }
}

/// A file as it is called in the current folder, where it is below that.
fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().ok().filter(|here| here.parent().is_some());
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    let shown = below.map_or_else(|| path.to_owned(), |below| PathBuf::from(".").join(below));
    shown.display().to_string()
}
