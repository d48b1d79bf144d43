//! How a handler is written in a settings file.

use crate::config::{Draft, HandlerKind};
use crate::rules::{Files, Format, Switch};

pub(super) const FORMAT: Format = Format {
    files: Files {
        managed: &[],
        managed_by_root: false,
        user: &[".gemini/settings.json"],
        project: &[".gemini/settings.json"],
        project_first: true,
        others: &[],
    },
    nested: true,
    comments: true,
    byte_order_mark: true,
    root_keys: &["hooksConfig"],
    rejects_root_keys: false,
    switches: &[Switch {
        path: &["hooksConfig", "enabled"],
        off: false,
        text: "hooksConfig.enabled: false",
        is_setting: |_| true,
    }],
    turned_off: Some(["hooksConfig", "disabled"]),
    group_keys: &["matcher", "sequential", "hooks"],
    handler_keys: &["name", "type", "command", "timeout", "description", "env"],
    handler,
    no_events: &["enabled", "disabled", "notifications"],
};

fn handler(draft: &mut Draft<'_>) {
    match draft.text("type").as_deref() {
        Some("command") => {
            let Some(line) = draft.required("command") else { return };
            draft.kind(HandlerKind::Shell { shell: "bash".into(), line });
        }
        Some(kind) => {
            let kind = kind.to_owned();
            draft.reject(format!("`{kind}` is no type of handler: write `command`, in lower case"));
        }
        None => draft.reject("it has no `type`: write `\"type\": \"command\"`"),
    }
    if let Some(name) = draft.text("name") {
        draft.name(name);
    }
    draft.environment("env");
    draft.milliseconds(&["timeout"]);
}
