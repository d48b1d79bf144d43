//! What `#[derive(Merge)]` says about mistakes, and what it emits all the same.

use super::support::{assert_holds, assert_messages, merge};

#[test]
fn every_field_is_checked() {
    let expansion =
        merge("struct A { a: u8, b: Option<u8>, c: Vec<Option<u8>>, d: std::option::Option<u8> }");
    assert_holds(&expansion, "impl ::hooks_runtime::__private::Merge for A");
    assert_messages(
        expansion,
        &[("u8", "write `Option<u8>`"), ("Vec", "write `Option<Vec<Option<u8>>>`")],
    );
}

#[test]
fn every_field_has_a_name() {
    let expansion = merge("struct A { a: Option<u8>, _: Option<u8> }");
    assert_holds(&expansion, "impl ::hooks_runtime::__private::Merge for A");
    assert_messages(expansion, &[("_", "has a name: `_` is none")]);
}

#[test]
fn only_structs_with_named_fields_merge() {
    assert_messages(merge("struct A(Option<u8>);"), &[("A", "has named fields")]);
    assert_messages(merge("struct A;"), &[("A", "has named fields")]);
    assert_messages(merge("enum A { B }"), &[("A", "not for an enum")]);
    assert_messages(merge("union A { a: u8 }"), &[("A", "not for a union")]);
}

#[test]
fn the_crate_can_be_named() {
    let expansion = merge(
        "#[merge(crate = ::other::hooks)] struct A<T: Clone> where T: Default { a: Option<T> }",
    );
    assert_holds(
        &expansion,
        "impl<T: Clone> ::other::hooks::__private::Merge for A<T> where T: Default",
    );
    assert_messages(
        merge("#[merge(krate = x)] struct A {}"),
        &[("krate", "did you mean `crate`?")],
    );
    assert_messages(merge("#[merge] struct A {}"), &[("merge", "expected")]);
}
