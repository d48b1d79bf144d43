//! The order service that the example file of the guide is for.
#![allow(dead_code)]

use std::time::{Duration, SystemTime};

use hooks_runtime::operator::{FileError, Loaded, Operator, SettingsFile};
use hooks_runtime::{
    Finally, FlowContext, HookRegistry, HookRegistryBuilder, Judgement, hook_points, on,
};

hook_points! {
    pub gating Placing { cents: u32 }
    #[hook(timeout = "2s")]
    pub void Placed { cents: u32 }
    pub modifying Pricing { cents: u32 } -> { rebate: u32 }
    #[hook(on_failure = "open")]
    pub gating Shipping { cents: u32 }
    #[hook(name = "orders:close")]
    pub flow Closing(u32) -> u32;
}

pub const EXAMPLE: &str = include_str!("../../../hooks-runtime/src/docs/guides/hooks.toml");

pub fn host() -> HookRegistry {
    host_with(HookRegistry::builder())
}

pub fn host_with(builder: HookRegistryBuilder) -> HookRegistry {
    let hooks = builder.build();
    let placed =
        |plugin: &'static str, name: &'static str| on::<Placed>().plugin(plugin).name(name);
    for (plugin, name) in
        [("stats", "count"), ("stats", "total"), ("stats", "heatmap"), ("audit", "record")]
    {
        hooks.register(placed(plugin, name).handler(|_: &PlacedPayload| ())).unwrap();
    }
    let confirm = placed("mail", "confirm").handler(|_: &PlacedPayload| Err("no route"));
    hooks.register(confirm).unwrap();
    for name in ["new", "loyal"] {
        let offer = on::<Pricing>().plugin("offers").name(name);
        hooks.register(offer.handler(|_: &PricingPayload| PricingResult::default())).unwrap();
    }
    let limit = on::<Placing>().plugin("limits").name("not_too_much");
    let guard = |_: &PlacingPayload| Judgement::reject("over the limit");
    hooks.register(limit.guard(guard)).unwrap();
    let score = on::<Placing>().plugin("fraud").name("score");
    hooks.register(score.guard(|_: &PlacingPayload| Judgement::Pass)).unwrap();
    let carrier = on::<Shipping>().plugin("carrier").name("check");
    hooks.register(carrier.guard(|_: &ShippingPayload| Judgement::Pass)).unwrap();
    let close = on::<Finally<Closing>>().plugin("stats").name("close");
    hooks.register(close.handler(|_: &mut FlowContext<Closing>| ())).unwrap();
    hooks
}

pub fn load(operator: &Operator, text: &str) -> Result<Loaded, FileError> {
    operator.load(&SettingsFile::parse(text))
}

/// A time from now on, as a file has it.
pub fn in_days(days: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let day = i64::try_from(now.as_secs()).unwrap() / 86_400 + days;
    // By counting: another way than the one that is tested.
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut left) = (1970, day);
    while left >= 365 + i64::from(is_leap(year)) {
        left -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let months = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}T00:00:00Z", month + 1, left + 1)
}

/// The same as a time of the system's clock.
pub fn time_in_days(days: i64) -> SystemTime {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let day = i64::try_from(now.as_secs()).unwrap() / 86_400 + days;
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(day * 86_400).unwrap())
}
