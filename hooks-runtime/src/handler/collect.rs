//! Handlers annotated anywhere in the linked crates.
//!
//! Collection relies on the linker: a crate that no code names is not linked,
//! and some targets keep nothing. So a host can list the handlers that it expects;
//! the plain [`handlers!`](crate::handlers) list is the portable way.

use std::fmt;

use thiserror::Error;

use crate::error::RegisterError;
use crate::escape::escaped;
use crate::handler::registration::Registration;
use crate::observe::log;
use crate::readable::readable_debug;
use crate::registry::HookRegistry;
use crate::registry::handle::Handles;
use crate::suggest;

/// An annotated function, as the linker brings it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Collected {
    /// The path of the function: `crate::module::function`.
    pub path: &'static str,
    pub registration: fn() -> Registration,
}

inventory::collect!(Collected);

/// Why the collected handlers were not registered.
///
/// ```standalone_crate
/// # fn main() {
/// # use hooks_runtime::HookRegistry;
/// # use hooks_runtime::handler::CollectError;
/// let hooks = HookRegistry::new();
/// let error = hooks.register_collected_expecting(["audit::record"]).unwrap_err();
/// let CollectError::Missing { missing, unlinked } = &error else { panic!("{error}") };
/// assert_eq!((&*missing[0].path, missing[0].is_unlinked), ("audit::record", true));
/// assert_eq!(unlinked[..], ["audit"]); // so the program needs `use audit as _;`
/// # }
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum CollectError {
    /// Handlers that were expected are not among those that were linked.
    #[error("{}", in_one_line(.missing, .unlinked))]
    Missing {
        /// Which, in the order in which they were expected.
        missing: Vec<MissingHandler>,
        /// The crates of which nothing was linked, as code names them.
        unlinked: Vec<String>,
    },
    /// The registry refused them.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

/// A handler that was expected and is not there.
///
/// The example of [`CollectError`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingHandler {
    /// Its path, escaped.
    pub path: String,
    /// Whether its crate was not linked. Otherwise the path is wrong: no handler of it
    /// was linked, but others of its crate were, or it names no crate.
    pub is_unlinked: bool,
    /// The path of a handler that was linked and is most likely meant.
    pub nearest: Option<&'static str>,
}

/// The path, and what is most likely meant by it.
impl fmt::Display for MissingHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        self.nearest.map_or(Ok(()), |nearest| write!(f, " (did you mean `{nearest}`?)"))
    }
}

/// Those whose crates were not linked, and those whose paths are wrong.
fn apart(missing: &[MissingHandler]) -> (Vec<String>, Vec<String>) {
    let (unlinked, wrong): (Vec<_>, Vec<_>) = missing.iter().partition(|one| one.is_unlinked);
    let texts = |handlers: Vec<&MissingHandler>| handlers.iter().map(ToString::to_string).collect();
    (texts(unlinked), texts(wrong))
}

/// What is missing, and what to do about it.
fn in_one_line(missing: &[MissingHandler], crates: &[String]) -> String {
    let (unlinked, wrong) = apart(missing);
    let mut parts = Vec::new();
    if !unlinked.is_empty() {
        let lines: Vec<_> = crates.iter().map(|name| format!("`use {name} as _;`")).collect();
        let (paths, lines) = (unlinked.join(", "), lines.join(" and "));
        parts.push(format!(
            "expected handlers were not linked: {paths}; add {lines} to the program, or list them \
             with `handlers!`"
        ));
    }
    if !wrong.is_empty() {
        let paths = wrong.join(", ");
        parts.push(format!(
            "no handlers with these paths were linked: {paths}; `collected()` returns those that \
             were"
        ));
    }
    parts.join("; ")
}

readable_debug! {
    enum CollectError as in_lines { Missing { missing, unlinked }, Register(refused) }
}

/// The same in lines: what is missing can be much.
fn in_lines(error: &CollectError) -> String {
    let CollectError::Missing { missing, unlinked } = error else { return error.to_string() };
    let (left_out, wrong) = apart(missing);
    let listed = |lines: &[String]| lines.iter().flat_map(|line| ["\n    ", line]).collect();
    let mut parts: Vec<String> = Vec::new();
    if !left_out.is_empty() {
        let names: Vec<_> = unlinked.iter().map(|name| format!("use {name} as _;")).collect();
        let (paths, names): (String, String) = (listed(&left_out), listed(&names));
        parts.push(format!(
            "expected handlers were not linked:{paths}\nthe linker leaves out a crate that no code \
             names; add to the program:{names}\nor list the handlers with `handlers!`"
        ));
    }
    if !wrong.is_empty() {
        let paths: String = listed(&wrong);
        parts.push(format!(
            "no handlers with these paths were linked:{paths}\n`collected()` returns those that were"
        ));
    }
    parts.join("\n")
}

/// The paths of all annotated functions that were linked, sorted.
///
/// ```standalone_crate
/// # use hooks_runtime::{hook_handler, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// mod audit {
/// #     use super::*;
///     #[hook_handler(Saved)]
///     pub fn record(_: &SavedPayload) {}
/// }
///
/// # fn main() {
/// let paths = hooks_runtime::handler::collected();
/// assert_eq!(paths.len(), 1);
/// assert!(paths[0].ends_with("::audit::record"));
/// # }
/// ```
pub fn collected() -> Vec<&'static str> {
    sorted().into_iter().map(|handler| handler.path).collect()
}

/// Sorted by path: the linker's order is not specified.
fn sorted() -> Vec<&'static Collected> {
    let mut all: Vec<_> = inventory::iter::<Collected>.into_iter().collect();
    all.sort_by_key(|handler| handler.path);
    all
}

/// The crate of a path, as code names it: a package may have dashes in its name.
fn crate_of(path: &str) -> Option<String> {
    path.split_once("::").map(|(name, _)| name.replace('-', "_"))
}

/// The error for handlers that are not there.
fn missing(expected: &[&str], linked: &[&'static Collected]) -> CollectError {
    let is_linked =
        |name: &String| linked.iter().any(|handler| crate_of(handler.path).as_ref() == Some(name));
    let unlinked = |path: &str| crate_of(path).filter(|name| !is_linked(name));
    let mut crates: Vec<_> = expected.iter().filter_map(|path| unlinked(path)).collect();
    crates.sort();
    crates.dedup();
    let missing = expected.iter().map(|path| MissingHandler {
        path: escaped_text(path),
        is_unlinked: unlinked(path).is_some(),
        nearest: nearest(path, linked),
    });
    CollectError::Missing {
        missing: missing.collect(),
        unlinked: crates.iter().map(|name| escaped_text(name)).collect(),
    }
}

/// The linked handler that a path is most likely meant to be: one whose path ends with
/// it, else the nearest in spelling.
fn nearest(path: &str, linked: &[&'static Collected]) -> Option<&'static str> {
    let path = path.replace('-', "_");
    let paths = || linked.iter().map(|handler| handler.path);
    let is_end = |known: &&str| known.strip_suffix(&*path).is_some_and(|head| head.ends_with("::"));
    let name = |known: &str| known.rsplit("::").next().map_or(0, str::len);
    paths().find(is_end).or_else(|| suggest::nearest(&path, paths(), name))
}

fn escaped_text(text: &str) -> String {
    escaped(text).to_string()
}

impl HookRegistry {
    /// Registers every annotated function of the linked crates, in the order
    /// of their paths, whole or not at all. That there is none is logged.
    ///
    /// A crate that no code names is not linked: see
    /// [the guide](crate::guides::collect_handlers).
    ///
    /// ```standalone_crate
    /// # use hooks_runtime::{HookRegistry, hook_handler, hook_points};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// #[hook_handler(Saved, plugin = "audit")]
    /// fn record(_: &SavedPayload) {}
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// hooks.register_collected()?;
    /// assert_eq!(&*hooks.handlers()[0].name, "record");
    /// # Ok(()) }
    /// ```
    pub fn register_collected(&self) -> Result<Handles, CollectError> {
        self.register_collected_expecting([])
    }

    /// As [`register_collected`](Self::register_collected), but first checks that
    /// these are among them, by path (`crate::module::function`).
    ///
    /// The example of [`CollectError`] expects one that is not there.
    pub fn register_collected_expecting<'a>(
        &self,
        expected: impl IntoIterator<Item = &'a str>,
    ) -> Result<Handles, CollectError> {
        let all = sorted();
        let is_missing = |path: &&str| !all.iter().any(|handler| handler.path == *path);
        let absent: Vec<_> = expected.into_iter().filter(is_missing).collect();
        if !absent.is_empty() {
            return Err(missing(&absent, &all));
        }
        if all.is_empty() {
            log::nothing_collected();
        }
        Ok(self.register(all.into_iter().map(|handler| (handler.registration)()))?)
    }
}
