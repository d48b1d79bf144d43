/// Which desk takes this message?
///
/// *Claiming* hook point, wire name `route`, payload `Message`, result `Desk`.
///
/// ```text
/// hooks.register_claiming::<Route>(async |payload: &Message| None)?;
/// let claim = hooks.fire_claiming::<Route>(&payload).await?;
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
pub struct Route;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for Route {
    type Payload = Message;
    type Result = Desk;
    type Model = ::hooks_runtime::model::Claiming;
    const NAME: &'static ::core::primitive::str = "route";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "route",
            <::hooks_runtime::model::Claiming as ::hooks_runtime::model::Model>::KIND,
            "Which desk takes this message?",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
}
