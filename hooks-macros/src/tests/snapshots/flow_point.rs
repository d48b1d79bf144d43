/// One call, stage by stage.
///
/// *Flow* hook point, wire name `calls:call`, payload [`MakeCallPayload`], result [`MakeCallResult`].
///
/// ```text
/// hooks.register_stage::<BeforeExecute<MakeCall>>(async |flow: &mut FlowContext<MakeCall>| { /* … */ })?;
/// let output = hooks.flow::<MakeCall>().run(input, operation).await?;
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
pub struct MakeCall;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for MakeCall {
    type Payload = MakeCallPayload;
    type Result = MakeCallResult;
    type Model = ::hooks_runtime::model::Flow;
    const NAME: &'static ::core::primitive::str = "calls:call";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
                "calls:call",
                <::hooks_runtime::model::Flow as ::hooks_runtime::model::Model>::KIND,
                "One call, stage by stage.",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .timeout(::core::time::Duration::from_nanos(60000000000u64));
        &DESCRIPTOR
    }
}
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::flow::FlowPoint for MakeCall {
    const STAGE_NAMES: [&'static ::core::primitive::str; 6] = [
        "calls:call/beforeValidation",
        "calls:call/afterValidation",
        "calls:call/beforeExecute",
        "calls:call/afterExecute",
        "calls:call/onError",
        "calls:call/finally",
    ];
    fn stages() -> &'static ::hooks_runtime::__private::StageDescriptors {
        static STAGES: ::hooks_runtime::__private::StageDescriptors = ::hooks_runtime::__private::StageDescriptors::new(
                <MakeCall as ::hooks_runtime::flow::FlowPoint>::STAGE_NAMES,
                "One call, stage by stage.",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .timeout(::core::time::Duration::from_nanos(60000000000u64));
        &STAGES
    }
}
/// The payload of [`MakeCall`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
pub struct MakeCallPayload {
    pub name: String,
}
/// The result of [`MakeCall`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
pub struct MakeCallResult {
    pub content: Vec<u8>,
}
