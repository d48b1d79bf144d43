//! Every public item of the runtime is shown in an example that is compiled: a type, a
//! trait, a function or a macro in one of its own or, where it is a type or a trait, in
//! one of its module; a method in one of its own, of its type or of its module. A text
//! may instead refer to "the example of" another item or method, which then has one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, File, ImplItem, Item, Lit, Meta, Type, UseTree, Visibility};

/// What is read of the sources.
#[derive(Default)]
struct Crate {
    /// The names that public modules define or repeat.
    exported: BTreeSet<String>,
    /// The examples in the text of each folder's module.
    modules: BTreeMap<String, String>,
    /// Public items, each with its folder, its name and its text.
    items: Vec<(String, String, String)>,
    /// Public methods, each with its folder, its type, its name and its text.
    methods: Vec<[String; 4]>,
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether it is not in the documentation: hidden, or built with a `cfg` only.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => ["hidden", "test", "sixth_model"].contains(&&*list.tokens.to_string()),
        _ => false,
    })
}

/// The text of the doc comments.
fn text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(line) => Some(line.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What readers see of the examples in a text that are compiled and run.
fn examples(text: &str) -> String {
    let (mut inside, mut shown) = (None, String::new());
    for line in text.lines().map(str::trim) {
        match (inside, line.strip_prefix("```")) {
            (None, Some(kind)) => inside = Some(["", "standalone_crate"].contains(&kind)),
            (Some(_), Some(_)) => inside = None,
            (Some(true), None) if !line.starts_with("# ") => shown.extend([line, "\n"]),
            _ => {}
        }
    }
    shown
}

/// The names in "the example of [`name`]": the last part of each path.
fn references(text: &str) -> Vec<String> {
    let named = text.split("xample of [`").skip(1).filter_map(|rest| rest.split('`').next());
    let last = named.filter_map(|path| path.rsplit("::").next());
    last.map(|name| name.trim_end_matches('!').to_owned()).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

/// The last names of a `use`.
fn names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Path(path) => names(&path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

impl Crate {
    /// Reads the module in `file`, whose own modules are in `inside`.
    fn read(&mut self, file: &Path, inside: &Path, folder: &str, public: bool) {
        let source =
            fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        let File { attrs, items, .. } = syn::parse_file(&source).expect("Rust");
        if public {
            self.modules.insert(folder.to_owned(), examples(&text(&attrs)));
        }
        for item in &items {
            self.add(item, inside, folder, public);
        }
    }

    fn add(&mut self, item: &Item, inside: &Path, folder: &str, public: bool) {
        let (attributes, ident, visibility) = match item {
            Item::Struct(it) => (&it.attrs, &it.ident, &it.vis),
            Item::Enum(it) => (&it.attrs, &it.ident, &it.vis),
            Item::Trait(it) => (&it.attrs, &it.ident, &it.vis),
            Item::Type(it) => (&it.attrs, &it.ident, &it.vis),
            Item::Fn(it) => (&it.attrs, &it.sig.ident, &it.vis),
            Item::Macro(it) => {
                let is_exported = |it: &Attribute| it.path().is_ident("macro_export");
                if let (Some(name), true) = (&it.ident, it.attrs.iter().any(is_exported))
                    && !is_hidden(&it.attrs)
                {
                    self.exported.insert(name.to_string());
                    self.items.push((String::new(), name.to_string(), text(&it.attrs)));
                }
                return;
            }
            Item::Use(it) => {
                if public && is_public(&it.vis) && !is_hidden(&it.attrs) {
                    self.exported.extend(names(&it.tree));
                }
                return;
            }
            Item::Mod(it) => {
                let name = it.ident.to_string();
                if it.content.is_some() || is_hidden(&it.attrs) || name == "docs" {
                    return;
                }
                let (beside, below) = (inside.join(format!("{name}.rs")), inside.join(&name));
                let file = if beside.exists() { beside } else { below.join("mod.rs") };
                let folder = if folder.is_empty() { &name } else { folder };
                self.read(&file, &below, folder, public && is_public(&it.vis));
                return;
            }
            Item::Impl(it) if it.trait_.is_none() => {
                let Type::Path(path) = &*it.self_ty else { return };
                let Some(last) = path.path.segments.last() else { return };
                self.methods.extend(it.items.iter().filter_map(|method| match method {
                    ImplItem::Fn(it) if is_public(&it.vis) && !is_hidden(&it.attrs) => {
                        let (of, name) = (last.ident.to_string(), it.sig.ident.to_string());
                        Some([folder.to_owned(), of, name, text(&it.attrs)])
                    }
                    _ => None,
                }));
                return;
            }
            _ => return,
        };
        if is_public(visibility) && !is_hidden(attributes) {
            if public {
                self.exported.insert(ident.to_string());
            }
            self.items.push((folder.to_owned(), ident.to_string(), text(attributes)));
        }
    }
}

#[test]
fn every_public_item_has_an_example() {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../hooks-runtime/src");
    let mut all = Crate::default();
    all.read(&source.join("lib.rs"), &source, "", true);
    all.items.retain(|(_, name, _)| all.exported.contains(name));
    all.methods.retain(|[_, of, ..]| all.exported.contains(of));
    let (items, methods) = (all.items.len(), all.methods.len());
    assert!(items > 120 && methods > 200, "found {items} items and {methods} methods");

    let own: BTreeMap<_, _> = all.items.iter().map(|(_, name, text)| (name, text)).collect();
    let texts = all.items.iter().map(|(_, name, text)| (name, text));
    let texts = texts.chain(all.methods.iter().map(|[_, _, name, text]| (name, text)));
    let with_own = texts.filter(|(_, text)| !examples(text).is_empty());
    let with_own: BTreeSet<_> = with_own.map(|(name, _)| name.clone()).collect();
    let has_own = |text: &str| {
        let references = references(text);
        let are_there = references.iter().all(|name| with_own.contains(name));
        !examples(text).is_empty() || (!references.is_empty() && are_there)
    };
    let of_module = |folder: &str, name: &str| {
        all.modules.get(folder).is_some_and(|examples| has_word(examples, name))
    };

    let mut without = Vec::new();
    for (folder, name, text) in &all.items {
        let is_type = name.starts_with(char::is_uppercase);
        if !(has_own(text) || is_type && of_module(folder, name)) {
            without.push(format!("{folder}: {name}"));
        }
    }
    for [folder, of, name, text] in &all.methods {
        let of_type = own.get(of).is_some_and(|text| has_word(&examples(text), name));
        if !has_own(text) && !of_type && !of_module(folder, name) {
            without.push(format!("{folder}: {of}::{name}"));
        }
    }
    assert!(without.is_empty(), "{} without an example:\n{}", without.len(), without.join("\n"));
}
