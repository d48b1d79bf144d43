/// Writes it down.
impl Audit {
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    async fn started(&self, order: &OrderPlacedPayload) -> Result<(), DbError> {
        Ok(())
    }
    #[cfg(unix)]
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    fn no_rm(&self, call: &Call, cx: &HookContext) -> Verdict {
        Verdict::Pass
    }
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    async fn cached(&self, flow: &mut FlowContext<MakeCall>) {}
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    async fn open(&self) -> Result<(), DbError> {
        Ok(())
    }
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    fn close(&self) {}
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
impl ::hooks_runtime::__private::OneBlockOfHookHandlers for Audit {
    const ID: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(
        "audit",
    );
    const VERSION: ::core::option::Option<&'static ::core::primitive::str> = {
        const __TEXT: &'static ::core::primitive::str = "1.2.0";
        ::core::option::Option::Some(__TEXT)
    };
    const DESCRIPTION: ::core::option::Option<&'static ::core::primitive::str> = {
        const __TEXT: &'static ::core::primitive::str = "Writes it down.";
        ::core::option::Option::Some(__TEXT)
    };
    fn registrations(
        __plugin: &::std::sync::Arc<Self>,
    ) -> ::std::vec::Vec<::hooks_runtime::__private::Registration> {
        let mut __list = ::std::vec::Vec::with_capacity(3usize);
        {
            let __registration = {
                ::hooks_runtime::__private::On::<
                    OrderPlaced,
                >::__annotated(
                        "started",
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .on_failure(::hooks_runtime::__private::FailurePolicy::Closed)
                    .__async1_with(
                        ::core::clone::Clone::clone(__plugin),
                        async |__this, __input| {
                            let (__payload, __to) = __input.open();
                            let __returned = <Audit>::started(__this, __payload.shared())
                                .await;
                            ::hooks_runtime::__private::returned(__to, { __returned })
                        },
                    )
                    .assert_send()
            };
            __list.push(__registration);
        }
        #[cfg(unix)]
        {
            let __registration = {
                ::hooks_runtime::__private::On::<
                    BeforeCall,
                >::__annotated(
                        "no_rm",
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .__guard()
                    .__sync2_with(
                        ::core::clone::Clone::clone(__plugin),
                        |__this, __input, __cx| {
                            let (__payload, __to) = __input.open_as_guard();
                            let __returned = <Audit>::no_rm(
                                __this,
                                __payload.shared(),
                                ::hooks_runtime::__private::Context(__cx).taken(),
                            );
                            ::hooks_runtime::__private::returned_by_guard(
                                __to,
                                { __returned },
                            )
                        },
                    )
            };
            __list.push(__registration);
        }
        {
            let __registration = {
                ::hooks_runtime::__private::On::<
                    BeforeExecute<MakeCall>,
                >::__annotated(
                        "cached",
                        ::hooks_runtime::__private::SourceLocation::new(
                            ::core::file!(),
                            ::core::line!(),
                            ::core::column!(),
                        ),
                    )
                    .target_named("search")
                    .__async1_with(
                        ::core::clone::Clone::clone(__plugin),
                        async |__this, __input| {
                            let (__payload, __to) = __input.open();
                            let __returned = <Audit>::cached(
                                    __this,
                                    __payload.exclusive(),
                                )
                                .await;
                            ::hooks_runtime::__private::returned(__to, { __returned })
                        },
                    )
                    .assert_send()
            };
            __list.push(__registration);
        }
        __list
    }
    fn start(
        __plugin: &::std::sync::Arc<Self>,
    ) -> ::core::option::Option<::hooks_runtime::__private::LifecycleStep> {
        let __plugin = ::core::clone::Clone::clone(__plugin);
        let __step = ::hooks_runtime::__private::LifecycleFuture(async move {
            let __returned = <Audit>::open(&*__plugin).await;
            ::hooks_runtime::__private::step_returned({ __returned })
        });
        ::core::option::Option::Some(__step.assert_send())
    }
    fn stop(
        __plugin: &::std::sync::Arc<Self>,
    ) -> ::core::option::Option<::hooks_runtime::__private::LifecycleStep> {
        let __plugin = ::core::clone::Clone::clone(__plugin);
        let __step = ::hooks_runtime::__private::LifecycleFuture(async move {
            let __returned = <Audit>::close(&*__plugin);
            ::hooks_runtime::__private::step_returned({ __returned })
        });
        ::core::option::Option::Some(__step.assert_send())
    }
}
