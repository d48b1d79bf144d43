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

#[test]
fn steps_come_out_without_their_marks() {
    let expansion = plugin(
        "plugin = \"audit\", version = V, description = \"Writes\"",
        "impl A { #[hook_handler(P)] fn a(&self, p: &u8) {} #[start] async fn open(&self) {} \
         #[cfg(unix)] #[stop] fn close(&self) -> Result<(), E> {} #[other::start] fn b(&self) {} }",
    );
    assert_holds(&expansion, "#[other::start] fn b(&self) {}");
    assert_holds(&expansion, "str = V;");
    assert_holds(&expansion, "str = \"Writes\";");
    assert_holds(&expansion, "let __returned = <A>::open(&*__plugin).await;");
    assert_holds(&expansion, "#[cfg(unix)] fn stop(");
    assert!(!expansion.to_string().contains("# [start]"));
    assert_messages(expansion, &[]);
}

#[test]
fn the_doc_comment_describes_a_plugin_that_says_nothing_else() {
    let method = "#[hook_handler(P)] fn a(&self, p: &u8) {}";
    let said =
        |arguments: &str| plugin(arguments, &format!("/// One.\n/// Two.\nimpl A {{ {method} }}"));
    assert_holds(&said("plugin = \"a\""), "str = \"One.\\nTwo.\";");
    assert_holds(&said("plugin = \"a\", description = \"Three\""), "str = \"Three\";");
}

#[test]
fn steps_are_checked() {
    let method = "#[hook_handler(P)] fn a(&self, p: &u8) {}";
    assert_messages(
        plugin(
            "plugin = \"audit\"",
            &format!(
                "impl A {{ {method}
                    #[start] fn b(&self) {{}}
                    #[start] fn c(&self) {{}}
                    #[stop] fn d(&mut self) {{}}
                    #[stop] fn e() {{}}
                    #[stop] fn f(&self, n: u8) {{}}
                    #[stop] unsafe fn g<T>(&self) {{}}
                    #[stop(now)] fn h(&self) {{}}
                    #[stop] const N: u8 = 1;
                    #[stop] #[hook_handler(P)] fn i(&self, p: &u8) {{}}
                }}"
            ),
        ),
        &[
            ("stop", "`#[stop]` has no options: write it alone"),
            ("const", "`#[stop]` goes on a function"),
            ("hook_handler", "a method has one mark"),
            ("start", "a plugin has one `#[start]`"),
            ("mut", "a plugin is shared: take `&self`"),
            ("e", "`#[stop]` takes `&self`: write `fn e(&self)`"),
            ("n: u8", "`#[stop]` takes nothing but `&self`"),
            ("unsafe", "`#[stop]` cannot be unsafe"),
            ("T", "`#[stop]` cannot be generic"),
        ],
    );
    assert_messages(
        plugin("", &format!("impl A {{ {method} #[start] fn b(&self) {{}} }}")),
        &[("start", "a plugin has a `#[start]`, a built-in block has none")],
    );
    assert_messages(
        plugin("plugin = \"a\", version = 3, description", &format!("impl A {{ {method} }}")),
        &[("3", "write `version = \"1.2.0\"`"), ("", "write `description = ")],
    );
}

/// A mistake is reported once, and what follows from it is not.
#[test]
fn one_mistake_is_one_message() {
    let messages = |arguments: &str, body: &str| {
        super::support::messages(plugin(arguments, &format!("impl A {{ {body} }}")))
    };
    let only = |at: &str, said: &str| [(at.to_owned(), said.to_owned())];
    assert_eq!(
        messages(
            "plugin = \"c d\"",
            "#[hook_handler(P)] fn a(&self, p: &u8) {} #[start] fn b(&self) {}"
        ),
        only(
            "\"c d\"",
            "a plugin id is made of ASCII letters, digits, `-`, `_` and `.`, so ' ' cannot be in \
             it: write `plugin = \"c-d\"`",
        ),
    );
    let one_mark = "a method has one mark: write a second method that calls this one";
    assert_eq!(
        messages("plugin = \"c\"", "#[start] #[hook_handler(P)] fn a(&self, p: &u8) {}"),
        only("hook_handler", one_mark),
    );
    assert_eq!(
        messages("plugin = \"c\"", "#[hook_handler(P)] #[stop] fn a(&self, p: &u8) {}"),
        only("stop", one_mark),
    );
    assert_eq!(
        messages("plugin = \"c\"", "#[hook_handler(P)] const N: u8 = 1;"),
        only("const", "`#[hook_handler]` goes on a function"),
    );
}
