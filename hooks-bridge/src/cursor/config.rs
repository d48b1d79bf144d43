//! How a handler is written in `hooks.json`.

use crate::config::{Draft, HandlerKind};
use crate::rules::{Files, Format};

pub(super) const FORMAT: Format = Format {
    files: Files {
        managed: &["/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json"],
        managed_by_root: false,
        user: &[".cursor/hooks.json"],
        project: &[".cursor/hooks.json"],
        project_first: false,
        others: &[".claude/settings"],
    },
    nested: false,
    comments: false,
    byte_order_mark: true,
    root_keys: &["version"],
    rejects_root_keys: false,
    switches: &[],
    turned_off: None,
    group_keys: &[],
    handler_keys: &[
        "command",
        "type",
        "timeout",
        "matcher",
        "failClosed",
        "loop_limit",
        "prompt",
        "model",
    ],
    handler,
    no_events: &[],
};

fn handler(draft: &mut Draft<'_>) {
    match draft.text("type").as_deref() {
        None | Some("command") => {
            let Some(line) = draft.required("command") else { return };
            draft.kind(HandlerKind::Shell { shell: "sh".into(), line });
        }
        Some("prompt") => draft.skip("handlers of the type `prompt` need the product's own model"),
        Some(kind) => {
            let kind = kind.to_owned();
            draft.reject(format!("`{kind}` is no type of handler: write `command`"));
        }
    }
    draft.seconds(&["timeout"]);
    if draft.flag("failClosed") {
        draft.fails_closed();
    }
    draft.loop_limit("loop_limit", 5);
}
