//! What a handler of a stage asks for.

use serde::Deserialize;

use super::{absent, present};

/// What a handler of a stage asks for, none of it by default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "I: Deserialize<'de>, O: Deserialize<'de>")]
pub(in crate::json) struct StageAnswer<I, O> {
    #[serde(default = "absent", deserialize_with = "present")]
    pub(in crate::json) input: Option<I>,
    #[serde(default = "absent", deserialize_with = "present")]
    pub(in crate::json) output: Option<O>,
    #[serde(default = "absent", deserialize_with = "present")]
    pub(in crate::json) recover: Option<O>,
    #[serde(default)]
    pub(in crate::json) skip: bool,
    pub(in crate::json) abort: Option<String>,
}
