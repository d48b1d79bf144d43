//! How a handler is written in `hooks.json` and in `config.toml`.

use crate::config::{Draft, HandlerKind};
use crate::rules::{Files, Format, Switch};

pub(super) const FORMAT: Format = Format {
    files: Files {
        managed: &[],
        managed_by_root: false,
        user: &[".codex/hooks.json", ".codex/config.toml"],
        project: &[".codex/hooks.json", ".codex/config.toml"],
        project_first: false,
        others: &[],
    },
    nested: true,
    comments: false,
    byte_order_mark: false,
    root_keys: &["description"],
    rejects_root_keys: true,
    switches: &[Switch {
        path: &["features", "hooks"],
        off: false,
        text: "features.hooks = false",
        is_setting: |_| true,
    }],
    turned_off: None,
    group_keys: &["matcher", "hooks"],
    handler_keys: &[
        "type",
        "command",
        "commandWindows",
        "command_windows",
        "timeout",
        "async",
        "statusMessage",
        "additionalContextLimit",
        "server",
        "tool",
        "input",
        "prompt",
        "model",
    ],
    handler,
    no_events: &["state"],
};

fn handler(draft: &mut Draft<'_>) {
    match draft.text("type").as_deref() {
        Some("command") => {
            let Some(line) = draft.required("command") else { return };
            draft.kind(HandlerKind::Shell { shell: "sh".into(), line });
        }
        Some(kind @ ("mcp_tool" | "prompt" | "agent")) => {
            draft.skip(format!(
                "handlers of the type `{kind}` need the product's own model or servers"
            ));
        }
        Some(kind) => {
            let kind = kind.to_owned();
            draft.reject(format!("`{kind}` is no type of handler: write `command`"));
        }
        None => draft.reject("it has no `type`: write `\"type\": \"command\"`"),
    }
    draft.seconds(&["timeout"]);
    let background = draft.flag("async");
    draft.background(background);
}
