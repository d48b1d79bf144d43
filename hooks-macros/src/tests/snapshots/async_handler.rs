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
    fn registration() -> ::hooks_runtime::Registration {
        async fn __call<'a>(
            _: &'a (),
            __input: ::hooks_runtime::__private::Input<'a, OrderPlaced>,
        ) -> ::hooks_runtime::__private::Output<OrderPlaced> {
            let __output = log_order(__input).await;
            ::hooks_runtime::__private::returned::<OrderPlaced, _>(__output)
        }
        ::hooks_runtime::on::<OrderPlaced>()
            .name("log_order")
            .__located(
                ::hooks_runtime::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .__async(__call)
    }
}
::hooks_runtime::__collect! {
    log_order
}
