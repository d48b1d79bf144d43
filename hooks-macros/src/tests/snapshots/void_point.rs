/// A customer placed an order.
///
/// *Void* hook point, wire name `order_placed`, payload [`OrderPlacedPayload`].
///
/// ```text
/// hooks.register_void::<OrderPlaced>(async |payload: &OrderPlacedPayload| { /* … */ })?;
/// hooks.fire_void::<OrderPlaced>(&payload).await?;
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
pub struct OrderPlaced;
#[automatically_derived]
#[allow(deprecated)]
impl ::hooks_runtime::HookPoint for OrderPlaced {
    type Payload = OrderPlacedPayload;
    type Result = ();
    type Model = ::hooks_runtime::model::Void;
    const NAME: &'static ::core::primitive::str = "order_placed";
    fn descriptor() -> &'static ::hooks_runtime::__private::PointDescriptor {
        static DESCRIPTOR: ::hooks_runtime::__private::PointDescriptor = ::hooks_runtime::__private::PointDescriptor::new(
            "order_placed",
            <::hooks_runtime::model::Void as ::hooks_runtime::model::Model>::KIND,
            "A customer placed an order.",
            ::hooks_runtime::__private::SourceLocation::new(
                ::core::file!(),
                ::core::line!(),
                ::core::column!(),
            ),
        );
        &DESCRIPTOR
    }
}
/// The payload of [`OrderPlaced`].
#[allow(
    dead_code,
    missing_docs,
    missing_copy_implementations,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
#[derive(::core::fmt::Debug, ::core::clone::Clone)]
pub struct OrderPlacedPayload {
    /// Who it is.
    pub order_id: String,
    pub coupon: Option<String>,
}
