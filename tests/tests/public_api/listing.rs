//! What a crate's users can name, one line each.

use std::collections::BTreeMap;

use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem};

use crate::source::{ModulePath, Source, Use, features, is_hidden, is_public};
use crate::tidy::tidy;

/// The items of a crate by their path, each with its own line and those of what it has.
pub struct Listing<'a> {
    source: &'a Source,
    items: BTreeMap<String, Vec<String>>,
    /// The traits of a type, which are listed where they are public themselves.
    traits: Vec<(String, String, Vec<String>)>,
}

impl<'a> Listing<'a> {
    pub fn of(source: &'a Source, name: &str) -> Vec<String> {
        let mut listing = Self { source, items: BTreeMap::new(), traits: Vec::new() };
        listing.module(&Vec::new(), name, &[]);
        for (full, of, needs) in std::mem::take(&mut listing.traits) {
            let name = of.split('<').next().unwrap();
            let is_listed = |path: &String| path.rsplit("::").next() == Some(name);
            if !source.has_trait(name) || listing.items.keys().any(is_listed) {
                listing.line(&full, format!("  impl {of}"), &needs);
            }
        }
        listing.items.into_values().flatten().collect()
    }

    fn module(&mut self, path: &ModulePath, shown: &str, needs: &[String]) {
        let module = &self.source.modules[path];
        for item in &module.items {
            self.item(path, item, &name_of(item), shown, needs);
        }
        for used in module.uses.iter().filter(|used| used.is_public && !is_hidden(&used.attrs)) {
            let needs = [needs, &features(&used.attrs)].concat();
            self.re_export(used, &used.name, shown, &needs);
        }
    }

    /// An item that another module declares: where users can name it there, the line says
    /// so; where they cannot, this is its place.
    fn re_export(&mut self, used: &Use, name: &str, shown: &str, needs: &[String]) {
        let full = format!("{shown}::{name}");
        let (declared, module) = used.path.split_last().unwrap();
        let Some(found) = self.source.modules.get(module) else {
            return self.line(&full, format!("{full} = {}", used.written), needs);
        };
        let declares = |item: &Item| {
            let is_type = !matches!(item, Item::Mod(_)) && name_of(item) == *declared;
            is_type && attributes(item).is_some_and(|(_, vis)| vis.is_some_and(is_public))
        };
        let hands_on = |used: &Use| used.is_public && used.name == *declared;
        let is_public_there = found.items.iter().any(declares) || found.uses.iter().any(hands_on);
        if is_public_there && self.is_reachable(module) {
            let module = module.join("::");
            return self.line(&full, format!("{full} = {module}::{declared}"), needs);
        }
        if let Some(item) = found.items.iter().find(|item| name_of(item) == *declared) {
            return self.item(module, item, name, shown, needs);
        }
        match found.uses.iter().find(|used| used.name == *declared) {
            Some(further) => self.re_export(further, name, shown, needs),
            None => self.line(&full, format!("{full} (declared by a macro)"), needs),
        }
    }

    /// Whether users can name this module.
    fn is_reachable(&self, module: &[String]) -> bool {
        (0..module.len()).all(|depth| {
            let items = &self.source.modules[&module[..depth].to_vec()].items;
            items.iter().any(|item| match item {
                Item::Mod(inner) => inner.ident == module[depth] && is_public(&inner.vis),
                _ => false,
            })
        })
    }

    fn item(&mut self, path: &[String], item: &Item, name: &str, shown: &str, needs: &[String]) {
        let Some((attrs, vis)) = attributes(item) else { return };
        let exported = attrs.iter().any(|attr| attr.path().is_ident("macro_export"));
        if is_hidden(attrs) || !(vis.is_some_and(is_public) || exported) {
            return;
        }
        let needs = &[needs, &features(attrs)].concat();
        let full = format!("{shown}::{name}");
        match item {
            Item::Mod(_) => {
                self.line(&full, format!("{full} mod"), needs);
                let path = [path, &[name.to_owned()]].concat();
                self.module(&path, &full, needs);
            }
            Item::Macro(_) => self.line(&full, format!("{full}! macro"), needs),
            Item::Fn(function) => {
                self.line(&full, format!("{full} {}", tidy(&function.sig)), needs);
            }
            Item::Type(alias) => {
                let (generics, ty) = (tidy(&alias.generics), tidy(&alias.ty));
                self.line(&full, format!("{full} type {name}{generics} = {ty}"), needs);
            }
            Item::Const(constant) => {
                self.line(&full, format!("{full} const: {}", tidy(&constant.ty)), needs);
            }
            Item::Struct(of) => {
                self.line(&full, format!("{full}{} struct", tidy(&of.generics)), needs);
                self.fields(&of.fields, &full, "", needs, is_public);
                self.type_items(name, attrs, &full, needs);
            }
            Item::Enum(of) => {
                let open = attrs.iter().any(|attr| attr.path().is_ident("non_exhaustive"));
                let open = if open { " (non-exhaustive)" } else { "" };
                self.line(&full, format!("{full}{} enum{open}", tidy(&of.generics)), needs);
                for variant in of.variants.iter().filter(|variant| !is_hidden(&variant.attrs)) {
                    let variant_name = &variant.ident;
                    let needs = [needs, &features(&variant.attrs)[..]].concat();
                    match &variant.fields {
                        Fields::Unnamed(fields) => {
                            let types: Vec<_> =
                                fields.unnamed.iter().map(|of| tidy(&of.ty)).collect();
                            let types = types.join(", ");
                            self.line(&full, format!("  variant {variant_name}({types})"), &needs);
                        }
                        fields => {
                            self.line(&full, format!("  variant {variant_name}"), &needs);
                            let of = format!("{variant_name}::");
                            self.fields(fields, &full, &of, &needs, |_| true);
                        }
                    }
                }
                self.type_items(name, attrs, &full, needs);
            }
            Item::Trait(of) => {
                let bounds = tidy(&of.supertraits);
                let colon = if bounds.is_empty() { "" } else { ": " };
                let generics = tidy(&of.generics);
                self.line(&full, format!("{full}{generics} trait{colon}{bounds}"), needs);
                for inner in &of.items {
                    let (attrs, text, optional) = match inner {
                        TraitItem::Fn(of) => (&of.attrs, tidy(&of.sig), of.default.is_some()),
                        TraitItem::Type(of) => (&of.attrs, format!("type {}", of.ident), false),
                        TraitItem::Const(of) => {
                            (&of.attrs, format!("const {}: {}", of.ident, tidy(&of.ty)), false)
                        }
                        _ => continue,
                    };
                    let optional = if optional { " (provided)" } else { "" };
                    if !is_hidden(attrs) {
                        let needs = [needs, &features(attrs)[..]].concat();
                        self.line(&full, format!("  {text}{optional}"), &needs);
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        fields: &Fields,
        full: &str,
        of: &str,
        needs: &[String],
        shows: impl Fn(&syn::Visibility) -> bool,
    ) {
        for (at, field) in fields.iter().enumerate() {
            if shows(&field.vis) && !is_hidden(&field.attrs) {
                let name = field.ident.as_ref().map_or(at.to_string(), ToString::to_string);
                self.line(full, format!("  field {of}{name}: {}", tidy(&field.ty)), needs);
            }
        }
    }

    /// Methods, and the traits that are derived or implemented.
    fn type_items(&mut self, name: &str, attrs: &[Attribute], full: &str, needs: &[String]) {
        for derived in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
            let _ = derived.parse_nested_meta(|of| {
                self.implements(full, &of.path, needs);
                Ok(())
            });
        }
        for (module, block) in self.source.impls(name) {
            let gated = module_features(self.source, module);
            let needs: Vec<_> = [needs, &gated, &features(&block.attrs)].concat();
            match &block.trait_ {
                Some((of, _)) => self.implements(full, of, &needs),
                None => self.methods(block, full, &needs),
            }
        }
    }

    fn methods(&mut self, block: &ItemImpl, full: &str, needs: &[String]) {
        let mut items = block.items.clone();
        for item in &block.items {
            if let ImplItem::Macro(called) = item {
                let name = tidy(&called.mac.path);
                if let Some(body) = self.source.macro_body(&name) {
                    let body = body.to_string().replace('$', "");
                    let body: ItemImpl = syn::parse_str(&format!("impl X {{ {body} }}")).unwrap();
                    items.extend(body.items);
                }
            }
        }
        let of = tidy(&block.self_ty);
        // Methods of `Type<String>` alone say so.
        let is_general = !of.contains('<') || !block.generics.params.is_empty();
        let arguments = if is_general { String::new() } else { format!("{of}: ") };
        for item in &items {
            let (attrs, vis, text) = match item {
                ImplItem::Fn(of) => (&of.attrs, &of.vis, tidy(&of.sig)),
                ImplItem::Const(of) => {
                    (&of.attrs, &of.vis, format!("const {}: {}", of.ident, tidy(&of.ty)))
                }
                _ => continue,
            };
            if is_public(vis) && !is_hidden(attrs) {
                let needs = [needs, &features(attrs)].concat();
                self.line(full, format!("  {arguments}{text}"), &needs);
            }
        }
    }

    fn implements(&mut self, full: &str, of: &syn::Path, needs: &[String]) {
        let last = of.segments.last().map(tidy).unwrap_or_default();
        self.traits.push((full.to_owned(), last, needs.to_vec()));
    }

    fn line(&mut self, full: &str, text: String, needs: &[String]) {
        let mut needs = needs.to_vec();
        needs.sort();
        needs.dedup();
        let needs =
            if needs.is_empty() { String::new() } else { format!("  [{}]", needs.join(", ")) };
        self.items.entry(full.to_owned()).or_default().push(format!("{text}{needs}"));
    }
}

/// The features that the modules on the way to this one need.
fn module_features(source: &Source, module: &[String]) -> Vec<String> {
    let mut needs = Vec::new();
    for depth in 0..module.len() {
        let items = &source.modules[&module[..depth].to_vec()].items;
        for item in items {
            if let Item::Mod(inner) = item
                && inner.ident == module[depth]
            {
                needs.extend(features(&inner.attrs));
            }
        }
    }
    needs
}

fn name_of(item: &Item) -> String {
    match item {
        Item::Const(of) => of.ident.to_string(),
        Item::Enum(of) => of.ident.to_string(),
        Item::Fn(of) => of.sig.ident.to_string(),
        Item::Macro(of) => of.ident.as_ref().map_or(String::new(), ToString::to_string),
        Item::Mod(of) => of.ident.to_string(),
        Item::Struct(of) => of.ident.to_string(),
        Item::Trait(of) => of.ident.to_string(),
        Item::Type(of) => of.ident.to_string(),
        _ => String::new(),
    }
}

fn attributes(item: &Item) -> Option<(&[Attribute], Option<&syn::Visibility>)> {
    Some(match item {
        Item::Const(of) => (&of.attrs, Some(&of.vis)),
        Item::Enum(of) => (&of.attrs, Some(&of.vis)),
        Item::Fn(of) => (&of.attrs, Some(&of.vis)),
        Item::Macro(of) => (&of.attrs, None),
        Item::Mod(of) => (&of.attrs, Some(&of.vis)),
        Item::Struct(of) => (&of.attrs, Some(&of.vis)),
        Item::Trait(of) => (&of.attrs, Some(&of.vis)),
        Item::Type(of) => (&of.attrs, Some(&of.vis)),
        _ => return None,
    })
}
