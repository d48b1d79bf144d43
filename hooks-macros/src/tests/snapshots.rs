//! Expansions as files, one for each form that users write. Run with
//! `UPDATE_SNAPSHOTS=1` to write them anew, then read the difference.

use std::path::Path;

use proc_macro2::TokenStream;

use super::support::{handler, list, merge, plugin, points, pretty};

#[track_caller]
fn assert_snapshot(name: &str, expansion: TokenStream) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/tests/snapshots")
        .join(name)
        .with_extension("rs");
    let found = pretty(expansion);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found).expect("the snapshot is written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{name} expands to something else; if that is meant, run with UPDATE_SNAPSHOTS=1\n{found}"
    );
}

#[test]
fn void_point() {
    assert_snapshot(
        "void_point",
        points(
            "/// A customer placed an order.
            pub void OrderPlaced {
                /// Who it is.
                order_id: String,
                coupon: Option<String>,
            }",
        ),
    );
}

#[test]
fn modifying_point() {
    assert_snapshot(
        "modifying_point",
        points(
            "/// Before a reply goes out.
            #[payload(derive(PartialEq))]
            pub modifying BeforeReply {
                history: Vec<Message>,
            } -> {
                prefix: String,
                #[cfg(feature = \"x\")]
                suffix: String,
                body: String,
            }",
        ),
    );
}

#[test]
fn claiming_point() {
    assert_snapshot(
        "claiming_point",
        points(
            "/// Which desk takes this message?
            pub claiming Route(Message) -> Desk;",
        ),
    );
}

#[test]
fn gating_point() {
    assert_snapshot(
        "gating_point",
        points(
            "/// Before a call runs.
            #[hook(timeout = \"5s\", on_failure = \"open\")]
            #[cfg(feature = \"calls\")]
            #[deprecated]
            pub gating BeforeCall(Call);",
        ),
    );
}

#[test]
fn gating_point_with_a_reason() {
    assert_snapshot(
        "gating_point_with_a_reason",
        points(
            "/// May this request be served?\n pub gating Authorize(Request) -> errors::Denied;",
        ),
    );
}

#[test]
fn flow_point() {
    assert_snapshot(
        "flow_point",
        points(
            "/// One call, stage by stage.
            #[hook(name = \"calls:call\", timeout = \"1m\")]
            pub flow MakeCall { name: String } -> { content: Vec<u8> }",
        ),
    );
}

#[test]
fn json_block() {
    assert_snapshot(
        "json_block",
        points(
            "#![hook(json = \"camelCase\", timeout = \"3s\", on_failure = \"closed\")]
            modifying A {
                plain: String,
                maybe: Option<String>,
                #[serde(default)] own: Option<String>,
            } -> { text: String }
            void B { #[serde(flatten)] rest: Rest }",
        ),
    );
}

#[test]
fn catalogue_block() {
    assert_snapshot(
        "catalogue_block",
        points(
            "#![hook(json = \"camelCase\", catalogue = pub(crate) fn points)]
            #![cfg_attr(feature = \"schema\", hook(schema))]
            /// A drawer was opened.
            #[deprecated(since = \"2\", note = \"listen at `Moved`\")]
            pub void Opened {
                /// Which one.
                #[cfg(feature = \"x\")]
                drawer: u32,
            }
            #[cfg(unix)]
            pub flow Move(Request) -> Vec<Place>;",
        ),
    );
}

#[test]
fn async_handler() {
    assert_snapshot(
        "async_handler",
        handler("OrderPlaced", "pub async fn log_order(order: &OrderPlacedPayload) {}"),
    );
}

#[test]
fn sync_handler_with_every_key() {
    assert_snapshot(
        "sync_handler_with_every_key",
        handler(
            "points::BeforeCall, plugin = ID, name = \"no_rm\", priority = -10, timeout = \"200ms\", \
             on_failure = \"closed\", before = \"a\", after = [\"b\", \"c\"], target = Carrier<A, B>, guard, pure, \
             crate = crate::hooks",
            "#[cfg(unix)] fn check(call: &Call, cx: &HookContext) -> Verdict { Verdict::pass() }",
        ),
    );
}

#[test]
fn list_of_handlers() {
    let expansion = list("log_order, audit::record, audit::Record");
    assert_snapshot("list_of_handlers", quote::quote!(const LIST: () = { #expansion };));
}

#[test]
fn plugin_block() {
    assert_snapshot(
        "plugin_block",
        plugin(
            "plugin = \"audit\", version = \"1.2.0\"",
            "/// Writes it down.
            impl Audit {
                #[hook_handler(OrderPlaced, on_failure = \"closed\")]
                async fn started(&self, order: &OrderPlacedPayload) -> Result<(), DbError> { Ok(()) }
                #[cfg(unix)]
                #[hook_handler(BeforeCall, guard)]
                fn no_rm(&self, call: &Call, cx: &HookContext) -> Verdict { Verdict::Pass }
                #[hook_handler(BeforeExecute<MakeCall>, target = \"search\")]
                async fn cached(&self, flow: &mut FlowContext<MakeCall>) {}
                #[start]
                async fn open(&self) -> Result<(), DbError> { Ok(()) }
                #[stop]
                fn close(&self) {}
                fn helper(&self) {}
            }",
        ),
    );
}

#[test]
fn merge_derive() {
    assert_snapshot(
        "merge_derive",
        merge("struct Amendment<T: Clone> { prepend: Option<T>, r#type: Option<u8> }"),
    );
}
