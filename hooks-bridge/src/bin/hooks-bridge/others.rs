//! Files of one product that another reads too: which of them a fire has left out.

use std::path::Path;

use hooks_bridge::Dialect;
use hooks_bridge::config::{Plan, Source};
use hooks_runtime::report::escaped;

/// Why a file is not read as that of a dialect, where it is another's that the product reads
/// too: in what way, it does not say.
pub(crate) fn written_otherwise(file: &Path, dialect: Dialect, event: &str) -> Option<String> {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let own =
        Dialect::placed(&whole).filter(|own| *own != dialect && dialect.also_reads(&whole))?;
    let named = own.counterpart(dialect, event);
    let event = named.map(|name| format!(" {name}")).unwrap_or_default();
    Some(format!(
        "`{}` is a file of {}. {} reads it too, in a way that is not known well enough to be done \
         here; what its commands do, `fire{event} --dialect {own}` shows",
        shown(file),
        own.product(),
        dialect.product(),
    ))
}

/// Says which files with commands for the event the product reads beside the one that is fired.
pub(crate) fn unread(config: &Path, dialect: Dialect, event: &str, project: &Path) {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let others = Dialect::ALL.into_iter().filter(|other| *other != dialect);
    let files = others.flat_map(|other| Plan::files(other, project, home.as_deref()));
    for source in files.filter(|source| dialect.also_reads(&source.file)) {
        let Some((named, count)) = commands(&source, dialect, event, project) else { continue };
        let file = source.file.strip_prefix(project).unwrap_or(&source.file);
        eprintln!(
            "note: {} reads `{}` too, which has {count} for `{named}`; only `{}` was read here: \
             for that one write `fire {named} --dialect {} --config {}`",
            dialect.product(),
            shown(file),
            shown(config),
            source.dialect,
            shown(&source.file),
        );
    }
}

/// The name of the event in the file of another dialect, and how many commands it has there.
fn commands(
    source: &Source,
    dialect: Dialect,
    event: &str,
    project: &Path,
) -> Option<(&'static str, String)> {
    let named = source.dialect.counterpart(dialect, event)?;
    let plan = Plan::read(std::slice::from_ref(source), project);
    match plan.entries.iter().filter(|entry| entry.event == named && entry.runs()).count() {
        0 => None,
        1 => Some((named, "a command".into())),
        count => Some((named, format!("{count} commands"))),
    }
}

fn shown(file: &Path) -> String {
    escaped(&file.display().to_string()).to_string()
}
