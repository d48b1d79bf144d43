/// Before a reply goes out.
///
/// *Modifying* hook point, wire name `before_reply`, payload [`BeforeReplyPayload`], result [`BeforeReplyResult`].
///
/// ```text
/// hooks.register_modifying::<BeforeReply>(async |payload: &BeforeReplyPayload| BeforeReplyResult::default())?;
/// let amended = hooks.fire_modifying::<BeforeReply>(&payload).await?;
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
pub struct BeforeReply;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for BeforeReply {
    type Payload = BeforeReplyPayload;
    type Result = BeforeReplyResult;
    type Model = ::hooks_runtime::model::Modifying;
    const NAME: &'static ::core::primitive::str = "before_reply";
    const MERGING: ::hooks_runtime::__private::Merging<BeforeReplyResult> = ::hooks_runtime::__private::merging::<
        BeforeReplyResult,
    >();
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "before_reply",
            <::hooks_runtime::model::Modifying as ::hooks_runtime::model::Model>::KIND,
            "Before a reply goes out.",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
}
/// The payload of [`BeforeReply`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
#[derive(PartialEq)]
pub struct BeforeReplyPayload {
    pub history: Vec<Message>,
}
/// The result of [`BeforeReply`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::default::Default)]
pub struct BeforeReplyResult {
    pub prefix: ::core::option::Option<String>,
    #[cfg(feature = "x")]
    pub suffix: ::core::option::Option<String>,
    pub body: ::core::option::Option<String>,
}
#[automatically_derived]
#[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
impl ::hooks_runtime::__private::Merge for BeforeReplyResult {
    const FIELDS: &'static [&'static ::core::primitive::str] = &[
        "prefix",
        #[cfg(feature = "x")]
        "suffix",
        "body",
    ];
    #[inline(always)]
    fn merge(&mut self, mut __later: Self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&__later.prefix) {
            if ::hooks_runtime::__private::is_filled(&self.prefix) {
                ::hooks_runtime::__private::drop_field(&mut __later.prefix);
            } else {
                ::core::mem::swap(&mut self.prefix, &mut __later.prefix);
                __set.insert(0usize);
            }
        }
        #[cfg(feature = "x")]
        if ::hooks_runtime::__private::is_filled(&__later.suffix) {
            if ::hooks_runtime::__private::is_filled(&self.suffix) {
                ::hooks_runtime::__private::drop_field(&mut __later.suffix);
            } else {
                ::core::mem::swap(&mut self.suffix, &mut __later.suffix);
                __set.insert(1usize);
            }
        }
        if ::hooks_runtime::__private::is_filled(&__later.body) {
            if ::hooks_runtime::__private::is_filled(&self.body) {
                ::hooks_runtime::__private::drop_field(&mut __later.body);
            } else {
                ::core::mem::swap(&mut self.body, &mut __later.body);
                __set
                    .insert(
                        1usize
                            + <::core::primitive::usize as ::core::convert::From<
                                ::core::primitive::bool,
                            >>::from(::core::cfg!(all(feature = "x"))),
                    );
            }
        }
        __set
    }
    #[inline]
    fn filled(&self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&self.prefix) {
            __set.insert(0usize);
        }
        #[cfg(feature = "x")]
        if ::hooks_runtime::__private::is_filled(&self.suffix) {
            __set.insert(1usize);
        }
        if ::hooks_runtime::__private::is_filled(&self.body) {
            __set
                .insert(
                    1usize
                        + <::core::primitive::usize as ::core::convert::From<
                            ::core::primitive::bool,
                        >>::from(::core::cfg!(all(feature = "x"))),
                );
        }
        __set
    }
    fn drop_fields(&mut self) {
        if ::hooks_runtime::__private::is_filled(&self.prefix) {
            ::hooks_runtime::__private::drop_field(&mut self.prefix);
        }
        #[cfg(feature = "x")]
        if ::hooks_runtime::__private::is_filled(&self.suffix) {
            ::hooks_runtime::__private::drop_field(&mut self.suffix);
        }
        if ::hooks_runtime::__private::is_filled(&self.body) {
            ::hooks_runtime::__private::drop_field(&mut self.body);
        }
    }
}
