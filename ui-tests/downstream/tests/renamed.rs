//! A crate of edition 2021 that knows the runtime by another name, with every
//! lint that it could have switched on.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub, clippy::pedantic)]

use hooks::{
    handlers, hook_handler, hook_handlers, hook_points, BeforeExecute, Claim, FlowContext, Gate,
    HookContext, HookRegistry, Merge, Verdict,
};

hook_points! {
    /// A drawer was opened.
    pub void Opened { drawer: u32 }
    /// Before a label is printed.
    pub modifying Labelling { text: String } -> { title: String }
    /// Before a list is printed.
    pub modifying Listing(Vec<String>) -> Heading;
    /// Who takes this message?
    pub claiming Route(String) -> u32;
    /// Before a message leaves.
    pub gating Sending { text: String }
    /// One order, stage by stage.
    pub flow PlaceOrder(u32) -> u32;
}

/// What stands above a list.
#[derive(Debug, Default, Merge)]
#[merge(crate = ::hooks)]
pub struct Heading {
    /// The text.
    pub text: Option<String>,
}

#[hook_handler(Opened, crate = ::hooks)]
async fn opened(opened: &OpenedPayload, _: &HookContext) {
    tokio::task::yield_now().await;
    assert_eq!(opened.drawer, 3);
}

#[hook_handler(Labelling, crate = ::hooks)]
fn titled(_: &LabellingPayload) -> LabellingResult {
    LabellingResult { title: Some("Lamps".into()) }
}

#[hook_handler(Listing, crate = ::hooks)]
fn headed(list: &[String]) -> Option<Heading> {
    Some(Heading { text: list.first().cloned() })
}

struct Desk;

#[hook_handlers(plugin = "desk", crate = ::hooks)]
impl Desk {
    #[hook_handler(Route)]
    fn takes(&self, message: &str) -> Option<u32> {
        message.starts_with("desk").then_some(7)
    }

    #[hook_handler(Sending, guard)]
    async fn polite(&self, sending: &SendingPayload) -> Verdict {
        tokio::task::yield_now().await;
        if sending.text.is_empty() {
            Verdict::reject("nothing to say")
        } else {
            Verdict::Pass
        }
    }

    #[hook_handler(BeforeExecute<PlaceOrder>)]
    fn at_once(&self, flow: &mut FlowContext<PlaceOrder>) {
        flow.respond(9);
    }
}

#[tokio::test]
async fn every_form_works_under_another_name() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![opened, titled, headed]).unwrap();
    let desk = hooks.install(Desk).unwrap();
    hooks.fire_void::<Opened>(&OpenedPayload { drawer: 3 }).await.unwrap();
    let label = LabellingPayload { text: String::new() };
    let labelled = hooks.fire_modifying::<Labelling>(&label).await.unwrap();
    assert_eq!(labelled.title.as_deref(), Some("Lamps"));
    let listed = hooks.fire_modifying::<Listing>(&vec!["lamp".to_owned()]).await.unwrap();
    assert_eq!(listed.text.as_deref(), Some("lamp"));
    let claim = hooks.fire_claiming::<Route>(&"desk, please".to_owned()).await.unwrap();
    assert_eq!(claim, Claim::Claimed(7));
    let sending = SendingPayload { text: String::new() };
    let Gate::Rejected(rejection) = hooks.fire_gating::<Sending>(sending).await.unwrap() else {
        panic!("it says nothing");
    };
    assert_eq!(rejection.reason(), "nothing to say");
    let placed = hooks.run_flow::<PlaceOrder, _>(1, async |order| Ok::<_, String>(order));
    assert_eq!(placed.await.unwrap(), 9);
    desk.uninstall().await;
}
