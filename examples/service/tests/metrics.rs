//! The metrics of one service. The recorder belongs to the process, so this is a test
//! program of its own.

mod support;

use hooks_service::recorder::recorder;
use serde_json::json;
use support::Running;

#[test]
fn l21_the_metrics_count_fires_and_calls() {
    recorder();
    let running = Running::start(|text| text);
    running.order(&json!({ "item": "lamp", "quantity": 1 }));
    running.order(&json!({ "item": "moon", "quantity": 1 }));
    running.send("POST", "/orders", "beta", &json!({}));
    let text = running.get("/metrics").body;
    let text = text.as_str().expect("text");
    for line in [
        "# TYPE hook_fires_total counter",
        "hook_fires_total{point=\"authorize\",outcome=\"passed\"} 2",
        "hook_fires_total{point=\"authorize\",outcome=\"rejected\"} 1",
        "hook_fires_total{point=\"route\",outcome=\"claimed\"} 1",
        "# TYPE hook_handler_seconds summary",
        "hook_handler_seconds_count{point=\"enrich\",handler=\"price\",owner=\"prices\"} 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}
