#[doc(hidden)]
#[allow(unused_imports)]
use ::hooks_runtime::__private::serde as __hooks_serde_Opened;
#[cfg(feature = "schema")]
#[doc(hidden)]
#[allow(unused_imports)]
use ::hooks_runtime::__private::schemars as __hooks_schemars_Opened;
/// A drawer was opened.
///
/// *Void* hook point, wire name `opened`, payload [`OpenedPayload`].
///
/// ```text
/// hooks.register_void::<Opened>(async |payload: &OpenedPayload| { /* … */ })?;
/// hooks.fire_void::<Opened>(&payload).await?;
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
#[deprecated(since = "2", note = "listen at `Moved`")]
pub struct Opened;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for Opened {
    type Payload = OpenedPayload;
    type Result = ();
    type Model = ::hooks_runtime::model::Void;
    const NAME: &'static ::core::primitive::str = "opened";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "opened",
            <::hooks_runtime::model::Void as ::hooks_runtime::model::Model>::KIND,
            "A drawer was opened.",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
}
/// The payload of [`Opened`].
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
#[serde(crate = "__hooks_serde_Opened")]
#[serde(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(::hooks_runtime::__private::schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(crate = "__hooks_schemars_Opened"))]
pub struct OpenedPayload {
    /// Which one.
    #[cfg(feature = "x")]
    pub drawer: u32,
}
/// *Flow* hook point, wire name `move`, payload `Request`, result `Vec<Place>`.
///
/// ```text
/// hooks.register_stage::<BeforeExecute<Move>>(async |flow: &mut FlowContext<Move>| { /* … */ })?;
/// let output = hooks.flow::<Move>().run(input, operation).await?;
/// ```
#[cfg(unix)]
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::fmt::Debug,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::hash::Hash,
    ::core::default::Default
)]
pub struct Move;
#[cfg(unix)]
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for Move {
    type Payload = Request;
    type Result = Vec<Place>;
    type Model = ::hooks_runtime::model::Flow;
    const NAME: &'static ::core::primitive::str = "move";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "move",
            <::hooks_runtime::model::Flow as ::hooks_runtime::model::Model>::KIND,
            "",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
}
#[cfg(unix)]
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::flow::FlowPoint for Move {
    const STAGE_NAMES: [&'static ::core::primitive::str; 6] = [
        "move/beforeValidation",
        "move/afterValidation",
        "move/beforeExecute",
        "move/afterExecute",
        "move/onError",
        "move/finally",
    ];
    fn stages() -> &'static ::hooks_runtime::__private::StageDescriptors {
        static STAGES: ::hooks_runtime::__private::StageDescriptors = ::hooks_runtime::__private::StageDescriptors::new(
            <Move as ::hooks_runtime::flow::FlowPoint>::STAGE_NAMES,
            "",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &STAGES
    }
}
/// The catalogue of the hook points declared here.
#[must_use]
#[allow(deprecated, clippy::too_many_lines)]
pub(crate) fn points() -> ::hooks_runtime::catalogue::Catalogue {
    #[allow(unused_imports)]
    use ::hooks_runtime::__private::{
        WithJson as _, WithJsonFlow as _, WithSchema as _, Without as _,
    };
    ::hooks_runtime::__private::catalogue([
        {
            let __point = ::hooks_runtime::__private::Of::<Opened>::ASK
                .__json(
                    ::hooks_runtime::catalogue::PointInfo::__new::<
                        Opened,
                    >(
                        (
                            "OpenedPayload",
                            &[#[cfg(feature = "x")] ("drawer", "u32", "Which one.")],
                        ),
                        ::core::option::Option::None,
                        ::core::option::Option::Some("listen at `Moved`"),
                    ),
                );
            #[cfg(feature = "schema")]
            let __point = ::hooks_runtime::__private::Of::<Opened>::ASK
                .__schema(__point);
            __point
        },
        #[cfg(unix)]
        {
            let __point = ::hooks_runtime::__private::Of::<Move>::ASK
                .__json_flow(
                    ::hooks_runtime::catalogue::PointInfo::__new::<
                        Move,
                    >(
                            ("Request", &[]),
                            ::core::option::Option::Some(("Vec<Place>", &[])),
                            ::core::option::Option::None,
                        )
                        .__stages::<Move>(),
                );
            #[cfg(feature = "schema")]
            let __point = ::hooks_runtime::__private::Of::<Move>::ASK.__schema(__point);
            __point
        },
    ])
}
#[cfg(unix)]
const _: () = {
    ::hooks_runtime::__private::in_json::<Request>();
    #[cfg(feature = "schema")]
    {
        ::hooks_runtime::__private::in_schema::<Request>();
    }
};
#[cfg(unix)]
const _: () = {
    ::hooks_runtime::__private::in_json::<Vec<Place>>();
    #[cfg(feature = "schema")]
    {
        ::hooks_runtime::__private::in_schema::<Vec<Place>>();
    }
};
