//! How to do things, task by task. Every snippet is compiled and run.
//!
//! | you want to | read |
//! |---|---|
//! | extend a program that has points | [Add a hook](add_a_hook), five minutes |
//! | let others extend yours | [Which model?](which_model) |
//! | have something that no model does | [Behaviour that no model has](behaviour_no_model_has) |
//! | decide how long to wait, and what a failure means | [Choose limits and policies](choose_limits_and_policies) |
//! | fire without async | [Fire from sync code](fire_from_sync_code) |
//! | ship several handlers with state | [Write a plugin](write_a_plugin) |
//! | answer many callers, as a web service does | [Serve requests](serve_requests) |
//! | let a configuration say which plugins there are | [Plugins from configuration](plugins_from_configuration) |
//! | register annotated functions without a list | [Collect handlers](collect_handlers) |
//! | take it out again while the program runs | [Unload safely](unload_safely) |
//! | see and change what runs, without a restart, also from a browser | [Operate a running host](operate_a_running_host) |
//! | keep an operator's settings in a file | [Settings in a file](settings_in_a_file) |
//! | keep what happened in a file, and read it back | [Record what happens](record_what_happens) |
//! | know what a change would have done to recorded fires | [Replay recorded fires](replay_recorded_fires) |
//! | be sure that it works | [Test a handler](test_a_handler) |
//! | move to the next version, or change your own points | [Upgrade](upgrade) |

#[doc = include_str!("add_a_hook.md")]
pub mod add_a_hook {}

#[doc = include_str!("which_model.md")]
pub mod which_model {}

#[doc = include_str!("behaviour_no_model_has.md")]
pub mod behaviour_no_model_has {}

#[doc = include_str!("choose_limits_and_policies.md")]
pub mod choose_limits_and_policies {}

#[doc = include_str!("fire_from_sync_code.md")]
pub mod fire_from_sync_code {}

#[doc = include_str!("write_a_plugin.md")]
pub mod write_a_plugin {}

#[doc = include_str!("serve_requests.md")]
pub mod serve_requests {}

#[doc = include_str!("plugins_from_configuration.md")]
pub mod plugins_from_configuration {}

// Its program compiles with the feature only.
#[cfg_attr(feature = "collect", doc = include_str!("collect_handlers.md"))]
#[cfg_attr(
    not(feature = "collect"),
    doc = "Collect handlers: a page of the documentation with the feature `collect`."
)]
pub mod collect_handlers {}

#[doc = include_str!("unload_safely.md")]
pub mod unload_safely {}

#[doc = include_str!("operate_a_running_host.md")]
pub mod operate_a_running_host {}

// Its program compiles with the feature only.
#[cfg_attr(
    feature = "config",
    doc = concat!(
        include_str!("settings_in_a_file.md"),
        "\n```toml\n",
        include_str!("hooks.toml"),
        "```\n\n",
        include_str!("settings_in_a_file_mistakes.md"),
    )
)]
#[cfg_attr(
    not(feature = "config"),
    doc = "Settings in a file: a page of the documentation with the feature `config`."
)]
pub mod settings_in_a_file {}

// Its program compiles with the feature only.
#[cfg_attr(feature = "record", doc = include_str!("record_what_happens.md"))]
#[cfg_attr(
    not(feature = "record"),
    doc = "Record what happens: a page of the documentation with the feature `record`."
)]
pub mod record_what_happens {}
// Its programs compile with the feature only.
#[cfg_attr(feature = "replay", doc = include_str!("replay_recorded_fires.md"))]
#[cfg_attr(
    not(feature = "replay"),
    doc = "Replay recorded fires: a page of the documentation with the feature `replay`."
)]
pub mod replay_recorded_fires {}

#[doc = include_str!("test_a_handler.md")]
pub mod test_a_handler {}

#[doc = include_str!("upgrade.md")]
pub mod upgrade {}
