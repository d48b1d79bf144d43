#[doc(hidden)]
#[allow(unused_imports)]
use ::hooks_runtime::__private::serde as __hooks_serde_A;
/// *Modifying* hook point, wire name `a`, payload [`APayload`], result [`AResult`].
///
/// ```text
/// hooks.register_modifying::<A>(async |payload: &APayload| AResult::default())?;
/// let amended = hooks.fire_modifying::<A>(&payload).await?;
/// ```
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::fmt::Debug,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::hash::Hash,
    ::core::default::Default
)]
struct A;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for A {
    type Payload = APayload;
    type Result = AResult;
    type Model = ::hooks_runtime::model::Modifying;
    const NAME: &'static ::core::primitive::str = "a";
    const MERGING: ::hooks_runtime::__private::Merging<AResult> = ::hooks_runtime::__private::merging::<
        AResult,
    >();
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
                "a",
                <::hooks_runtime::model::Modifying as ::hooks_runtime::model::Model>::KIND,
                "",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .timeout(::core::time::Duration::from_nanos(3000000000u64))
            .on_failure(::hooks_runtime::__private::FailurePolicy::Closed);
        &DESCRIPTOR
    }
}
/// The payload of [`A`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
#[derive(
    ::hooks_runtime::__private::serde::Serialize,
    ::hooks_runtime::__private::serde::Deserialize
)]
#[serde(crate = "__hooks_serde_A")]
#[serde(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
struct APayload {
    pub plain: String,
    #[serde(default, skip_serializing_if = "::core::option::Option::is_none")]
    pub maybe: Option<String>,
    #[serde(default)]
    pub own: Option<String>,
}
/// The result of [`A`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::default::Default)]
#[derive(
    ::hooks_runtime::__private::serde::Serialize,
    ::hooks_runtime::__private::serde::Deserialize
)]
#[serde(crate = "__hooks_serde_A")]
#[serde(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
struct AResult {
    #[serde(default, skip_serializing_if = "::core::option::Option::is_none")]
    pub text: ::core::option::Option<String>,
}
#[automatically_derived]
#[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
impl ::hooks_runtime::__private::Merge for AResult {
    const FIELDS: &'static [&'static ::core::primitive::str] = &["text"];
    #[inline(always)]
    fn merge(&mut self, mut __later: Self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&__later.text) {
            if ::hooks_runtime::__private::is_filled(&self.text) {
                ::hooks_runtime::__private::drop_field(&mut __later.text);
            } else {
                ::core::mem::swap(&mut self.text, &mut __later.text);
                __set.insert(0usize);
            }
        }
        __set
    }
    #[inline]
    fn filled(&self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&self.text) {
            __set.insert(0usize);
        }
        __set
    }
    fn drop_fields(&mut self) {
        if ::hooks_runtime::__private::is_filled(&self.text) {
            ::hooks_runtime::__private::drop_field(&mut self.text);
        }
    }
}
/// *Void* hook point, wire name `b`, payload [`BPayload`].
///
/// ```text
/// hooks.register_void::<B>(async |payload: &BPayload| { /* … */ })?;
/// hooks.fire_void::<B>(&payload).await?;
/// ```
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::fmt::Debug,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::hash::Hash,
    ::core::default::Default
)]
struct B;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for B {
    type Payload = BPayload;
    type Result = ();
    type Model = ::hooks_runtime::model::Void;
    const NAME: &'static ::core::primitive::str = "b";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
                "b",
                <::hooks_runtime::model::Void as ::hooks_runtime::model::Model>::KIND,
                "",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .timeout(::core::time::Duration::from_nanos(3000000000u64))
            .on_failure(::hooks_runtime::__private::FailurePolicy::Closed);
        &DESCRIPTOR
    }
}
/// The payload of [`B`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
#[derive(
    ::hooks_runtime::__private::serde::Serialize,
    ::hooks_runtime::__private::serde::Deserialize
)]
#[serde(crate = "__hooks_serde_A")]
#[serde(rename_all = "camelCase")]
struct BPayload {
    #[serde(flatten)]
    pub rest: Rest,
}
