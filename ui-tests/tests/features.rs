//! What a crate is answered that uses what a feature of the runtime adds.
//!
//! Each is a package of its own: in the workspace every feature is on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the compiler says of a program, with only these features of the runtime and
/// no other dependency: the errors, without where they are.
fn errors(name: &str, features: &str, program: &str) -> Vec<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let package = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("features").join(name);
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[features]\nschema = []\n\n\
         [dependencies.hooks-runtime]\npath = '{}'\ndefault-features = false\n\
         features = [{features}]\n\n[workspace]\n",
        workspace.join("hooks-runtime").display()
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/main.rs"), format!("{program}\nfn main() {{}}\n")).unwrap();
    // The versions of the workspace are at hand.
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let checked = Command::new(env!("CARGO"))
        .current_dir(&package)
        .args(["check", "--quiet", "--offline", "--all-features", "--message-format=short"])
        .env("CARGO_TARGET_DIR", package.join("../target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let said = String::from_utf8(checked.stderr).unwrap();
    let lines = said.lines().filter_map(|line| line.split_once("error"));
    lines
        .filter(|(place, _)| place.starts_with("src/"))
        .map(|(_, error)| format!("error{error}"))
        .collect()
}

const JSON: &str = "hooks_runtime::hook_points! {
    #![hook(json = \"camelCase\", catalogue = pub fn points)]
    pub void Opened { drawer: u32, label: Option<String> }
    pub modifying Labelling { text: String } -> { title: String }
    pub claiming Route(String) -> u32;
}";

const SCHEMA: &str = "hooks_runtime::hook_points! {
    #![hook(json = \"camelCase\", schema, catalogue = pub fn points)]
    pub void Opened { drawer: u32, label: Option<String> }
    pub claiming Route(String) -> u32;
}";

const CONDITIONAL_SCHEMA: &str = "hooks_runtime::hook_points! {
    #![hook(json = \"camelCase\", catalogue = pub fn points)]
    #![cfg_attr(feature = \"schema\", hook(schema))]
    pub void Opened { drawer: u32, label: Option<String> }
}";

const NOTHING_ON_THE_WIRE: &str = "
pub struct Message;
hooks_runtime::hook_points! {
    #![hook(json = \"camelCase\", schema, catalogue = pub fn points)]
    pub gating Sending(Message);
}";

const NO_SCHEMA: &str = "
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(crate = \"serde\")]
pub struct Message;
use hooks_runtime::__private::serde;
hooks_runtime::hook_points! {
    #![hook(json = \"camelCase\", schema, catalogue = pub fn points)]
    pub gating Sending(Message);
}";

#[test]
fn each_key_says_which_feature_it_needs() {
    let json = "error: `json` needs the feature `json` of hooks-runtime: write `features = \
                [\"json\"]` at that dependency";
    let schema = "error: `schema` needs the feature `schema` of hooks-runtime: write `features = \
                  [\"schema\"]` at that dependency";
    assert_eq!(errors("without_json", "", JSON), [json]);
    assert_eq!(errors("without_json_and_schema", "", SCHEMA), [json, schema]);
    assert_eq!(errors("without_schema", "\"json\"", SCHEMA), [schema]);
    assert_eq!(errors("without_conditional_schema", "\"json\"", CONDITIONAL_SCHEMA), [schema]);
}

#[test]
fn with_the_feature_there_is_no_other_dependency() {
    let none: [&str; 0] = [];
    assert_eq!(errors("with_serde", "\"serde\"", JSON), none);
    assert_eq!(errors("with_json", "\"json\"", JSON), none);
    assert_eq!(errors("with_schema", "\"schema\"", SCHEMA), none);
    assert_eq!(errors("with_conditional_schema", "\"schema\"", CONDITIONAL_SCHEMA), none);
}

#[test]
fn a_named_type_that_lacks_json_or_a_schema_is_one_error_each() {
    let json = "error[E0277]: `Message` has no JSON, but its block says `json`: not \
                `Serialize` and `Deserialize`";
    let schema = "error[E0277]: `Message` has no JSON Schema, but its block says `schema`: \
                  not `JsonSchema`";
    assert_eq!(errors("nothing_on_the_wire", "\"schema\"", NOTHING_ON_THE_WIRE), [json, schema]);
    assert_eq!(errors("no_schema", "\"schema\"", NO_SCHEMA), [schema]);
}
