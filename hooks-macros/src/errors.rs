//! Gathers every mistake of an input, so that the user sees all of them at once.

use proc_macro2::{Span, TokenStream};

/// The mistakes found so far.
///
/// Dropping a collector unread would turn a mistake into silence, so debug
/// builds refuse it.
#[must_use]
pub(crate) struct Errors {
    found: Option<Vec<syn::Error>>,
}

impl Errors {
    /// An empty collector.
    pub(crate) fn new() -> Self {
        Self { found: Some(Vec::new()) }
    }

    /// Notes a mistake at one place.
    pub(crate) fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Notes a mistake that a parser reported.
    pub(crate) fn add(&mut self, error: syn::Error) {
        self.found.get_or_insert_default().push(error);
    }

    /// Keeps the value, or notes why there is none.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Ends the collection: one `compile_error!` for each mistake.
    pub(crate) fn finish(mut self) -> TokenStream {
        self.found.take().unwrap_or_default().iter().map(syn::Error::to_compile_error).collect()
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        debug_assert!(
            self.found.is_none() || std::thread::panicking(),
            "mistakes were collected and never reported"
        );
    }
}
