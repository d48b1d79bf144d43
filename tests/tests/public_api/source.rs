//! The modules of a crate, read from its sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, ItemImpl, UseTree, Visibility};

/// Where a module is: the names from the root, which has none.
pub type ModulePath = Vec<String>;

pub struct Module {
    pub items: Vec<Item>,
    /// Each name that it imports or re-exports, with its path from the root.
    pub uses: Vec<Use>,
}

pub struct Use {
    pub name: String,
    pub path: Vec<String>,
    /// The same as it is written.
    pub written: String,
    pub is_public: bool,
    pub attrs: Vec<Attribute>,
}

pub struct Source {
    pub modules: BTreeMap<ModulePath, Module>,
}

impl Source {
    pub fn read(root: &Path) -> Self {
        let mut source = Self { modules: BTreeMap::new() };
        let file = std::fs::read_to_string(root).unwrap();
        source.add(&[], &root.with_file_name(""), syn::parse_file(&file).unwrap().items);
        source
    }

    /// `dir` is where the files of this module's own modules are.
    fn add(&mut self, path: &[String], dir: &Path, items: Vec<Item>) {
        let mut module = Module { items: Vec::new(), uses: Vec::new() };
        for item in items {
            match item {
                Item::Mod(inner) if is_internal(&inner.attrs) => {}
                Item::Mod(mut inner) => {
                    let name = inner.ident.to_string();
                    let inner_path = [path, std::slice::from_ref(&name)].concat();
                    let inner_dir = dir.join(&name);
                    let inner_items = match inner.content.take() {
                        Some((_, items)) => items,
                        None => parsed(dir, &name),
                    };
                    self.add(&inner_path, &inner_dir, inner_items);
                    module.items.push(Item::Mod(inner));
                }
                Item::Use(item) => {
                    let is_public = is_public(&item.vis);
                    for (name, used) in flat(&item.tree, Vec::new()) {
                        let written = used.join("::");
                        let path = from_root(path, used);
                        let attrs = item.attrs.clone();
                        module.uses.push(Use { name, path, written, is_public, attrs });
                    }
                }
                other => module.items.push(other),
            }
        }
        self.modules.insert(path.to_vec(), module);
    }

    /// The blocks of all modules with methods or traits of the type of this name.
    pub fn impls<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a ModulePath, &'a ItemImpl)> {
        self.modules.iter().flat_map(move |(path, module)| {
            let blocks = module.items.iter().filter_map(move |item| match item {
                Item::Impl(block) if self_type(block).is_some_and(|of| of == name) => Some(block),
                _ => None,
            });
            blocks.map(move |block| (path, block))
        })
    }

    /// Whether this is the name of a trait of the crate.
    pub fn has_trait(&self, name: &str) -> bool {
        let mut items = self.modules.values().flat_map(|module| &module.items);
        items.any(|item| matches!(item, Item::Trait(of) if of.ident == name))
    }

    /// The items of a macro without parameters, which stands for methods.
    pub fn macro_body(&self, name: &str) -> Option<proc_macro2::TokenStream> {
        let items = self.modules.values().flat_map(|module| &module.items);
        let mut named = items.filter_map(|item| match item {
            Item::Macro(defined) if defined.ident.as_ref()? == name => Some(&defined.mac.tokens),
            _ => None,
        });
        let groups = named.next()?.clone().into_iter().filter_map(|token| match token {
            proc_macro2::TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        groups.last()
    }
}

fn parsed(dir: &Path, name: &str) -> Vec<Item> {
    let candidates: [PathBuf; 2] = [dir.join(format!("{name}.rs")), dir.join(name).join("mod.rs")];
    let file = candidates.iter().find_map(|file| std::fs::read_to_string(file).ok());
    syn::parse_file(&file.unwrap_or_else(|| panic!("no file of the module {name}"))).unwrap().items
}

fn flat(tree: &UseTree, mut before: Vec<String>) -> Vec<(String, Vec<String>)> {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flat(&path.tree, before)
        }
        UseTree::Name(name) if name.ident == "self" => {
            vec![(before.last().unwrap().clone(), before)]
        }
        UseTree::Name(name) => {
            before.push(name.ident.to_string());
            vec![(name.ident.to_string(), before)]
        }
        UseTree::Rename(renamed) => {
            before.push(renamed.ident.to_string());
            vec![(renamed.rename.to_string(), before)]
        }
        UseTree::Glob(_) => {
            before.push("*".into());
            vec![("*".into(), before)]
        }
        UseTree::Group(group) => {
            group.items.iter().flat_map(|tree| flat(tree, before.clone())).collect()
        }
    }
}

/// Makes a path start at the root where it starts at this module or the root. One that
/// starts at another crate stays as it is.
fn from_root(module: &[String], used: Vec<String>) -> Vec<String> {
    match used[0].as_str() {
        "crate" => used[1..].to_vec(),
        "self" => [module, &used[1..]].concat(),
        "super" => [&module[..module.len() - 1], &used[1..]].concat(),
        _ => [module, &used[..]].concat(),
    }
}

pub fn self_type(block: &ItemImpl) -> Option<String> {
    match &*block.self_ty {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

pub fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

/// Whether it is only in the project's own builds: tests, and cfgs that are no features.
fn is_internal(attrs: &[Attribute]) -> bool {
    let mut cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    cfgs.any(|attr| !tokens(attr).contains("feature"))
}

/// Whether users are not to see it.
pub fn is_hidden(attrs: &[Attribute]) -> bool {
    let mut docs = attrs.iter().filter(|attr| attr.path().is_ident("doc"));
    docs.any(|attr| tokens(attr).contains("hidden")) || is_internal(attrs)
}

/// The features that an item needs, as `cfg` names them.
pub fn features(attrs: &[Attribute]) -> Vec<String> {
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    cfgs.map(|attr| tokens(attr).replace("cfg (feature = ", "").replace([')', '"'], "")).collect()
}

fn tokens(attr: &Attribute) -> String {
    use quote::ToTokens;
    attr.meta.to_token_stream().to_string()
}
