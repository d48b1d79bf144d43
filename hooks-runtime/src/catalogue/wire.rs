//! The catalogue as data for other programs.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Catalogue, PointInfo, TypeInfo};
use crate::wire::Nanoseconds;

/// An object with the `points`, each with all that it has in Rust.
impl Serialize for Catalogue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut catalogue = serializer.serialize_struct("Catalogue", 1)?;
        catalogue.serialize_field("points", self.points())?;
        catalogue.end()
    }
}

impl Serialize for PointInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut point = serializer.serialize_struct("PointInfo", 10)?;
        point.serialize_field("name", self.name())?;
        point.serialize_field("model", &self.model())?;
        point.serialize_field("doc", self.doc())?;
        point.serialize_field("policy", &self.policy())?;
        point.serialize_field("timeout_ns", &self.timeout().map(Nanoseconds))?;
        point.serialize_field("deprecated", &self.deprecated())?;
        point.serialize_field("location", &self.location())?;
        point.serialize_field("payload", self.payload())?;
        point.serialize_field("result", &self.result())?;
        point.serialize_field("stages", &self.stage_names())?;
        point.end()
    }
}

impl Serialize for TypeInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut ty = serializer.serialize_struct("TypeInfo", 3)?;
        ty.serialize_field("type", self.name())?;
        ty.serialize_field("fields", self.fields())?;
        #[cfg(feature = "schema")]
        ty.serialize_field("schema", &self.schema())?;
        #[cfg(not(feature = "schema"))]
        ty.serialize_field("schema", &None::<()>)?;
        ty.end()
    }
}
