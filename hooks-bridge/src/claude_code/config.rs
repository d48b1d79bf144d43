//! How a handler is written in a settings file.

use crate::config::{Draft, HandlerKind};
use crate::rules::{Files, Format, Switch};

pub(super) const FORMAT: Format = Format {
    files: Files {
        // Where its managed settings are depends on how they are rolled out.
        managed: &[],
        managed_by_root: false,
        user: &[".claude/settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        project_first: false,
        others: &[],
    },
    nested: true,
    comments: false,
    byte_order_mark: true,
    root_keys: &["description", "disableAllHooks", "allowManagedHooksOnly"],
    rejects_root_keys: false,
    switches: &[Switch {
        path: &["disableAllHooks"],
        off: true,
        text: "disableAllHooks",
        is_setting: |_| true,
    }],
    turned_off: None,
    group_keys: &["matcher", "hooks"],
    handler_keys: &[
        "type",
        "command",
        "args",
        "timeout",
        "if",
        "onFailure",
        "async",
        "asyncRewake",
        "shell",
        "statusMessage",
        "once",
        "rewakeMessage",
        "rewakeSummary",
        "url",
        "headers",
        "allowedEnvVars",
        "prompt",
        "model",
        "continueOnBlock",
        "server",
        "tool",
        "input",
    ],
    handler,
    no_events: &[],
};

/// Reads one handler.
pub(crate) fn handler(draft: &mut Draft<'_>) {
    match draft.text("type").as_deref() {
        Some("command") => {
            let shell = draft.text("shell").unwrap_or_else(|| "sh".into());
            match shell.as_str() {
                "sh" | "bash" => {}
                "powershell" => return draft.skip("PowerShell is not run here"),
                other => {
                    let text =
                        format!("`shell` is `{other}`, which is neither `bash` nor `powershell`");
                    return draft.reject(text);
                }
            }
            let args = draft.texts("args");
            let Some(command) = draft.required("command") else { return };
            draft.kind(match args {
                Some(arguments) => HandlerKind::Exec { program: command, arguments },
                None => HandlerKind::Shell { shell, line: command },
            });
        }
        Some("http") => draft.http(),
        Some(kind @ ("mcp_tool" | "prompt" | "agent")) => {
            draft.skip(format!(
                "handlers of the type `{kind}` need the product's own model or servers"
            ));
        }
        Some(kind) => {
            let kind = kind.to_owned();
            draft.reject(format!("`{kind}` is no type of handler: write `command` or `http`"));
        }
        None => draft.reject("it has no `type`: write `\"type\": \"command\"`"),
    }
    draft.seconds(&["timeout"]);
    match draft.text("onFailure").as_deref() {
        None | Some("continue") => {}
        Some("block") => draft.fails_closed(),
        Some(other) => {
            let other = other.to_owned();
            draft.suspect(format!(
                "`onFailure` is `{other}`, which is neither `continue` nor `block`"
            ));
        }
    }
    let background = draft.flag("async") | draft.flag("asyncRewake");
    draft.background(background);
    let once = draft.flag("once");
    draft.once(once);
    if let Some(rule) = draft.text("if") {
        draft.rule(rule);
    }
}
