const LIST: () = {
    [
        {
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use ::hooks_runtime::__private::fallback::*;
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use log_order as __without_annotation;
            #[allow(
                unreachable_patterns,
                unused_variables,
                clippy::all,
                clippy::pedantic
            )]
            const __SEEN: ::core::primitive::bool = match ::hooks_runtime::__private::Sight::Seen {
                __without_annotation => true,
                _ => false,
            };
            ::hooks_runtime::__private::Listed::<__SEEN>
                .registration::<__without_annotation>()
        },
        {
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use ::hooks_runtime::__private::fallback::*;
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use audit::record as __without_annotation;
            #[allow(
                unreachable_patterns,
                unused_variables,
                clippy::all,
                clippy::pedantic
            )]
            const __SEEN: ::core::primitive::bool = match ::hooks_runtime::__private::Sight::Seen {
                __without_annotation => true,
                _ => false,
            };
            ::hooks_runtime::__private::Listed::<__SEEN>
                .registration::<__without_annotation>()
        },
        {
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use ::hooks_runtime::__private::fallback::*;
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use audit::Record as __without_annotation;
            #[allow(
                unreachable_patterns,
                unused_variables,
                clippy::all,
                clippy::pedantic
            )]
            const __SEEN: ::core::primitive::bool = true;
            ::hooks_runtime::__private::Listed::<__SEEN>
                .registration::<__without_annotation>()
        },
    ]
};
