//! What the service reads from its file.

use std::net::SocketAddr;

use hooks_runtime::AnyPlugin;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::plugins::{Journal, Loyalty, Prices, Quota, Replay, Tokens, Warehouses};

/// What the service reads from its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How long the end may take.
    pub shutdown_ms: u64,
    /// Whether every fire and every call is counted and timed.
    pub metrics: bool,
    /// The callers that it knows: the host's own part, which no route unloads.
    pub tokens: Tokens,
    /// The plugins, in the order in which they start.
    #[serde(rename = "plugin")]
    pub plugins: Vec<Entry>,
}

/// The id of a plugin, and all else that stands beside it.
#[derive(Clone, Debug, Deserialize)]
pub struct Entry {
    /// The id.
    pub id: String,
    /// Its settings.
    #[serde(flatten)]
    pub settings: toml::Table,
}

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigurationError {
    /// It is not of the form.
    #[error("the configuration cannot be read: {0}")]
    Form(#[from] toml::de::Error),
    /// There is no such plugin.
    #[error("there is no plugin {0:?}")]
    UnknownPlugin(String),
    /// The settings of a plugin are wrong.
    #[error("the settings of {plugin:?}: {error}")]
    Settings {
        /// The plugin.
        plugin: String,
        /// What is wrong with them.
        #[source]
        error: toml::de::Error,
    },
}

impl Configuration {
    /// Reads it from text.
    pub fn from_toml(text: &str) -> Result<Self, ConfigurationError> {
        Ok(toml::from_str(text)?)
    }
}

impl Entry {
    /// The plugin with these settings. Its type is forgotten here.
    pub fn build(&self) -> Result<Box<dyn AnyPlugin>, ConfigurationError> {
        Ok(match &*self.id {
            "journal" => Box::new(Journal::new(self.read()?)),
            "loyalty" => Box::new(self.read::<Loyalty>()?),
            "prices" => Box::new(self.read::<Prices>()?),
            "quota" => Box::new(Quota::new(self.read()?)),
            "replay" => Box::new(Replay::new(self.read()?)),
            "warehouses" => Box::new(self.read::<Warehouses>()?),
            other => return Err(ConfigurationError::UnknownPlugin(other.to_owned())),
        })
    }

    /// The settings of a plugin, as its type has them.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigurationError> {
        let settings = self.settings.clone();
        let bad = |error| ConfigurationError::Settings { plugin: self.id.clone(), error };
        settings.try_into().map_err(bad)
    }
}
