//! How small things serialise: objects with a `kind`, words, nanoseconds.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::flow::StageKind;
use crate::plugin::id::PluginId;
use crate::point::ModelKind;
use crate::registry::entry::Owner;

/// An object that says of which kind it is.
pub(crate) struct Tagged<M>(M);

pub(crate) fn tagged<S: Serializer>(
    serializer: S,
    kind: &str,
) -> Result<Tagged<S::SerializeMap>, S::Error> {
    Tagged(serializer.serialize_map(None)?).with("kind", kind)
}

impl<M: SerializeMap> Tagged<M> {
    pub(crate) fn with<T: Serialize + ?Sized>(
        mut self,
        key: &str,
        value: &T,
    ) -> Result<Self, M::Error> {
        self.0.serialize_entry(key, value)?;
        Ok(self)
    }

    pub(crate) fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

/// Whole nanoseconds. What is longer than 584 years is cut to that.
pub(crate) struct Nanoseconds(pub(crate) Duration);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// For fields: whole nanoseconds.
pub(crate) fn whole_nanoseconds<S: Serializer>(
    time: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Nanoseconds(*time).serialize(serializer)
}

/// For fields: whole nanoseconds or nothing.
#[allow(clippy::ref_option, reason = "serde's `serialize_with` passes the field by reference")]
pub(crate) fn nanoseconds<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(Nanoseconds).serialize(serializer)
}

impl Serialize for Owner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::BuiltIn => tagged(serializer, "built_in")?.end(),
            Self::Plugin(id) => tagged(serializer, "plugin")?.with("id", id)?.end(),
        }
    }
}

impl Serialize for PluginId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The word of the declaration.
impl Serialize for ModelKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The last part of the stage's wire name.
impl Serialize for StageKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
