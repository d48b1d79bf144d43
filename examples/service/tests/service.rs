//! The service from end to end, over real sockets.

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_runtime::HookContext;
use hooks_runtime::background::SettleError;
use hooks_runtime::report::SkipReason;
use hooks_service::orders::Order;
use hooks_service::points::{Create, OrderCreated, points};
use hooks_service::request::{RequestId, Tenant};
use hooks_service::service::ShutdownError;
use serde_json::{Value, json};
use support::Running;
use tokio::net::TcpStream;
use tokio::sync::Notify;

fn start() -> Running {
    Running::start(|text| text)
}

/// The ids of the plugins in the listing.
fn plugins(running: &Running) -> Vec<String> {
    let listing = running.get("/hooks").body;
    let plugins = listing["plugins"].as_array().expect("plugins").iter();
    plugins.map(|plugin| plugin["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn an_order_is_priced_routed_and_kept() {
    let running = start();
    let answer = running.order(&json!({ "item": "lamp", "quantity": 10 }));
    let mut order = json!({
        "id": 1,
        "tenant": "north",
        "item": "lamp",
        "quantity": 10,
        "discount_percent": 10,
        "total_cents": 10_800,
        "warehouse": "harbour",
    });
    let read = running.get("/orders/1");
    assert_eq!((read.status, &read.body), (200, &order));
    order["replayed"] = json!(false);
    assert_eq!((answer.status, answer.body), (201, order));
    let others = running.send("GET", "/orders/1", "omega", &Value::Null);
    assert_eq!((others.status, others.body), (404, json!({ "error": "there is no order 1" })));
    running.end().expect("a good end");
}

#[test]
fn l31_a_condition_leaves_the_discount_to_large_orders() {
    let running = start();
    let small = running.order(&json!({ "item": "chair", "quantity": 9 })).body;
    assert_eq!((&small["discount_percent"], &small["total_cents"]), (&json!(0), &json!(40_500)));
    let handlers = running.service.hooks().handlers_of("loyalty");
    assert_eq!((handlers[0].calls, handlers[0].skips.of(SkipReason::Condition)), (0, 1));
    // What is large, and of a tenant that has none, is no matter of the condition.
    let house = json!({ "item": "chair", "quantity": 10 });
    let house = running.send("POST", "/orders", "omega", &house).body;
    assert_eq!(house["total_cents"], 45_000);
    assert_eq!(running.service.hooks().handlers_of("loyalty")[0].calls, 1);
}

#[test]
fn l09_what_no_warehouse_claims_goes_the_hosts_own_way() {
    let running = start();
    let order = |item: &str| running.order(&json!({ "item": item, "quantity": 1 })).body;
    assert_eq!(order("lamp")["warehouse"], "harbour");
    assert_eq!(order("chair")["warehouse"], "hill");
    assert_eq!(order("gift card")["warehouse"], "central");
}

#[test]
fn l10_refusals_are_typed_reasons_with_a_status() {
    let running = Running::start(|text| text.replace("orders = 1000", "orders = 1"));
    let lamp = json!({ "item": "lamp", "quantity": 1 });
    let refused = |token: &str, method: &str, path: &str| {
        let answer = running.send(method, path, token, &lamp);
        (answer.status, answer.body["reason"].clone(), answer.body["by"].clone())
    };
    let unknown = (401, json!({ "kind": "unauthenticated" }), json!("known"));
    assert_eq!(refused("beta", "POST", "/orders"), unknown);
    assert_eq!(refused("beta", "DELETE", "/admin/plugins/quota"), unknown);
    let customer = refused("alpha", "DELETE", "/admin/plugins/quota");
    let needs = json!({ "kind": "forbidden", "needs": "operator" });
    assert_eq!(customer, (403, needs, json!("operators_only")));

    assert_eq!(running.order(&lamp).status, 201);
    let used_up = json!({ "kind": "quota_used_up", "tenant": "north", "limit": 1 });
    assert_eq!(refused("alpha", "POST", "/orders"), (429, used_up, json!("quota/count")));
    assert_eq!(
        running.order(&lamp).body["error"],
        "north has used up its 1 orders",
        "a reason is also text"
    );
    assert_eq!(running.get("/orders/1").status, 200, "only orders are counted");
    assert_eq!(running.get("/orders/2").status, 404, "what was refused is not in the books");
}

#[test]
fn l11_a_key_is_answered_from_the_cache_and_belongs_to_its_tenant() {
    let running = start();
    let lamp = json!({ "item": "lamp", "quantity": 1, "idempotency_key": "k-1" });
    let first = running.order(&lamp);
    assert_eq!((first.status, &first.body["replayed"]), (201, &json!(false)));
    let again = running.order(&lamp);
    let expected = Value::Object({
        let mut order = first.body.as_object().expect("an order").clone();
        order.insert("replayed".into(), json!(true));
        order
    });
    assert_eq!((again.status, again.body), (200, expected));
    assert_eq!(running.send("POST", "/orders", "omega", &lamp).body["id"], 2);
    assert_eq!(running.get("/orders/3").status, 404, "the operation ran twice, not three times");
    let journal = running.end().expect("a good end");
    assert_eq!(journal.lines().count(), 2, "what is replayed is no news");
}

#[test]
fn l11_what_is_not_valid_or_has_no_price_is_not_in_the_books() {
    let running = start();
    let order = |item: &str, quantity: u64| {
        let answer = running.order(&json!({ "item": item, "quantity": quantity }));
        (answer.status, answer.body["error"].as_str().map(str::to_owned))
    };
    let text = |text: &str| (422, Some(text.to_owned()));
    assert_eq!(order("lamp", 0), text("the quantity is 0: order at least one"));
    assert_eq!(order("moon", 1), text("there is no price for \"moon\": order something else"));
    assert_eq!(order("lamp", 1), (201, None));
    assert_eq!(running.get("/orders/1").body["item"], "lamp");
}

#[test]
fn l32_the_values_of_a_request_reach_the_background() {
    let running = start();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let see = Arc::clone(&seen);
    let look = move |order: &Order, cx: &HookContext| {
        let (id, tenant) = (cx.get::<RequestId>().cloned(), cx.get::<Tenant>().cloned());
        see.lock().expect("a list").push((order.id, id, tenant));
    };
    let on = hooks_runtime::on::<OrderCreated>().handler(look);
    running.service.hooks().register(on).expect("registered");
    let answer = running.order(&json!({ "item": "lamp", "quantity": 1 }));
    assert_eq!(answer.request_id.as_deref(), Some("r-1"));
    let journal = running.end().expect("a good end");
    let expected = (1, Some(RequestId("r-1".into())), Some(Tenant("north".into())));
    assert_eq!(*seen.lock().expect("a list"), [expected]);
    let line: Value = serde_json::from_str(&journal).expect("one line");
    assert_eq!((&line["request"], &line["order"]["id"]), (&json!("r-1"), &json!(1)));
}

#[test]
fn l19_a_plugin_leaves_and_comes_back_through_the_admin_route() {
    let running = start();
    let admin = |method: &str, id: &str| {
        let path = format!("/admin/plugins/{id}");
        let answer = running.send(method, &path, "omega", &Value::Null);
        (answer.status, answer.body)
    };
    let discount = || {
        let answer = running.order(&json!({ "item": "lamp", "quantity": 10 }));
        (answer.status, answer.body["discount_percent"].clone())
    };
    let all = ["journal", "loyalty", "prices", "quota", "replay", "warehouses"];
    assert_eq!((plugins(&running), discount()), (all.map(str::to_owned).into(), (201, json!(10))));

    let removed = json!({ "plugin": "loyalty", "handlers_removed": 1 });
    assert_eq!(admin("DELETE", "loyalty"), (200, removed));
    let rest = ["journal", "prices", "quota", "replay", "warehouses"];
    assert_eq!((plugins(&running), discount()), (rest.map(str::to_owned).into(), (201, json!(0))));
    let absent = json!({ "error": "no plugin \"loyalty\" is installed" });
    assert_eq!(admin("DELETE", "loyalty"), (404, absent));

    assert_eq!(admin("PUT", "loyalty"), (201, json!({ "plugin": "loyalty", "handlers": 1 })));
    assert_eq!((plugins(&running), discount()), (all.map(str::to_owned).into(), (201, json!(10))));
    assert_eq!(admin("PUT", "loyalty").0, 409, "it is there already");
    let unknown = json!({ "error": "no plugin \"royalty\" is configured" });
    assert_eq!(admin("PUT", "royalty"), (404, unknown));
}

#[test]
fn l22_the_listing_has_every_handler_in_its_order() {
    let running = start();
    let listing = running.get("/hooks").body;
    let handlers = listing["handlers"].as_array().expect("handlers").iter();
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let handlers: Vec<_> = handlers
        .map(|handler| {
            let owner = word(&handler["owner"]["id"]).or_else(|| word(&handler["owner"]["kind"]));
            [word(&handler["point"]), owner, word(&handler["name"])].map(Option::unwrap).join(" ")
        })
        .collect();
    assert_eq!(
        handlers,
        [
            "authorize built_in identify",
            "authorize built_in known",
            "authorize built_in operators_only",
            "authorize quota count",
            "enrich prices price",
            "enrich loyalty discount",
            "order_created journal write",
            "orders:create/beforeExecute replay answer",
            "orders:create/afterExecute replay learn",
            "route warehouses in_stock",
        ]
    );
}

#[test]
fn l23_every_point_is_fired_and_the_audit_is_clean() {
    let running = start();
    running.order(&json!({ "item": "lamp", "quantity": 10 }));
    running.send("PUT", "/admin/plugins/none", "omega", &Value::Null);
    let hooks = running.service.hooks().clone();
    running.end().expect("a good end");
    points().assert_all_fired(&hooks);
    let audit = hooks.audit_with(&points());
    assert!(audit.is_clean(), "{audit}");
    assert_eq!(hooks.handlers_of_flow::<Create>().len(), 0, "the plugins have stopped");
}

/// How far a handler has come.
struct Slow {
    entered: Notify,
    ended: AtomicBool,
}

#[test]
fn l33_the_end_waits_for_what_is_in_the_background() {
    let running = start();
    let slow = Arc::new(Slow { entered: Notify::new(), ended: AtomicBool::new(false) });
    let (hooks, address) = (running.service.hooks(), running.address);
    // It ends only when the server takes no more connections, so during the end.
    let wait = async |(slow, address): &(Arc<Slow>, SocketAddr), _: &Order| {
        slow.entered.notify_one();
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        slow.ended.store(true, Ordering::SeqCst);
    };
    let state = (Arc::clone(&slow), address);
    hooks.register_void_with::<OrderCreated, _>(state, wait).expect("registered");
    assert_eq!(running.order(&json!({ "item": "lamp", "quantity": 1 })).status, 201);
    running.runtime.block_on(slow.entered.notified());
    assert!(!slow.ended.load(Ordering::SeqCst), "the answer did not wait for it");
    running.end().expect("a good end");
    assert!(slow.ended.load(Ordering::SeqCst));
}

#[test]
fn l33_the_end_has_a_limit_and_says_what_is_left() {
    let running = Running::start(|text| text.replace("shutdown_ms = 10_000", "shutdown_ms = 50"));
    let hooks = running.service.hooks().clone();
    let never = async |_: &Order| std::future::pending::<()>().await;
    hooks.register_void::<OrderCreated>(never).expect("registered");
    assert_eq!(running.order(&json!({ "item": "lamp", "quantity": 1 })).status, 201);
    let error = running.end().expect_err("a handler never ends");
    let ShutdownError::Background(SettleError::StillRunning { running, .. }) = error else {
        panic!("another error: {error}");
    };
    assert_eq!((running, hooks.plugins().len()), (1, 0), "the plugins were stopped all the same");
}
