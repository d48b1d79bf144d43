//! The licences of what users of the published crates build with them: every
//! dependency, of every feature and every target, those of build scripts among them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

/// The crates that are published.
const PUBLISHED: [&str; 6] = [
    "hooks-macros",
    "hooks-runtime",
    "hooks-points",
    "hooks-inspect",
    "hooks-bridge",
    "hooks-fleet",
];

/// Licences that ask for no more than to be named, and exceptions that only loosen.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    // Of the certificate roots, which the TLS of the examples brings to ureq; of the
    // published crates none asks for them.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether a licence expression can be met by what is allowed: of `OR` one side, of
/// `AND` both. An expression that cannot be read is not met.
fn is_met(expression: &str) -> bool {
    // `MIT/Apache-2.0` is how old packages write `OR`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut met = all_of(rest)?;
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        met |= all_of(rest)?;
    }
    Some(met)
}

fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut met = one(rest)?;
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        met &= one(rest)?;
    }
    Some(met)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let met = any_of(rest)?;
            *rest = rest.strip_prefix(&[")"])?;
            Some(met)
        }
        [licence, "WITH", exception, after @ ..] => {
            *rest = after;
            Some(ALLOWED.contains(&&*format!("{licence} WITH {exception}")))
        }
        [licence, after @ ..] => {
            *rest = after;
            Some(ALLOWED.contains(licence))
        }
        [] => None,
    }
}

/// Names and licences of the packages that the published ones need, and of which of
/// them the licence is not met. `metadata` is what `cargo metadata` prints.
fn judged(metadata: &Value) -> (BTreeSet<String>, Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by_id = |values: Vec<Value>| -> BTreeMap<String, Value> {
        values.into_iter().map(|value| (text(&value["id"]), value)).collect()
    };
    let packages = by_id(list(&metadata["packages"]));
    let nodes = by_id(list(&metadata["resolve"]["nodes"]));
    let is_published = |package: &Value| PUBLISHED.contains(&text(&package["name"]).as_str());
    let mut open: Vec<String> = packages
        .iter()
        .filter(|(_, package)| is_published(package))
        .map(|(id, _)| id.clone())
        .collect();
    assert_eq!(open.len(), PUBLISHED.len(), "{open:?}");
    let mut needed = BTreeSet::new();
    while let Some(id) = open.pop() {
        if needed.insert(id.clone()) {
            // What is needed for tests alone does not reach a user.
            let reaches_users =
                |edge: &Value| list(&edge["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
            let edges = list(&nodes[&id]["deps"]);
            open.extend(edges.iter().filter(|edge| reaches_users(edge)).map(|e| text(&e["pkg"])));
        }
    }
    let (mut seen, mut refused) = (BTreeSet::new(), Vec::new());
    for package in needed.iter().map(|id| &packages[id]) {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let licence = package["license"].as_str().unwrap_or("no licence expression");
        if !is_met(licence) {
            refused.push(format!("{name} {version}: {licence}"));
        }
        seen.insert(name);
    }
    (seen, refused)
}

#[test]
fn every_dependency_of_the_published_crates_may_be_used() {
    let printed = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--format-version=1", "--all-features", "--locked"])
        .output()
        .expect("cargo runs");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let metadata = serde_json::from_slice(&printed.stdout).expect("JSON");
    let (seen, refused) = judged(&metadata);
    // Of a feature, of a target, of a macro.
    for name in ["schemars", "libc", "syn", "thiserror-impl"] {
        assert!(seen.contains(name), "{name} was not looked at: {seen:?}");
    }
    // Of tests.
    assert!(!seen.contains("trybuild") && !seen.contains("proptest"), "{seen:?}");
    assert!(refused.is_empty(), "licences that are not allowed: {refused:#?}");
    println!("\nproof: licences: {} packages", seen.len());
}

#[test]
fn a_licence_that_is_not_allowed_is_found() {
    let package = |name: &str, licence: Value| json!({ "id": name, "name": name, "version": "1.0.0", "license": licence });
    let node = |name: &str, deps: &[(&str, Value)]| {
        let deps: Vec<Value> = deps
            .iter()
            .map(|(name, kind)| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] }))
            .collect();
        json!({ "id": name, "deps": deps })
    };
    let metadata = json!({
        "packages": [
            package("hooks-macros", json!("MIT OR Apache-2.0")),
            package("hooks-runtime", json!("MIT OR Apache-2.0")),
            package("hooks-points", json!("MIT OR Apache-2.0")),
            package("hooks-inspect", json!("MIT OR Apache-2.0")),
            package("hooks-bridge", json!("MIT OR Apache-2.0")),
            package("hooks-fleet", json!("MIT OR Apache-2.0")),
            package("fine", json!("MIT/Apache-2.0")),
            package("copyleft", json!("GPL-3.0-only")),
            package("silent", Value::Null),
            package("for-tests", json!("GPL-3.0-only")),
            package("unrelated", json!("GPL-3.0-only")),
        ],
        "resolve": { "nodes": [
            node("hooks-macros", &[("for-tests", json!("dev"))]),
            node("hooks-runtime", &[("hooks-macros", Value::Null), ("fine", Value::Null)]),
            node("hooks-points", &[("hooks-runtime", Value::Null), ("silent", json!("build"))]),
            node("hooks-inspect", &[]),
            node("hooks-bridge", &[("hooks-points", Value::Null)]),
            node("hooks-fleet", &[]),
            node("fine", &[("copyleft", Value::Null)]),
            node("copyleft", &[]),
            node("silent", &[]),
            node("for-tests", &[]),
            node("unrelated", &[]),
        ] },
    });
    let (_, refused) = judged(&metadata);
    assert_eq!(refused, ["copyleft 1.0.0: GPL-3.0-only", "silent 1.0.0: no licence expression"]);
}

#[test]
fn an_expression_is_met_by_one_side_of_or_and_by_both_of_and() {
    for met in [
        "MIT",
        "GPL-3.0-only OR MIT",
        "LGPL-2.1-or-later/Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
    ] {
        assert!(is_met(met), "{met}");
    }
    for not_met in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MIT OR",
        "(MIT",
        "MIT)",
        "MIT Apache-2.0",
        "MIT AND (GPL-3.0-only OR AGPL-3.0-only)",
        "MIT WITH Classpath-exception-2.0",
    ] {
        assert!(!is_met(not_met), "{not_met}");
    }
}
