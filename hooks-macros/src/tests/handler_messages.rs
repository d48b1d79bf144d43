//! What `#[hook_handler]` says about mistakes, and what it emits all the same.

use super::support::{assert_holds, assert_messages, handler};

#[test]
fn the_function_comes_out_untouched() {
    let function = "pub async fn f(x: u8, y) -> { let half = ; }";
    let expansion = handler("Point, what = ever", function);
    assert_holds(&expansion, function);
}

#[test]
fn a_wrong_signature_still_has_its_type() {
    let expansion = handler("Point", "pub fn f(x: u8) {}");
    assert_holds(&expansion, "pub enum f {}");
    assert_holds(&expansion, "impl ::hooks_runtime::__private::Annotated for f");
}

#[test]
fn wrong_keys_are_all_reported() {
    assert_messages(
        handler(
            r#"Point, prioriti = 1, timeout = 5, priority = "x", priority = 3000000000, name = "",
               guard = true, before = [1], target = , crate = "x", plugin = 3, on_failure = "shut""#,
            "fn f(x: &u8) {}",
        ),
        &[
            ("prioriti", "unknown key `prioriti`: did you mean `priority`?"),
            ("5", "write `timeout = \"5s\"`"),
            ("\"x\"", "a priority is a whole number: write `priority = -10`"),
            ("priority", "`priority` is given twice"),
            ("3000000000", "a priority is an `i32`"),
            ("\"\"", "this may not be empty"),
            ("=", "`guard` is a flag"),
            ("1", "write `before = \"handler\"`"),
            (",", "write `target = Type` or `target = \"name\"`"),
            ("\"x\"", "write a path: `crate = ::hooks_runtime`"),
            ("3", "write `plugin = \"id\"`"),
            ("\"shut\"", "unknown failure policy `shut`"),
        ],
    );
}

#[test]
fn wrong_conditions_are_reported() {
    const SAYS: &str = "a condition is a closure of the payload, or a function of it: write \
                        `when = |payload| payload.size > 100`";
    for (value, at) in [("3", "3"), ("x.size > 3", "x"), ("\"x\"", "\"x\"")] {
        let expansion = handler(&format!("Point, when = {value}"), "fn f(x: &u8) {}");
        assert_messages(expansion, &[(at, SAYS)]);
    }
    assert_messages(
        handler("Point, when = |x| x.size > self.least", "fn f(x: &u8) {}"),
        &[("self", "a condition sees the payload only: ask `self` in the method")],
    );
    assert_messages(
        handler("Point, once = true, when, replace", "fn f(x: &u8) {}"),
        &[("=", "`once` is a flag"), (",", "write `when = |payload| payload.size > 100`")],
    );
}

#[test]
fn wrong_flags_are_reported() {
    for flag in ["guard", "once", "pure", "replace"] {
        assert_messages(
            handler(&format!("Point, {flag} = true"), "fn f(x: &u8) {}"),
            &[("=", &format!("`{flag}` is a flag: write it without a value"))],
        );
        assert_messages(
            handler(&format!("Point, {flag}, {flag}"), "fn f(x: &u8) {}"),
            &[(flag, &format!("`{flag}` is given twice"))],
        );
    }
}

#[test]
fn the_point_comes_first() {
    for arguments in ["", "priority = 1", "5, priority = 1"] {
        let expansion = handler(arguments, "fn f(x: &u8) {}");
        let found = super::support::messages(expansion);
        assert_eq!(found.len(), 1, "{arguments}: {found:?}");
        assert!(found[0].1.contains("name the hook point first"), "{found:?}");
    }
}

#[test]
fn near_misses_are_corrected() {
    assert_messages(
        handler(
            r#""order_placed", on_failure = open, name = audit, timeout = 30, plugin = "my plugin!""#,
            "fn f(x: &u8) {}",
        ),
        &[
            ("\"order_placed\"", "not by its wire name: `#[hook_handler(OrderPlaced)]`"),
            ("open", "write `on_failure = \"open\"`"),
            ("audit", "write `name = \"audit\"`"),
            ("30", "write `timeout = \"30s\"`"),
            ("\"my plugin!\"", "so ' ' cannot be in it: write `plugin = \"my-plugin\"`"),
        ],
    );
    assert_messages(
        handler("Point, plugin = \"audit.\"", "fn f(x: &u8) {}"),
        &[("\"audit.\"", "starts and ends with a letter or a digit: write `plugin = \"audit\"`")],
    );
}

#[test]
fn signatures_are_checked() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("fn f() {}", &[("f", "a handler takes the payload")]),
        ("fn f(a: &u8, b: &C, c: u8) {}", &[("u8", "remove this parameter")]),
        ("fn f(&self, a: &u8) {}", &[("self", "put `#[hook_handlers]` on the impl block")]),
        ("fn f(a: Payload) {}", &[("Payload", "take `&Payload`")]),
        ("fn f(a: &mut Vec<u8>) {}", &[("mut", "by shared reference: take `&Vec<u8>`")]),
        ("fn f(a: &u8, c: HookContext) {}", &[("HookContext", "take `&HookContext`")]),
        ("fn f(c: &HookContext, a: &u8) {}", &[("HookContext", "the payload comes first")]),
        (
            "const unsafe extern \"C\" fn f<'a, T, const N: usize>(a: &'a T) {}",
            &[
                ("const", "a handler cannot be const"),
                ("unsafe", "a handler cannot be unsafe"),
                ("extern", "a handler cannot be extern"),
                ("T", "a handler cannot be generic"),
                ("N", "a handler cannot be generic"),
            ],
        ),
        ("struct F;", &[("struct", "goes on a function")]),
    ];
    for (function, expected) in cases {
        assert_messages(handler("Point", function), expected);
    }
}

#[test]
fn stages_get_their_context_exclusively() {
    for stage in [
        "BeforeValidation",
        "AfterValidation",
        "BeforeExecute",
        "AfterExecute",
        "OnError",
        "Finally",
    ] {
        let function = "fn f(flow: &mut FlowContext<F>) {}";
        assert_messages(handler(&format!("hooks::{stage}<F>"), function), &[]);
    }
}

#[test]
fn a_method_gets_no_type_beside_it() {
    let expansion = handler("Point", "fn f(&self, a: &u8) {}").to_string();
    assert!(!expansion.contains("enum"), "{expansion}");
}
