//! Plugins: their ids, their installation and removal, and what they may do.

pub(crate) mod any;
pub(crate) mod id;
pub(crate) mod info;
pub(crate) mod installation;
pub(crate) mod leaving;
pub(crate) mod lifecycle;
pub(crate) mod quota;
pub(crate) mod record;
pub(crate) mod registrar;
pub(crate) mod removal;
pub(crate) mod scope;
pub(crate) mod tracker;
pub(crate) mod values;

pub use any::AnyPlugin;
pub use id::{PluginId, PluginIdError};
pub use info::PluginInfo;
pub use installation::{Installed, Plugin};
pub use lifecycle::{StartError, StopFailure};
pub use quota::{Quota, Refusal};
pub use registrar::Registrar;
pub use removal::{DrainError, DrainOutcome, Draining, Removal};
pub use scope::{Plugins, ScopedHooks};
pub use values::DuplicateValue;
