//! What `#[hook_handlers]` says about mistakes, and what it emits all the same.

use super::support::{assert_holds, assert_messages, plugin};

#[test]
fn the_block_comes_out_without_its_marks() {
    let expansion = plugin(
        "plugn = 3",
        "impl A { #[doc(hidden)] #[hooks::hook_handler(P, x = 1)] #[inline] fn f(&self) { half = ; } const N: u8 = 1; }",
    );
    // In the place of a mark stands what allows the signature that it asks for.
    assert_holds(&expansion, "impl A { #[doc(hidden)] #[allow(");
    assert_holds(&expansion, "#[inline] fn f(&self) { half = ; } const N: u8 = 1; }");
    assert!(!expansion.to_string().contains("hook_handler"));
}

#[test]
fn good_handlers_survive_bad_ones() {
    let expansion = plugin(
        "plugin = \"audit\"",
        "impl A { #[hook_handler(P)] fn bad(self, p: &u8) {} #[hook_handler(P)] fn good(&self, p: &u8) {} }",
    );
    assert_holds(&expansion, "__annotated(\"good\",");
    assert_holds(&expansion, "impl ::hooks_runtime::__private::OneBlockOfHookHandlers for A");
    assert_messages(expansion, &[("self", "a plugin is shared: take `&self`")]);
}

#[test]
fn methods_are_checked() {
    assert_messages(
        plugin(
            "",
            r#"impl A {
                #[hook_handler(P, plugin = "x", crate = x)] fn a(&mut self, p: &u8) {}
                #[hook_handler(P)] fn b(p: &u8) {}
                #[hook_handler(P)] fn c(self: Arc<Self>, p: &u8) {}
                #[hook_handler(P, name = "x")] fn d(&self, p: &u8) {}
                #[hook_handler(P, name = "x")] fn e(&self, p: &u8) {}
                #[hook_handler(Q, name = "x")] fn f(&self, p: &u8) {}
                #[hook_handler(P)] #[hook_handler(Q)] fn g(&self, p: &u8) {}
                #[hook_handler] fn h(&self, p: &u8) {}
                #[hook_handler(P)] const N: u8 = 1;
            }"#,
        ),
        &[
            ("hook_handler", "a method handles one point"),
            ("", "name the hook point first"),
            ("const", "`#[hook_handler]` goes on a function"),
            ("plugin", "the block names the plugin"),
            ("crate", "the block names the crate"),
            ("mut", "a plugin is shared: take `&self`"),
            ("b", "takes `&self` first"),
            ("self", "a plugin is shared: take `&self`"),
            ("\"x\"", "this point has a handler `x` in this block already"),
        ],
    );
}

#[test]
fn two_methods_of_one_identifier_are_left_to_the_compiler() {
    let method = "#[hook_handler(P)] fn a(self: &Self, p: &u8) {}";
    assert_messages(plugin("", &format!("impl A {{ {method} {method} }}")), &[]);
}

#[test]
fn a_generic_block_still_is_a_plugin() {
    let expansion = plugin("", "impl<T: Copy> A<T> { #[hook_handler(P)] fn a(&self, p: &u8) {} }");
    assert_holds(
        &expansion,
        "impl<T: Copy> ::hooks_runtime::__private::OneBlockOfHookHandlers for A<T> where Self:",
    );
}

#[test]
fn blocks_are_checked() {
    let method = "#[hook_handler(P)] fn a(&self, p: &u8) {}";
    assert_messages(
        plugin("", &format!("impl<T> Trait for A<T> {{ {method} }}")),
        &[("Trait", "an inherent impl block"), ("T", "cannot be generic")],
    );
    for borrowing in ["impl<'a> A<'a>", "impl A<'_>"] {
        let expansion = plugin("", &format!("{borrowing} {{ {method} }}"));
        let found = super::support::messages(expansion);
        assert!(matches!(&found[..], [(_, said)] if said.contains("outlives")), "{found:?}");
    }
    assert_messages(
        plugin("", "impl A { fn a(&self) {} }"),
        &[("", "no method of this block is a handler")],
    );
    assert_messages(plugin("", "struct A {}"), &[("struct", "goes on an impl block")]);
    assert_messages(
        plugin("plugn = \"x\", crate", &format!("impl A {{ {method} }}")),
        &[
            ("plugn", "unknown key `plugn`: did you mean `plugin`?"),
            ("", "write `crate = ::hooks_runtime`"),
        ],
    );
}
