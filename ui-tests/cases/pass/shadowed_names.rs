// Every name that an expansion could mean is another's here: types, traits,
// variants, primitives, crates and macros. What the expansions need they name in
// full.
#![allow(dead_code, unused_macros, non_camel_case_types, non_upper_case_globals)]

mod beside {
    macro_rules! not_this_one {
        ($($name:ident)*) => { $(
            macro_rules! $name { () => { ::core::compile_error!("not this one") }; }
        )* };
    }
    not_this_one! {
        concat stringify line file column module_path cfg matches vec format panic assert
        unreachable include_str env option_env write println
    }

    macro_rules! unit_structs {
        ($($name:ident)*) => { $(
            #[derive(::core::fmt::Debug, ::core::clone::Clone)]
            pub struct $name;
        )* };
    }
    // Primitives.
    unit_structs! { str bool char u8 u16 u32 u64 usize i32 i64 isize f64 }
    // The prelude.
    unit_structs! {
        Option Some None Result Ok Err String ToString Box Vec Default Clone Copy Debug Display
        Send Sync Sized Unpin Drop Fn FnMut FnOnce AsyncFn From Into TryFrom TryInto AsRef
        Iterator IntoIterator Extend PartialEq Eq PartialOrd Ord Hash ToOwned
    }
    // What the runtime is made of.
    unit_structs! {
        Arc Duration Future Pin HookPoint HookRegistry Registration Registrations On Plugin
        Merge FieldSet Payload Model Void Modifying Claiming Gating Flow FlowPoint Guard
        Catalogue PointInfo PointDescriptor SourceLocation FailurePolicy ModelKind Annotated
        Serialize Deserialize JsonSchema Private DESCRIPTOR STAGES FIELDS NAME ID STAGE_NAMES
    }
    // A variable cannot be named like a unit struct.
    unit_structs! {
        set later point name list plugin payload registration given lent to returned this cx
        sent handler state fire hooks merged index value result
    }
    mod core {}
    mod std {}
    mod alloc {}
    mod serde {}
    mod hooks_runtime {}

    type Maybe<T> = ::core::option::Option<T>;
    type Number = ::core::primitive::u32;
    type Text = ::std::string::String;

    ::hooks_runtime::hook_points! {
        #![hook(timeout = "5s", on_failure = "closed", catalogue = pub fn points)]

        /// Told.
        #[hook(name = "told-here", timeout = "2s")]
        pub void Told { n: Number }
        /// Amended.
        pub modifying Amended { n: Number, maybe: Maybe<Text> } -> {
            text: Text,
            #[cfg(all())]
            here: Number,
            #[cfg(any())]
            not_here: Number,
            more: Number,
        }
        pub modifying Changed(Number) -> Amendment;
        /// Claimed.
        #[deprecated = "use another"]
        pub claiming Claimed { n: Number } -> Number;
        /// Gated.
        #[hook(on_failure = "open")]
        pub gating Gated { n: Number }
    }

    ::hooks_runtime::hook_points! {
        /// A flow.
        pub flow Call { n: Number } -> { n: Number }
        #[hook(name = "calls:other")]
        pub flow Other(Text) -> Number;
    }

    #[derive(
        ::core::default::Default, ::core::fmt::Debug, ::core::clone::Clone, ::hooks_runtime::Merge,
    )]
    pub struct Amendment {
        pub text: ::core::option::Option<Text>,
        #[cfg(all())]
        pub more: ::core::option::Option<Number>,
        pub last: ::core::option::Option<Number>,
    }

    #[::hooks_runtime::hook_handler(
        Told, plugin = "audit", priority = -3, timeout = "5s", on_failure = "closed",
        before = "x", after = "y"
    )]
    pub async fn told(_: &ToldPayload) {}

    #[::hooks_runtime::hook_handler(Amended)]
    fn amended(
        _: &AmendedPayload,
        _: &::hooks_runtime::HookContext,
    ) -> ::core::option::Option<AmendedResult> {
        ::core::option::Option::Some(AmendedResult {
            text: ::core::option::Option::Some(Text::new()),
            here: ::core::option::Option::None,
            more: ::core::option::Option::Some(1),
        })
    }

    #[::hooks_runtime::hook_handler(Gated, guard)]
    async fn gated(_: &GatedPayload) -> ::hooks_runtime::Verdict {
        ::hooks_runtime::Verdict::Pass
    }

    #[::hooks_runtime::hook_handler(::hooks_runtime::BeforeExecute<Call>, target = Told)]
    fn before(_: &mut ::hooks_runtime::FlowContext<Call>) {}

    #[::hooks_runtime::hook_handler(::hooks_runtime::Finally<Call>, target = "search")]
    async fn finally(_: &mut ::hooks_runtime::FlowContext<Call>, _: &::hooks_runtime::HookContext) {}

    pub struct Audit;

    #[::hooks_runtime::hook_handlers(plugin = "other")]
    impl Audit {
        #[hook_handler(Gated, guard)]
        fn gated(&self, _: &GatedPayload) -> ::hooks_runtime::Verdict {
            ::hooks_runtime::Verdict::Pass
        }

        #[hook_handler(Told, timeout = "1s", on_failure = "closed")]
        async fn told(&self, _: &ToldPayload, _: &::hooks_runtime::HookContext) {}
    }

    pub struct BuiltIn;

    #[::hooks_runtime::hook_handlers]
    impl BuiltIn {
        #[hook_handler(Changed)]
        async fn changed(&self, _: &Number) -> Amendment {
            ::core::default::Default::default()
        }
    }

    pub async fn run() {
        let registry = ::hooks_runtime::HookRegistry::new();
        registry
            .register(::hooks_runtime::handlers![told, self::amended, gated, before, finally])
            .unwrap();
        let _audit = registry.install(Audit).unwrap();
        let _built_in = registry.install(BuiltIn).unwrap();
        registry.fire_void::<Told>(&ToldPayload { n: 1 }).await.unwrap();
        let payload_of_amended = AmendedPayload { n: 1, maybe: Maybe::None };
        let amended = registry.fire_modifying::<Amended>(&payload_of_amended).await.unwrap();
        ::core::assert_eq!(amended.more, Maybe::Some(1));
        ::core::assert_eq!(points().points().len(), 5);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    beside::run().await;
}
