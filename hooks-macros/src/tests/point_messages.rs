//! What `hook_points!` says about mistakes, and what it emits all the same.

use super::support::{assert_holds, assert_messages, points, pretty};

#[test]
fn all_mistakes_of_a_block_are_reported_at_once() {
    assert_messages(
        points(
            r#"
            pub viod First { a: u8 }
            pub void Second {} -> u8;
            #[hook(timeout = 5, nmae = "x", on_failure = "close")]
            pub gating Third(u8);
            "#,
        ),
        &[
            (
                "viod",
                "unknown hook model `viod`: did you mean `void`? Known are `void`, `modifying`, `claiming`, `gating` and `flow`",
            ),
            ("-", "a void point has no result: remove it or make the point `modifying`"),
            ("5", "write `timeout = \"5s\"`"),
            (
                "nmae",
                "unknown key `nmae`: did you mean `name`? Known are `name`, `timeout` and `on_failure`",
            ),
            ("\"close\"", "unknown failure policy `close`: did you mean `closed`?"),
        ],
    );
}

#[test]
fn a_broken_point_still_has_its_types() {
    let expansion = points("pub viod A { a: u8 } pub modifying B {} pub void C pub void D {}");
    for text in [
        "pub struct A;",
        "impl ::hooks_runtime::HookPoint for A",
        "pub struct APayload",
        "pub struct BResult",
        "pub struct CPayload",
        "pub struct DPayload",
    ] {
        assert_holds(&expansion, text);
    }
    assert_messages(
        expansion,
        &[
            ("C", "the payload of `C` is missing: write `{ field: Type }` or `(Type)`"),
            ("viod", "unknown hook model"),
            ("B", "a modifying point has a result"),
        ],
    );
}

#[test]
fn points_after_unreadable_ones_come_out() {
    let broken = [
        "pub void",
        "pub",
        "= 3;",
        "{ a: u8 }",
        "void (u8);",
        "#[hook]",
        "#[=]",
        "5",
        "void async {}",
    ];
    for broken in broken {
        let expansion = points(&format!("pub void Good {{}} {broken} pub void Later {{}}"));
        assert_holds(&expansion, "pub struct Good;");
        assert_holds(&expansion, "pub struct Later;");
        pretty(expansion);
    }
}

#[test]
fn a_missing_semicolon_costs_nothing_else() {
    let expansion = points("pub gating A(u8) pub claiming B(u8) -> u8 pub void C {}");
    assert_holds(&expansion, "for C");
    assert_messages(
        expansion,
        &[
            ("A", "the declaration of `A` does not end: add `;`"),
            ("B", "the declaration of `B` does not end: add `;`"),
        ],
    );
}

#[test]
fn a_name_before_the_fields_of_a_result_costs_nothing_else() {
    let expansion = points("pub claiming A(u8) -> Desk { desk: u8 } pub void B {}");
    assert_holds(&expansion, "pub desk: u8");
    assert_holds(&expansion, "for B");
    assert_messages(
        expansion,
        &[(
            "Desk",
            "fields of a result are declared without a name: remove this, or declare the type \
             elsewhere and write `;` in place of the fields",
        )],
    );
}

#[test]
fn a_semicolon_after_braces_is_accepted() {
    assert_messages(points("void A {}; modifying B {} -> { a: u8 };"), &[]);
}

#[test]
fn a_missing_model_is_guessed() {
    let expansion = points("pub OrderPlaced { a: u8 }");
    assert_holds(&expansion, "type Model = ::hooks_runtime::model::Void;");
    assert_messages(expansion, &[("OrderPlaced", "the model of `OrderPlaced` is missing")]);
}

#[test]
fn good_fields_survive_bad_ones() {
    let expansion = points(
        "void A { a: u8, d, b: Vec<, c: u16, type: u8, pub(crate) e: u32, f: HashMap<u8, > u8, g: u64 }",
    );
    for text in ["pub a: u8", "pub c: u16", "pub e: u32", "pub g: u64"] {
        assert_holds(&expansion, text);
    }
    assert_messages(
        expansion,
        &[
            ("d", "the type of `d` is missing: write `d: Type`"),
            (",", "expected a type here"),
            ("type", "`type` is a keyword: write `r#type` or another name"),
            ("pub(crate)", "the fields are public"),
            ("u8", "expected `,` before the next field"),
        ],
    );
}

#[test]
fn names_are_unique_within_a_block() {
    assert_messages(
        points(
            r#"void Ping {} #[hook(name = "ping")] void Other {} void Ping {} void PingPayload {}"#,
        ),
        &[
            ("\"ping\"", "the wire name `ping` is taken by `Ping` in this block"),
            ("Ping", "`Ping` is declared already by the point `Ping` in this block"),
            ("PingPayload", "`PingPayload` is declared already by the point `Ping` in this block"),
        ],
    );
}

#[test]
fn names_under_conditions_may_repeat() {
    assert_messages(points("#[cfg(unix)] void Ping {} #[cfg(windows)] void Ping {}"), &[]);
}

#[test]
fn wire_names_are_checked() {
    let long = "x".repeat(129);
    assert_messages(
        points(&format!(
            r#"#[hook(name = "a b")] void A {{}} #[hook(name = "")] void B {{}}
               #[hook(name = "{long}")] void C {{}} void Größe {{}}"#
        )),
        &[
            ("\"a b\"", "a wire name is printable ASCII without spaces, so ' ' cannot be in it"),
            ("\"\"", "this may not be empty"),
            (&format!("\"{long}\""), "at most 128 bytes, this one has 129"),
            ("Größe", "give the point `#[hook(name = \"…\")]`"),
        ],
    );
}

#[test]
fn shapes_are_checked() {
    assert_messages(
        points(
            r#"
            void A() ;
            void B(u8, u16);
            void C<T> {}
            claiming D(u8);
            flow E(u8);
            gating F(u8) -> { why: String }
            gating I(u8) -> u8;
            gating J(u8) -> ;
            gating K(u8) -> &str;
            modifying G(u8) -> ;
            #[hook(on_failure = "open")] flow H(u8) -> u8;
            "#,
        ),
        &[
            ("()", "name the type of the payload"),
            ("u16", "a payload is one type"),
            ("<", "a hook point cannot be generic"),
            (";", "the result is missing"),
            (";", "the result is missing"),
            ("D", "a claiming point has a result"),
            ("E", "a flow point has a result"),
            (
                "-",
                "a gating point passes its payload on and has no result of its own: remove it, or \
                 name a type for the reason of a rejection, `-> Type;`",
            ),
            ("&", "a reason owns what it holds"),
            ("\"open\"", "the stages of a flow have fixed failure policies"),
        ],
    );
}

#[test]
fn what_borrows_is_reported_and_made_to_last() {
    let expansion = points(
        "void A { a: &str, b: Vec<&'a [u8]>, c: &'static str, d: fn(&u8), e: Box<dyn for<'x> Fn(&'x u8)> }
        claiming B(u8) -> &u8;",
    );
    for text in ["a: &'static str", "b: Vec<&'static [u8]>", "d: fn(&u8)", "Fn(&'x u8)"] {
        assert_holds(&expansion, text);
    }
    let found = super::support::messages(expansion);
    let found: Vec<&str> =
        found.iter().map(|(_, said)| &said[..said.find(':').unwrap_or(0)]).collect();
    let (payload, result) = ("a payload owns what it holds", "a result owns what it holds");
    assert_eq!(found, [payload, payload, result]);
}

#[test]
fn a_trait_derived_twice_comes_out_once() {
    let expansion = points("#[payload(derive(Clone, Eq), repr(C))] void A { a: u8 }");
    assert_holds(&expansion, "#[derive(Eq)] #[repr(C)]");
}

#[test]
fn a_named_result_is_judged_where_it_is_named() {
    assert_holds(&points("modifying A(u8) -> R;"), "merging::<R>();");
    assert!(!points("claiming A(u8) -> R;").to_string().contains("merging"));
}

#[test]
fn attributes_are_checked() {
    assert_messages(
        points(
            r#"
            #![hook(json = "camelcase", timeout = "0s")]
            #![other]
            #[payload(derive(PartialEq))] void A(u8);
            #[result(derive(PartialEq))] void B {}
            #[payload(derive(Debug, Eq))] #[result(derive(Default))] modifying C {} -> { a: u8 }
            #[hook] void D {}
            #[hook(timeout = "1s", timeout = "2s")] void E {}
            /// Nothing follows.
            "#,
        ),
        &[
            ("\"camelcase\"", "unknown case `camelcase`: did you mean `camelCase`?"),
            ("\"0s\"", "a timeout of zero"),
            ("other", "only `#![hook(…)]` can stand at the head of the block"),
            ("/// Nothing follows.", "no hook point follows"),
            ("payload", "the payload is a type that exists"),
            ("result", "this point has no result"),
            ("Debug", "`Debug` is derived already"),
            ("Default", "`Default` is derived already"),
            ("hook", "write `#[hook(timeout = \"5s\")]`"),
            ("timeout", "`timeout` is given twice"),
        ],
    );
}

#[test]
fn slips_in_attributes_are_corrected() {
    let expansion = points(r#"#[hok(timeout = "5s")] #[must_use] void A { a: u8 }"#);
    assert_holds(&expansion, "#[must_use] struct A;");
    assert_messages(expansion, &[("hok", "unknown attribute: did you mean `hook`?")]);
}

#[test]
fn a_merged_result_has_at_most_64_fields() {
    let fields =
        |count: usize| (0..count).map(|at| format!("f{at}: u8")).collect::<Vec<_>>().join(", ");
    assert_messages(points(&format!("modifying A {{}} -> {{ {} }}", fields(64))), &[]);
    assert_messages(
        points(&format!("modifying A {{}} -> {{ {} }}", fields(65))),
        &[("A", "at most 64 fields, this one has 65")],
    );
}
