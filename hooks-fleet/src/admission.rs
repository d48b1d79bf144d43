//! What an announcement may be: anybody may write one who may write to the carrier.

use hooks_runtime::PluginId;

use crate::wire::{Announcement, VERSION};

/// The most handlers, and the most points, that one process announces.
const MAX_ENTRIES: usize = 1_000;

/// The longest name of a process, and of a schema.
const MAX_NAME: usize = 64;

/// The longest version, which is for people.
const MAX_VERSION: usize = 200;

/// Why a process takes no part that announces itself like that.
pub(crate) fn problem(announcement: &Announcement) -> Option<String> {
    let Announcement { v, service, instance, version, points, handlers } = announcement;
    if *v != VERSION {
        return Some(format!("it speaks version {v} of the contract"));
    }
    if let Err(error) = PluginId::new(service) {
        return Some(error.to_string());
    }
    // What is sent to a process in subjects and headers is text of its own.
    if !is_name(instance) {
        return Some(format!("its instance is not 1 to {MAX_NAME} letters, digits, `_` or `-`"));
    }
    if !points.values().all(|point| is_name(&point.schema)) {
        return Some(format!(
            "a schema is not named by 1 to {MAX_NAME} letters, digits, `_` or `-`"
        ));
    }
    if version.len() > MAX_VERSION {
        return Some(format!("its version is longer than {MAX_VERSION} bytes"));
    }
    if handlers.len() > MAX_ENTRIES || points.len() > MAX_ENTRIES {
        let (handlers, points) = (handlers.len(), points.len());
        return Some(format!(
            "it announces {handlers} handlers at {points} points, {MAX_ENTRIES} are read"
        ));
    }
    None
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_plain)
}
