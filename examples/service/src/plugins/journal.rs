//! Writes every order to a file, a line of JSON each. It runs in the background, and
//! opens and closes its file: a plugin with a start and a stop.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hooks_runtime::{HookContext, hook_handlers};
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use crate::orders::Order;
use crate::points::OrderCreated;
use crate::request::RequestId;

/// Writes every order to a file.
#[derive(Debug)]
pub struct Journal {
    settings: JournalSettings,
    /// `None` before the start and after the stop.
    file: Mutex<Option<BufWriter<File>>>,
}

/// Its settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalSettings {
    /// The file, which is added to.
    pub path: PathBuf,
}

/// An order was not written.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The journal is not open.
    #[error("the journal is not open")]
    Closed,
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
}

impl Journal {
    /// A journal that is not open yet.
    pub fn new(settings: JournalSettings) -> Self {
        Self { settings, file: Mutex::default() }
    }
}

/// Writes every order to a file.
#[hook_handlers(plugin = "journal", version = "1.0.0")]
impl Journal {
    /// Before its first handler: a file that cannot be opened is an error of the start,
    /// and the plugin is not installed.
    #[start]
    pub fn open(&self) -> io::Result<()> {
        if let Some(folder) = self.settings.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::options().append(true).create(true).open(&self.settings.path)?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(BufWriter::new(file));
        Ok(())
    }

    /// The request has its answer by now; its id is still in the scope.
    #[hook_handler(OrderCreated)]
    fn write(&self, order: &Order, cx: &HookContext) -> Result<(), JournalError> {
        self.write_order(cx.get::<RequestId>().map_or("", |id| &id.0), order)
    }

    /// After its last.
    #[stop]
    pub fn close(&self) -> io::Result<()> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        file.map_or(Ok(()), |mut file| file.flush())
    }
}

impl Journal {
    /// Writes one line.
    pub fn write_order(&self, request: &str, order: &Order) -> Result<(), JournalError> {
        let line = json!({ "request": request, "order": order });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.as_mut().ok_or(JournalError::Closed)?;
        Ok(writeln!(file, "{line}")?)
    }
}
