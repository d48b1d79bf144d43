#[allow(
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]
#[cfg(unix)]
fn check(call: &Call, cx: &HookContext) -> Verdict {
    Verdict::pass()
}
#[cfg(unix)]
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
pub(crate) enum check {}
#[cfg(unix)]
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
impl crate::hooks::__private::Annotated for check {
    fn registration() -> crate::hooks::__private::Registration {
        crate::hooks::__private::On::<
            points::BeforeCall,
        >::__annotated(
                "no_rm",
                crate::hooks::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .plugin({
                const __PLUGIN: &'static ::core::primitive::str = ID;
                __PLUGIN
            })
            .priority(-10i32)
            .timeout(::core::time::Duration::from_nanos(200000000u64))
            .on_failure(crate::hooks::__private::FailurePolicy::Closed)
            .before("a")
            .after("b")
            .after("c")
            .target::<Carrier<A, B>>()
            .pure()
            .__guard()
            .__sync2(|__input, __cx| {
                let (__payload, __to) = __input.open_as_guard();
                let __returned = check(
                    __payload.shared(),
                    crate::hooks::__private::Context(__cx).taken(),
                );
                crate::hooks::__private::returned_by_guard(__to, { __returned })
            })
    }
}
#[cfg(unix)]
crate::hooks::__private::__collect! {
    check
}
