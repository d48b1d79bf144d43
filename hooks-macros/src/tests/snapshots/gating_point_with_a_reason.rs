/// May this request be served?
///
/// *Gating* hook point, wire name `authorize`, payload `Request`, reason `errors::Denied`.
///
/// ```text
/// hooks.register_gating::<Authorize>(async |payload: &Request| Verdict::Pass)?;
/// let gate = hooks.fire_gating::<Authorize>(payload).await?;
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
pub struct Authorize;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for Authorize {
    type Payload = Request;
    type Result = errors::Denied;
    type Model = ::hooks_runtime::model::Gating;
    const NAME: &'static ::core::primitive::str = "authorize";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "authorize",
            <::hooks_runtime::model::Gating as ::hooks_runtime::model::Model>::KIND,
            "May this request be served?",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
    fn displayed(reason: &Self::Result) -> &dyn ::core::fmt::Display {
        ::hooks_runtime::__private::displayed::<errors::Denied>(reason)
    }
}
