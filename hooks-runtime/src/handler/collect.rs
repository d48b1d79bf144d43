//! Handlers annotated anywhere in the linked crates.
//!
//! Collection relies on the linker: a crate that no code names is not linked,
//! and some targets keep nothing. So a host can list the handlers that it expects;
//! the plain [`handlers!`](crate::handlers) list is the portable way.

use thiserror::Error;

use crate::error::RegisterError;
use crate::handler::registration::Registration;
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
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CollectError {
    /// Handlers that were expected were not linked.
    #[error(
        "expected handlers were not linked: {}; name their crates in the program, or list them \
         with `handlers!`",
        .missing.join(", ")
    )]
    Missing {
        /// Their paths.
        missing: Vec<String>,
    },
    /// The registry refused them.
    #[error(transparent)]
    Register(#[from] RegisterError),
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

impl HookRegistry {
    /// Registers every annotated function of the linked crates, in the order
    /// of their paths, whole or not at all.
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
        let missing: Vec<_> = expected.into_iter().filter(is_missing).map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(CollectError::Missing { missing });
        }
        Ok(self.register(all.into_iter().map(|handler| (handler.registration)()))?)
    }
}
