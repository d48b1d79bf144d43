#[allow(
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]
pub async fn log_order(order: &OrderPlacedPayload) {}
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub,
    dead_code,
    deprecated,
    unused_mut,
    unused_qualifications,
    unused_variables,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
pub enum log_order {}
#[allow(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub,
    dead_code,
    deprecated,
    unused_mut,
    unused_qualifications,
    unused_variables,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
impl ::hooks_runtime::__private::Annotated for log_order {
    fn registration() -> ::hooks_runtime::__private::Registration {
        ::hooks_runtime::__private::On::<
            OrderPlaced,
        >::__annotated(
                "log_order",
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .__async1(async |__input| {
                let (__payload, __to) = __input.open();
                let __returned = log_order(__payload.shared()).await;
                ::hooks_runtime::__private::returned(__to, { __returned })
            })
            .assert_send()
    }
}
::hooks_runtime::__private::__collect! {
    log_order
}
