//! What the runtime is built with: its features switch on those of this crate.

/// Whether there is serde behind `json`.
pub(crate) const SERDE: bool = cfg!(any(test, feature = "serde"));

/// Whether there is schemars behind `schema`.
pub(crate) const SCHEMA: bool = cfg!(any(test, feature = "schema"));

/// What to do where a key needs more.
pub(crate) fn missing(key: &str) -> String {
    format!(
        "`{key}` needs the feature `{key}` of hooks-runtime: write `features = [\"{key}\"]` at \
         that dependency"
    )
}
