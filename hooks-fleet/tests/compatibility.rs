//! Versions of a point that meet: what fits, and what is refused.

#![allow(unreachable_pub, reason = "points are public")]

mod support;

use std::time::Duration;

use hooks_fleet::wire::RefusalReason;
use hooks_fleet::{Fleet, LocalNetwork, RemoteFailure, Serving};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, on};
use support::{names, remote, with_points};

mod old {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]
        /// Before a letter is sent.
        pub gating Sending { text: String }
    }
}

mod new {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]
        /// Before a letter is sent, or a parcel.
        pub gating Sending { text: String, parcel: Option<String> }
    }
}

mod other {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]
        /// Before a letter is sent.
        pub gating Sending { text: u32 }
    }
}

/// A process with a handler that adds its mark to the text.
macro_rules! serve {
    ($network:expr, $version:ident, $mark:literal, $change:expr) => {{
        let hooks = HookRegistry::new();
        let mark = on::<$version::Sending>().name("mark");
        hooks.register(mark.handler($change)).unwrap();
        let options = with_points("post", $version::points()).version($mark);
        let fleet = Fleet::local($network, options).unwrap();
        fleet.serve::<$version::Sending>(&hooks).start().await.unwrap()
    }};
}

async fn serve_old(network: &LocalNetwork) -> Serving {
    serve!(network, old, "1", |letter: &old::SendingPayload| {
        Verdict::Replace(old::SendingPayload { text: format!("{} old", letter.text) })
    })
}

async fn serve_new(network: &LocalNetwork) -> Serving {
    serve!(network, new, "2", |letter: &new::SendingPayload| {
        let parcel = letter.parcel.clone();
        Verdict::Replace(new::SendingPayload { text: format!("{} new", letter.text), parcel })
    })
}

async fn serve_other(network: &LocalNetwork) -> Serving {
    serve!(network, other, "3", |_: &other::SendingPayload| {
        Verdict::<other::SendingPayload>::reject("must not run")
    })
}

macro_rules! share {
    ($network:expr, $version:ident) => {{
        let hooks = HookRegistry::new();
        let fleet = Fleet::local($network, with_points("agent", $version::points())).unwrap();
        let share = fleet.share::<$version::Sending>(&hooks).from("post");
        (hooks, share.start().await.unwrap())
    }};
}

async fn send_old(hooks: &HookRegistry) -> String {
    let letter = old::SendingPayload { text: "a".into() };
    match hooks.fire_gating::<old::Sending>(letter).await.unwrap() {
        Gate::Passed(letter) => letter.text,
        Gate::Rejected(rejection) => panic!("{rejection}"),
    }
}

async fn send_new(hooks: &HookRegistry) -> (String, Option<String>) {
    let letter = new::SendingPayload { text: "a".into(), parcel: Some("box".into()) };
    match hooks.fire_gating::<new::Sending>(letter).await.unwrap() {
        Gate::Passed(letter) => (letter.text, letter.parcel),
        Gate::Rejected(rejection) => panic!("{rejection}"),
    }
}

/// L37: an added optional field fits in both directions, and nothing of it is lost.
#[tokio::test]
async fn l37_added_optional_fields_fit() {
    let network = LocalNetwork::new();
    let _old = serve_old(&network).await;
    let (hooks, _sharing) = share!(&network, new);
    // The old process has never heard of the parcel, which is there again after it.
    assert_eq!(send_new(&hooks).await, ("a old".into(), Some("box".into())));

    let network = LocalNetwork::new();
    let _new = serve_new(&network).await;
    let (hooks, _sharing) = share!(&network, old);
    assert_eq!(send_old(&hooks).await, "a new");
}

/// L37: another schema is answered by "incompatible", and the handler does not run.
#[tokio::test]
async fn l37_another_schema_is_incompatible() {
    let network = LocalNetwork::new();
    let _other = serve_other(&network).await;
    let (hooks, _sharing) = share!(&network, old);
    assert_eq!(names(&hooks.handlers()), ["post/mark"]);
    let letter = old::SendingPayload { text: "a".into() };
    let failure = remote(hooks.fire_gating::<old::Sending>(letter).await);
    let RemoteFailure::Refused { why, message, .. } = failure else { panic!("{failure}") };
    let types = r#"payload: `text` has another type: `{"format":"uint32","minimum":0,"type":"integer"}` there, `{"type":"string"}` here"#;
    assert_eq!((why, &*message), (RefusalReason::Incompatible, types));
}

/// L37: a rolling update, with both versions alive for a while, for processes that fire with
/// either version. No fire fails, and each goes to the version it fits best.
#[tokio::test(start_paused = true)]
async fn l37_a_rolling_update_loses_no_fire() {
    let network = LocalNetwork::new();
    let first = serve_old(&network).await;
    let (old_hooks, old_sharing) = share!(&network, old);
    let (new_hooks, new_sharing) = share!(&network, new);
    let both = async || (send_old(&old_hooks).await, send_new(&new_hooks).await.0);
    assert_eq!(both().await, ("a old".into(), "a old".into()));
    let second = serve_new(&network).await;
    old_sharing.wait_for_processes("post", 2).await;
    new_sharing.wait_for_processes("post", 2).await;
    assert_eq!(both().await, ("a old".into(), "a new".into()));
    let leaving = tokio::spawn(first.leave(Duration::from_secs(9)));
    old_sharing.wait_for_processes("post", 1).await;
    new_sharing.wait_for_processes("post", 1).await;
    assert_eq!(both().await, ("a new".into(), "a new".into()));
    assert!(leaving.await.unwrap());
    assert_eq!(both().await, ("a new".into(), "a new".into()));
    // One handler all the time, at one place.
    assert_eq!(names(&old_hooks.handlers()), ["post/mark"]);
    drop(second);
}

/// L37: a field that is not known here and says something is refused, not dropped.
#[tokio::test]
async fn l37_an_unknown_field_that_says_something_is_refused() {
    let network = LocalNetwork::new();
    let _new = serve!(&network, new, "2", |letter: &new::SendingPayload| {
        let text = letter.text.clone();
        Verdict::Replace(new::SendingPayload { text, parcel: Some("bomb".into()) })
    });
    let (hooks, _sharing) = share!(&network, old);
    let letter = old::SendingPayload { text: "a".into() };
    let failure = remote(hooks.fire_gating::<old::Sending>(letter).await);
    let RemoteFailure::BadReply { problem, .. } = failure else { panic!("{failure}") };
    assert_eq!(problem, "it sets `parcel`, which this process does not know");
}

mod titled {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]
        /// Before a letter is sent, with a title of any form.
        pub gating Sending { text: String, title: Option<serde_json::Value> }
    }
}

/// L37: also one that has the name of a text for people, and may be anything.
#[tokio::test]
async fn l37_an_added_field_of_any_name_fits() {
    let network = LocalNetwork::new();
    let _old = serve_old(&network).await;
    let (hooks, _sharing) = share!(&network, titled);
    let letter = titled::SendingPayload { text: "a".into(), title: Some("Sir".into()) };
    let fired = hooks.fire_gating::<titled::Sending>(letter).await.unwrap();
    let Gate::Passed(letter) = fired else { panic!("it was rejected") };
    assert_eq!((&*letter.text, letter.title), ("a old", Some("Sir".into())));
}

/// A gate whose rejections have reasons of a type of their own, in two versions.
macro_rules! reasons {
    ($version:ident, $($field:tt)*) => {
        mod $version {
            /// Why it is not sent.
            #[derive(
                Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
            )]
            #[serde(deny_unknown_fields)]
            pub struct Refused {
                pub rule: String,
                $($field)*
            }

            impl std::fmt::Display for Refused {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(&self.rule)
                }
            }

            hooks_runtime::hook_points! {
                #![hook(json = "camelCase", schema, catalogue = pub fn points)]
                /// Before a parcel is sent.
                #[hook(on_failure = "open")]
                pub gating Parcel { text: String } -> Refused;
            }
        }
    };
}

reasons!(terse,);
reasons!(detailed, pub detail: Option<String>,);

/// L10, L37: a no counts, also where its reason says more than this process knows.
#[tokio::test]
async fn l10_a_rejection_of_another_version_is_a_rejection() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let no = |_: &detailed::ParcelPayload| {
        let detail = Some("it ticks".to_owned());
        Judgement::Reject(detailed::Refused { rule: "no bombs".into(), detail })
    };
    hooks.register(on::<detailed::Parcel>().name("no").guard(no)).unwrap();
    let post = Fleet::local(&network, with_points("post", detailed::points())).unwrap();
    let _serving = post.serve::<detailed::Parcel>(&hooks).start().await.unwrap();
    let hooks = HookRegistry::new();
    let agent = Fleet::local(&network, with_points("agent", terse::points())).unwrap();
    let _sharing = agent.share::<terse::Parcel>(&hooks).from("post").start().await.unwrap();
    let parcel = terse::ParcelPayload { text: "a".into() };
    let Gate::Rejected(rejection) = hooks.fire_gating::<terse::Parcel>(parcel).await.unwrap()
    else {
        panic!("it passed")
    };
    assert_eq!(*rejection.reason(), terse::Refused { rule: "no bombs".into() });
}
