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
enum check {}
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
    fn registration() -> crate::hooks::Registration {
        fn __call<'a>(
            __input: crate::hooks::__private::Input<'a, points::BeforeCall>,
            __cx: &'a crate::hooks::HookContext,
        ) -> crate::hooks::__private::Output<points::BeforeCall> {
            let __output = check(__input, __cx);
            crate::hooks::__private::returned_guard::<points::BeforeCall, _>(__output)
        }
        crate::hooks::on::<points::BeforeCall>()
            .name("no_rm")
            .plugin(ID)
            .priority(-10i32)
            .timeout(::core::time::Duration::from_nanos(200000000u64))
            .on_failure(crate::hooks::FailurePolicy::Closed)
            .before("a")
            .after("b")
            .after("c")
            .target::<Carrier<A, B>>()
            .__guard()
            .__located(
                crate::hooks::__private::SourceLocation::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                ),
            )
            .__sync_cx(__call)
    }
}
#[cfg(unix)]
crate::hooks::__collect! {
    check
}
