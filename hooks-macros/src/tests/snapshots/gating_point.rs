/// Before a call runs.
///
/// *Gating* hook point, wire name `before_call`, payload `Call`.
///
/// ```text
/// hooks.register_gating::<BeforeCall>(async |payload: &Call| Verdict::Pass)?;
/// let gate = hooks.fire_gating::<BeforeCall>(payload).await?;
/// ```
#[cfg(feature = "calls")]
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::fmt::Debug,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::hash::Hash,
    ::core::default::Default
)]
#[deprecated]
pub struct BeforeCall;
#[cfg(feature = "calls")]
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for BeforeCall {
    type Payload = Call;
    type Result = ::hooks_runtime::__private::TextReason;
    type Model = ::hooks_runtime::model::Gating;
    const NAME: &'static ::core::primitive::str = "before_call";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
                "before_call",
                <::hooks_runtime::model::Gating as ::hooks_runtime::model::Model>::KIND,
                "Before a call runs.",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .timeout(::core::time::Duration::from_nanos(5000000000u64))
            .on_failure(::hooks_runtime::__private::FailurePolicy::Open);
        &DESCRIPTOR
    }
    fn displayed(reason: &Self::Result) -> &dyn ::core::fmt::Display {
        ::hooks_runtime::__private::displayed(reason)
    }
}
