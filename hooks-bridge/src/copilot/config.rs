//! How a handler is written in a file of `.github/hooks`.

use crate::config::{Draft, HandlerKind};
use crate::rules::{Files, Format, Switch};

pub(super) const FORMAT: Format = Format {
    files: Files {
        managed: &["/etc/github-copilot/policy.d/"],
        managed_by_root: true,
        user: &[".copilot/hooks/", ".copilot/settings.json"],
        project: &[
            ".github/hooks/",
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
        ],
        project_first: false,
        others: &[".claude/settings"],
    },
    nested: false,
    comments: false,
    byte_order_mark: true,
    root_keys: &["version", "disableAllHooks"],
    rejects_root_keys: false,
    switches: &[Switch {
        path: &["disableAllHooks"],
        off: true,
        text: "disableAllHooks",
        // In a file of hooks it is for that file.
        is_setting: |file| file.to_string_lossy().contains("copilot/settings"),
    }],
    turned_off: None,
    group_keys: &[],
    handler_keys: &[
        "type",
        "bash",
        "powershell",
        "command",
        "cwd",
        "env",
        "timeoutSec",
        "timeout",
        "matcher",
        "url",
        "headers",
        "allowedEnvVars",
        "prompt",
        "comment",
    ],
    handler,
    no_events: &[],
};

fn handler(draft: &mut Draft<'_>) {
    match draft.text("type").as_deref() {
        None | Some("command") => {
            let line = draft.text("bash").or_else(|| draft.text("command"));
            match line {
                Some(line) => draft.kind(HandlerKind::Shell { shell: "bash".into(), line }),
                None if draft.text("powershell").is_some() => {
                    return draft.skip("PowerShell is not run here, and there is no `bash`");
                }
                None => return draft.reject("it has no `bash`: write the command there"),
            }
        }
        Some("http") => draft.http(),
        Some("prompt") => draft.skip("handlers of the type `prompt` need the product's own model"),
        Some(kind) => {
            let kind = kind.to_owned();
            draft.reject(format!("`{kind}` is no type of handler: write `command` or `http`"));
        }
    }
    draft.seconds(&["timeoutSec", "timeout"]);
    draft.environment("env");
    if let Some(directory) = draft.text("cwd") {
        draft.directory(directory);
    }
}
