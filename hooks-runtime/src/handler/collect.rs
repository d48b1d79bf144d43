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
use crate::registry::HookRegistry;
use crate::registry::handle::Handles;

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
/// Its `Debug` form is for people too: it is what `main` prints.
#[derive(Error)]
#[non_exhaustive]
pub enum CollectError {
    /// Handlers that were expected were not linked.
    #[error("expected handlers were not linked: {}; {}", .missing.join(", "), advice(.unlinked))]
    Missing {
        /// Their paths.
        missing: Vec<String>,
        /// The crates of which nothing was linked.
        unlinked: Vec<String>,
    },
    /// The registry refused them.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

/// What to do about handlers that were not linked, in one line.
fn advice(unlinked: &[String]) -> String {
    if unlinked.is_empty() {
        return "their crates are linked, so check the paths against `collected()`".to_owned();
    }
    let lines: Vec<_> = unlinked.iter().map(|name| format!("`use {name} as _;`")).collect();
    format!("add {} to the program, or list them with `handlers!`", lines.join(" and "))
}

impl fmt::Debug for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Missing { missing, unlinked } = self else { return fmt::Display::fmt(self, f) };
        f.write_str("expected handlers were not linked:")?;
        missing.iter().try_for_each(|path| write!(f, "\n    {path}"))?;
        if unlinked.is_empty() {
            return write!(f, "\n{}", advice(unlinked));
        }
        f.write_str("\nthe linker leaves out a crate that no code names; add to the program:")?;
        unlinked.iter().try_for_each(|name| write!(f, "\n    use {name} as _;"))?;
        f.write_str("\nor list the handlers with `handlers!`")
    }
}

/// The paths of all annotated functions that were linked, sorted.
pub fn collected() -> Vec<&'static str> {
    sorted().into_iter().map(|handler| handler.path).collect()
}

/// Sorted by path: the linker's order is not specified.
fn sorted() -> Vec<&'static Collected> {
    let mut all: Vec<_> = inventory::iter::<Collected>.into_iter().collect();
    all.sort_by_key(|handler| handler.path);
    all
}

/// The crates of the missing handlers of which nothing was linked, sorted.
fn unlinked(missing: &[&str], linked: &[&Collected]) -> Vec<String> {
    let crate_of = |path: &'_ str| path.split_once("::").map(|(name, _)| name.to_owned());
    let linked: Vec<_> = linked.iter().filter_map(|handler| crate_of(handler.path)).collect();
    let mut names: Vec<_> = missing.iter().filter_map(|path| crate_of(path)).collect();
    names.retain(|name| !linked.contains(name));
    names.sort();
    names.dedup();
    names.into_iter().map(|name| escaped_text(&name)).collect()
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
    pub fn register_collected(&self) -> Result<Handles, CollectError> {
        self.register_collected_expecting([])
    }

    /// As [`register_collected`](Self::register_collected), but first checks that
    /// these are among them, by path (`crate::module::function`).
    pub fn register_collected_expecting<'a>(
        &self,
        expected: impl IntoIterator<Item = &'a str>,
    ) -> Result<Handles, CollectError> {
        let all = sorted();
        let is_missing = |path: &&str| !all.iter().any(|handler| handler.path == *path);
        let missing: Vec<_> = expected.into_iter().filter(is_missing).collect();
        if !missing.is_empty() {
            return Err(CollectError::Missing {
                unlinked: unlinked(&missing, &all),
                missing: missing.into_iter().map(escaped_text).collect(),
            });
        }
        if all.is_empty() {
            log::nothing_collected();
        }
        Ok(self.register(all.into_iter().map(|handler| (handler.registration)()))?)
    }
}
