//! Guards with state, in every form: they judge what the host gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::{
    Gate, HookContext, HookRegistry, Plugins, Registration, Rejection, Verdict, hook_handlers,
    hook_points, on,
};

hook_points! {
    pub gating Send(String);
}

/// How long a text may be, and how often that was asked.
#[derive(Default)]
struct Limit {
    longest: usize,
    asked: AtomicUsize,
}

impl Limit {
    fn judge(&self, text: &str) -> Verdict {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if text.len() <= self.longest {
            Verdict::Pass
        } else {
            Verdict::reject(format!("{} is too long: {text}", text.len()))
        }
    }
}

/// Registered after every guard, and run before them.
fn thrice() -> Registration {
    on::<Send>()
        .name("thrice")
        .priority(9)
        .handler(|text: &String| Verdict::Replace(text.repeat(3)))
}

async fn rejection(hooks: &HookRegistry, text: &str) -> Option<Rejection> {
    match hooks.fire_gating::<Send>(text.to_owned()).await.unwrap() {
        Gate::Passed(passed) => {
            assert_eq!(passed, text.repeat(3));
            None
        }
        Gate::Rejected(rejection) => Some(rejection),
    }
}

async fn assert_judges_what_is_sent(hooks: &HookRegistry, form: &str, limit: &Limit) {
    assert!(rejection(hooks, "a").await.is_none(), "{form}");
    let rejection = rejection(hooks, "123456789").await.unwrap();
    let thrice = "123456789".repeat(3);
    assert_eq!(rejection.reason(), format!("27 is too long: {thrice}"), "{form}");
    assert_eq!(limit.asked.load(Ordering::Relaxed), 2, "{form}");
}

#[tokio::test]
async fn l10_a_guard_with_state_judges_what_the_rewriters_left() {
    type Made = fn(Arc<Limit>) -> Registration;
    let forms: [(&str, Made); 4] = [
        ("sync", |limit| {
            on::<Send>().guard_with(limit, |limit: &Arc<Limit>, text: &String| limit.judge(text))
        }),
        ("sync with context", |limit| {
            on::<Send>().guard_with(limit, |limit: &Arc<Limit>, text: &String, _: &HookContext| {
                limit.judge(text)
            })
        }),
        ("async", |limit| {
            on::<Send>().guard_with(limit, async |limit: &Arc<Limit>, text: &String| {
                tokio::task::yield_now().await;
                limit.judge(text)
            })
        }),
        ("async with context", |limit| {
            on::<Send>().guard_with(
                limit,
                async |limit: &Arc<Limit>, text: &String, cx: &HookContext| {
                    assert_eq!(cx.point(), "send");
                    Ok::<_, std::io::Error>(limit.judge(text))
                },
            )
        }),
    ];
    for (form, made) in forms {
        let (hooks, limit) =
            (HookRegistry::new(), Arc::new(Limit { longest: 3, ..Limit::default() }));
        hooks.register([made(Arc::clone(&limit)), thrice()]).unwrap();
        assert_judges_what_is_sent(&hooks, form, &limit).await;
    }
}

#[tokio::test]
async fn l10_register_guard_with_registers_a_guard() {
    let (hooks, limit) = (HookRegistry::new(), Arc::new(Limit { longest: 3, ..Limit::default() }));
    let handle = hooks
        .register_guard_with::<Send, _>(
            Arc::clone(&limit),
            async |limit: &Arc<Limit>, text: &String| limit.judge(text),
        )
        .unwrap();
    hooks.register(thrice()).unwrap();
    assert_judges_what_is_sent(&hooks, "register_guard_with", &limit).await;

    handle.unregister();
    assert!(rejection(&hooks, "123456789").await.is_none());
}

#[tokio::test]
async fn l10_the_options_of_a_guard_with_state_hold() {
    let (hooks, limit) = (HookRegistry::new(), Arc::new(Limit::default()));
    let judge = |limit: &Arc<Limit>, text: &String| limit.judge(text);
    let guard = on::<Send>().name("limit").plugin("quota").guard_with(Arc::clone(&limit), judge);
    hooks.register([guard, thrice()]).unwrap();
    let rejected = rejection(&hooks, "a").await.unwrap();
    let expected = "rejected at `send` by `limit` (plugin `quota`): 3 is too long: aaa";
    assert_eq!(rejected.to_string(), expected);

    let built_in = hooks.scope(Plugins::BuiltIn);
    let passed = built_in.fire_gating::<Send>("a".to_owned()).await.unwrap();
    assert_eq!(passed, Gate::Passed("aaa".to_owned()));
    assert_eq!(limit.asked.load(Ordering::Relaxed), 1);
}

#[hook_handlers(plugin = "quota")]
impl Limit {
    #[hook_handler(Send, guard)]
    async fn short(&self, text: &str) -> Verdict {
        self.judge(text)
    }
}

#[tokio::test]
async fn l10_a_guard_of_a_plugin_judges_what_the_rewriters_left() {
    let hooks = HookRegistry::new();
    let limit = Arc::new(Limit { longest: 3, ..Limit::default() });
    hooks.install(Arc::clone(&limit)).unwrap();
    hooks.register(thrice()).unwrap();
    assert_judges_what_is_sent(&hooks, "plugin", &limit).await;
}

#[tokio::test]
async fn l29_the_payload_of_a_gate_is_made_for_handlers_only() {
    let hooks = HookRegistry::new();
    for _ in 0..2 {
        let unheard = hooks.fire_gating_with::<Send>(|| panic!("there are no handlers"));
        assert!(unheard.await.unwrap().is_none());
    }
    hooks.register(thrice()).unwrap();
    let heard = hooks.fire_gating_with::<Send>(|| "ho".to_owned()).await.unwrap();
    assert_eq!(heard, Some(Gate::Passed("hohoho".to_owned())));
}
