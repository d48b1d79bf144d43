//! Where the files of a dialect are, and how they are written.

use std::path::Path;

use crate::config::Draft;

/// Where the files of a dialect are. A path that ends with `/` is a folder of JSON files.
#[derive(Debug)]
pub(crate) struct Files {
    /// Of the whole machine, for operators only: absolute paths.
    pub(crate) managed: &'static [&'static str],
    /// Whether one of these counts only where it is root's, and nobody else may write it.
    pub(crate) managed_by_root: bool,
    /// In the home of the user.
    pub(crate) user: &'static [&'static str],
    /// In the folder of a project.
    pub(crate) project: &'static [&'static str],
    /// Whether those of a project come before those of the user.
    pub(crate) project_first: bool,
    /// Files of other dialects that the product reads as well: parts of their paths.
    pub(crate) others: &'static [&'static str],
}

/// A key with which a file turns hooks off.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) path: &'static [&'static str],
    /// The value that turns them off.
    pub(crate) off: bool,
    /// How it is written in messages.
    pub(crate) text: &'static str,
    /// Which files have it as a setting for all files; in others it is for that file.
    pub(crate) is_setting: fn(&Path) -> bool,
}

/// How the files of a dialect are written.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(crate) struct Format {
    pub(crate) files: Files,
    /// Whether an event has groups with a matcher, or handlers at once.
    pub(crate) nested: bool,
    pub(crate) comments: bool,
    pub(crate) byte_order_mark: bool,
    /// The keys beside `hooks` in a file that has nothing but hooks.
    pub(crate) root_keys: &'static [&'static str],
    /// Whether the product rejects such a file for any other key.
    pub(crate) rejects_root_keys: bool,
    /// What turns hooks off.
    pub(crate) switches: &'static [Switch],
    /// Where the names and commands are that are turned off one by one.
    pub(crate) turned_off: Option<[&'static str; 2]>,
    pub(crate) group_keys: &'static [&'static str],
    pub(crate) handler_keys: &'static [&'static str],
    /// Reads what is particular to one handler.
    pub(crate) handler: fn(&mut Draft<'_>),
    /// The keys of `hooks` that are no events.
    pub(crate) no_events: &'static [&'static str],
}
