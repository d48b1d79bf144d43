impl Audit {
    async fn started(&self, order: &OrderPlacedPayload) -> Result<(), DbError> {
        Ok(())
    }
    #[cfg(unix)]
    fn no_rm(&self, call: &Call, cx: &HookContext) -> Verdict {
        Verdict::Pass
    }
    async fn cached(&self, flow: &mut FlowContext<MakeCall>) {}
    fn helper(&self) {}
}
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
impl ::hooks_runtime::Plugin for Audit {
    const ID: ::core::option::Option<&'static str> = ::core::option::Option::Some(
        "audit",
    );
    fn registrations(
        __plugin: &::std::sync::Arc<Self>,
    ) -> ::std::vec::Vec<::hooks_runtime::Registration> {
        let mut __list = ::std::vec::Vec::with_capacity(3usize);
        {
            let __registration = {
                async fn __call<'a>(
                    __this: &'a Audit,
                    __input: ::hooks_runtime::__private::Input<'a, OrderPlaced>,
                ) -> ::hooks_runtime::__private::Output<OrderPlaced> {
                    let __output = <Audit>::started(__this, __input).await;
                    ::hooks_runtime::__private::returned::<OrderPlaced, _>(__output)
                }
                ::hooks_runtime::on::<OrderPlaced>()
                    .name("started")
                    .on_failure(::hooks_runtime::FailurePolicy::Closed)
                    .__located(
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .__async_with(::core::clone::Clone::clone(__plugin), __call)
            };
            __list.push(__registration);
        }
        #[cfg(unix)]
        {
            let __registration = {
                fn __call<'a>(
                    __this: &'a Audit,
                    __input: ::hooks_runtime::__private::Input<'a, BeforeCall>,
                    __cx: &'a ::hooks_runtime::HookContext,
                ) -> ::hooks_runtime::__private::Output<BeforeCall> {
                    let __output = <Audit>::no_rm(__this, __input, __cx);
                    ::hooks_runtime::__private::returned_guard::<BeforeCall, _>(__output)
                }
                ::hooks_runtime::on::<BeforeCall>()
                    .name("no_rm")
                    .__guard()
                    .__located(
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .__sync_with_cx(::core::clone::Clone::clone(__plugin), __call)
            };
            __list.push(__registration);
        }
        {
            let __registration = {
                async fn __call<'a>(
                    __this: &'a Audit,
                    __input: ::hooks_runtime::__private::Input<
                        'a,
                        BeforeExecute<MakeCall>,
                    >,
                ) -> ::hooks_runtime::__private::Output<BeforeExecute<MakeCall>> {
                    let __output = <Audit>::cached(__this, __input).await;
                    ::hooks_runtime::__private::returned::<
                        BeforeExecute<MakeCall>,
                        _,
                    >(__output)
                }
                ::hooks_runtime::on::<BeforeExecute<MakeCall>>()
                    .name("cached")
                    .target_named("search")
                    .__located(
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .__async_with(::core::clone::Clone::clone(__plugin), __call)
            };
            __list.push(__registration);
        }
        __list
    }
}
