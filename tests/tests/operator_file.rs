//! The operator's settings from a file (L34, L35): what a load changes, what it leaves, and
//! that it is one change.

mod file_support;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use file_support::*;
use hooks_runtime::observe::Observer;
use hooks_runtime::operator::*;
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{FailurePolicy, Gate, HookRegistry, Judgement, on};
use tokio::sync::Notify;

fn placed() -> PlacedPayload {
    PlacedPayload { cents: 5 }
}

fn entry(target: &str, lines: &str) -> String {
    format!("[[setting]]\ntarget = '{target}'\n{lines}\n")
}

fn mode_of(hooks: &HookRegistry, handler: &str) -> Mode {
    hooks.handlers().iter().find(|it| &*it.name == handler).unwrap().mode
}

/// What is set, without numbers.
fn settings(operator: &Operator) -> Vec<String> {
    operator.settings().iter().map(|it| format!("{} {it}", it.layer())).collect()
}

#[test]
fn the_example_of_the_guide_has_each_setting_and_loads() {
    let hooks = host();
    let operator = hooks.operator();
    let (date, until) = ("2027-01-31T18:00:00Z", in_days(30));
    let loaded = load(&operator, &EXAMPLE.replace(date, &until)).unwrap();
    assert_eq!(
        loaded.to_string().replace(&until, date),
        "\
+ line 8: disable placed:stats/count by ops: the dashboard is rebuilt, until 2027-01-31T18:00:00Z
+ line 16: shadow pricing:offers/* by ops
+ line 22: enforce pricing:offers/loyal
+ line 28: time limit 200ms placed:mail/*
+ line 29: breaker opens for 30s after 5 failures in a row placed:mail/*
+ line 34: breaker opens for 30s at 50 % failures of at least 20 calls in 10s, only counted placed:stats/total
+ line 39: sample 25 % placed:stats/heatmap
+ line 40: fail-closed placed:stats/heatmap
+ line 46: rate limit 100 in 1s, at most 5 at once, fail-closed shipping:carrier/*
+ line 52: breaker forced open placed:audit/record: its disk is full
+ line 59: break-glass warn placing:limits/not_too_much by ops: the limit is wrong for the sale, until 2027-01-31T18:00:00Z
+ line 68: break-glass fail-open placing:fraud/score by ops: the scoring service is down, until 2027-01-31T18:00:00Z
+ line 77: disable *:beta/*",
    );
    // Each kind of setting is there, and so is each value that one can have.
    let changes: Vec<_> = operator.settings().iter().map(|it| it.change().clone()).collect();
    for mode in [Mode::Enforce, Mode::Disable, Mode::Shadow, Mode::Warn] {
        assert!(changes.contains(&SettingChange::Mode(mode)), "{mode}");
    }
    for policy in [FailurePolicy::Open, FailurePolicy::Closed] {
        assert!(changes.contains(&SettingChange::OnFailure(policy)), "{policy}");
    }
    let has = |is: fn(&SettingChange) -> bool| changes.iter().any(is);
    assert!(has(|it| matches!(it, SettingChange::TimeLimit(_))));
    assert!(has(|it| matches!(it, SettingChange::Sample(_))));
    assert!(has(|it| matches!(it, SettingChange::RateLimit(_))));
    assert!(has(|it| matches!(it, SettingChange::Breaker(_))));
    assert!(has(|it| matches!(it, SettingChange::ForceBreaker(_))));
    for key in ["by", "why", "until", "fail_closed", "break_glass", "even_if_none"] {
        assert!(EXAMPLE.contains(&format!("\n{key} = ")), "{key}");
    }
    // As it is written it can be loaded as well, however late that is.
    assert!(load(&operator, EXAMPLE).is_ok());
}

#[test]
fn what_a_file_sets_is_what_the_operators_calls_set() {
    let (by_file, by_calls) = (host(), host());
    let until = time_in_days(2);
    let text = format!(
        "[[setting]]\ntarget = 'placed:stats/count'\nmode = 'disable'\nby = 'ops'\nwhy = 'noise'\n\
         until = {}\n\
         [[setting]]\ntarget = 'placed:mail/*'\ntime_limit = '1500us'\n\
         breaker = {{ percent = 50, over = '10s', at_least = 20, open_for = '2m', shadow = true }}\n\
         [[setting]]\ntarget = 'placed:stats/*'\nsample = 1\nforce_breaker = 'closed'\n\
         rate_limit = {{ calls = 0x10, per = '1h', burst = 5 }}\n\
         [[setting]]\ntarget = 'shipping:*'\nbreaker.consecutive = 3\nfail_closed = true\n",
        in_days(2),
    );
    load(&by_file.operator(), &text).unwrap();
    let operator = by_calls.operator();
    operator
        .disable("placed:stats/count")
        .by("ops")
        .because("noise")
        .until(until)
        .from_file()
        .apply()
        .unwrap();
    let breaker = BreakerSettings::rate(50)
        .over(Duration::from_secs(10))
        .at_least(20)
        .open_for(Duration::from_secs(120))
        .shadow();
    let limit = RateLimit::new(16, Duration::from_secs(3_600)).burst(5);
    for new in [
        operator.time_limit("placed:mail/*", Duration::from_micros(1_500)),
        operator.breaker("placed:mail/*", breaker),
        operator.sample("placed:stats/*", 1.0),
        operator.force_breaker("placed:stats/*", BreakerState::Closed),
        operator.rate_limit("placed:stats/*", limit),
        operator.breaker("shipping:*", BreakerSettings::consecutive(3)).fail_closed(),
    ] {
        new.from_file().apply().unwrap();
    }
    let (one, other) = (by_file.operator().settings(), operator.settings());
    assert_eq!(one.len(), 7);
    for (one, other) in one.iter().zip(&other) {
        assert_eq!((one.target(), one.change()), (other.target(), other.change()));
        assert_eq!(one.to_string(), other.to_string());
        assert_eq!((one.layer(), one.end()), (other.layer(), other.end()));
    }
    assert_eq!(one[0].end(), Some(End::At(until)));
    // And so a load of the same changes nothing there either.
    assert!(load(&operator, &text).unwrap().changes_nothing());
}

#[tokio::test]
async fn l34_what_is_in_both_files_stays_the_same_setting() {
    let hooks = host();
    let operator = hooks.operator();
    let breaker = entry("placed:mail/*", "breaker = { consecutive = 2 }");
    let first = load(&operator, &(entry("placed:stats/*", "sample = 0.5") + &breaker)).unwrap();
    for _ in 0..3 {
        hooks.fire_void::<Placed>(&placed()).await.unwrap();
    }
    let mail = || hooks.handlers_of("mail")[0].clone();
    assert_eq!((mail().calls, mail().breaker), (2, Some(BreakerState::Open)));
    let kept = first.begins().nth(1).unwrap().clone();
    let applied = kept.applied();
    assert!(applied > 0);

    // Elsewhere in the file, with another before it and one gone.
    let second = format!(
        "# Moved.\n\n{}\n{breaker}",
        entry("placed:audit/*", "mode = 'disable'\nby = 'ops'")
    );
    let preview = operator.preview(&SettingsFile::parse(&second)).unwrap();
    let loaded = load(&operator, &second).unwrap();
    let text = "+ line 5: disable placed:audit/* by ops\n\
                = line 10: breaker opens for 60s after 2 failures in a row placed:mail/*\n\
                - sample 50 % placed:stats/*";
    assert_eq!((preview.to_string(), loaded.to_string()), (text.to_owned(), text.to_owned()));
    assert_eq!(loaded.stays().collect::<Vec<_>>(), [&kept]);
    assert_eq!(loaded.ends().collect::<Vec<_>>(), first.begins().take(1).collect::<Vec<_>>());
    assert_eq!(kept.applied(), applied);
    assert_eq!(mail().breaker, Some(BreakerState::Open)); // what it has counted is kept
    hooks.fire_void::<Placed>(&placed()).await.unwrap();
    assert_eq!(mail().calls, 2);

    // A changed entry is a new setting, with a new breaker.
    let third = entry("placed:mail/*", "breaker = { consecutive = 2 }\nby = 'ops'");
    let loaded = load(&operator, &third).unwrap();
    assert_eq!((loaded.begins().count(), loaded.ends().count()), (1, 2));
    assert_eq!(mail().breaker, Some(BreakerState::Closed));

    let again = load(&operator, &third).unwrap();
    assert!(again.changes_nothing());
    assert_eq!(again.to_string(), loaded.to_string().lines().next().unwrap().replace('+', "="));
    // An empty file is no settings.
    assert_eq!(load(&operator, "").unwrap().ends().count(), 1);
    assert_eq!(operator.settings(), []);
    assert_eq!(load(&operator, "").unwrap().to_string(), "no settings");
}

#[test]
fn l34_the_order_of_the_file_counts_whichever_was_loaded_first() {
    let hooks = host();
    let operator = hooks.operator();
    let mode = || mode_of(&hooks, "total");
    let (all, one) = (
        entry("placed:stats/*", "mode = 'disable'"),
        entry("placed:stats/total", "mode = 'enforce'"),
    );
    load(&operator, &one).unwrap();
    assert_eq!(mode(), Mode::Enforce);
    // The new one comes before the one that stays.
    load(&operator, &format!("{all}{one}")).unwrap();
    assert_eq!(mode(), Mode::Enforce);
    assert_eq!(
        settings(&operator),
        ["file disable placed:stats/*", "file enforce placed:stats/total"]
    );
    // Turned around, both stay.
    let turned = format!("{one}{all}");
    let preview = operator.preview(&SettingsFile::parse(&turned)).unwrap();
    assert!(preview.is_reordered() && !preview.changes_nothing());
    assert_eq!(mode(), Mode::Enforce);
    let loaded = load(&operator, &turned).unwrap();
    assert_eq!(
        loaded.to_string(),
        "= line 3: enforce placed:stats/total\n= line 6: disable placed:stats/*\n\
         ~ those that stay count in another order",
    );
    assert_eq!(loaded.to_string(), preview.to_string());
    assert_eq!(mode(), Mode::Disable);
}

#[test]
fn l34_a_live_setting_counts_before_a_file_and_stays() {
    let hooks = host();
    let operator = hooks.operator();
    let live = operator.enforce("placed:stats/count").by("console").apply().unwrap();
    load(&operator, &entry("placed:stats/*", "mode = 'disable'")).unwrap();
    let modes = ["count", "total"].map(|name| mode_of(&hooks, name));
    assert_eq!(modes, [Mode::Enforce, Mode::Disable]);
    let loaded = load(&operator, &entry("placed:audit/*", "mode = 'disable'")).unwrap();
    assert_eq!((loaded.ends().count(), operator.setting(live.id())), (1, Some(live.clone())));
    assert_eq!(
        settings(&operator),
        ["file disable placed:audit/*", "live enforce placed:stats/count by console"]
    );
    // One of the file that was cleared is back with the next load.
    let of_file = loaded.begins().next().unwrap().id();
    operator.clear(of_file).unwrap();
    let again = load(&operator, &entry("placed:audit/*", "mode = 'disable'")).unwrap();
    assert_eq!(again.begins().count(), 1);
    assert_ne!(again.begins().next().unwrap().id(), of_file);
}

#[test]
fn l34_an_entry_whose_time_has_passed_is_listed_and_not_applied() {
    let hooks = host();
    let operator = hooks.operator();
    // Neither its target nor the rules matter any more, nor that another sets the same.
    let text = [
        entry("placed:gone/*", "mode = 'disable'\nuntil = 2020-01-01T00:00:00Z"),
        entry("placing:*", "mode = 'disable'\nuntil = 2020-01-01T00:00:00+01:00"),
        entry("placing:*", "mode = 'enforce'"),
    ]
    .concat();
    let preview = operator.preview(&SettingsFile::parse(&text)).unwrap();
    let loaded = load(&operator, &text).unwrap();
    assert_eq!(
        loaded.to_string(),
        "x line 3: disable placed:gone/*, until 2020-01-01T00:00:00Z, which has passed\n\
         x line 7: disable placing:*, until 2020-01-01T00:00:00+01:00, which has passed\n\
         + line 11: enforce placing:*",
    );
    assert_eq!(preview.to_string(), loaded.to_string());
    assert_eq!((preview.over().count(), loaded.over().count()), (2, 2));
    assert_eq!(settings(&operator), ["file enforce placing:*"]);
}

#[tokio::test(start_paused = true)]
async fn l34_an_end_of_a_file_is_kept_on_the_registrys_clock() {
    let hooks = host();
    let operator = hooks.operator();
    let text = entry("placed:stats/count", &format!("mode = 'disable'\nuntil = {}", in_days(3)));
    let loaded = load(&operator, &text).unwrap();
    let left = loaded.begins().next().unwrap().ends_in().unwrap();
    let day = Duration::from_secs(86_400);
    assert!(left > 2 * day && left <= 3 * day, "{left:?}");
    // Another end is another setting.
    let longer = load(&operator, &text.replace(&in_days(3), &in_days(4))).unwrap();
    assert_eq!((longer.begins().count(), longer.ends().count()), (1, 1));
    assert!(longer.begins().next().unwrap().ends_in().unwrap() > 3 * day);
    // So is one of another form.
    let glass = load(&operator, &format!("{text}why = 'noise'\n")).unwrap();
    assert_eq!((glass.begins().count(), glass.ends().count()), (1, 1));
    let glass = load(&operator, &format!("{text}why = 'noise'\nbreak_glass = true\n")).unwrap();
    assert_eq!((glass.begins().count(), glass.ends().count()), (1, 1));
    load(&operator, &text).unwrap();
    let count = || mode_of(&hooks, "count");
    assert_eq!(count(), Mode::Disable);
    tokio::time::advance(left).await;
    hooks.fire_void::<Placed>(&placed()).await.unwrap();
    assert_eq!((count(), operator.settings().len()), (Mode::Enforce, 0));
}

#[tokio::test]
async fn l35_a_file_opens_no_gate_by_the_way() {
    let hooks = host();
    let operator = hooks.operator();
    let order = || PlacingPayload { cents: 1 };
    let glass = format!("break_glass = true\nby = 'ops'\nwhy = 'sale'\nuntil = {}", in_days(2));
    for lines in [
        "mode = 'disable'",
        "mode = 'shadow'",
        "mode = 'warn'",
        "sample = 0.0",
        "on_failure = 'open'",
    ] {
        let text = entry("placing:limits/*", lines);
        let refused = load(&operator, &text).unwrap_err();
        let FileError::Mistakes { mistakes, .. } = &refused else { panic!() };
        assert!(
            matches!(
                mistakes[0].problem,
                FileProblem::Refused(OperatorError::NeedsBreakGlass { .. })
            ),
            "{lines}: {refused}",
        );
        assert!(matches!(hooks.fire_gating::<Placing>(order()).await.unwrap(), Gate::Rejected(_)));

        let loaded = load(&operator, &format!("{text}{glass}\n")).unwrap();
        assert!(loaded.begins().all(Setting::is_break_glass), "{lines}");
        let (_, report) = hooks.fire_gating_reported::<Placing>(order()).await;
        assert_eq!(report.break_glass().len(), 1, "{lines}");
        load(&operator, "").unwrap();
        let (_, report) = hooks.fire_gating_reported::<Placing>(order()).await;
        assert_eq!(report.break_glass().len(), 0);
    }
    // One entry that needs the form refuses the whole file.
    let text = entry("placed:stats/*", "mode = 'disable'") + &entry("*:*", "mode = 'disable'");
    assert!(load(&operator, &text).is_err());
    assert_eq!(operator.settings(), []);
    // A gate that comes later is not opened.
    load(&operator, &entry("*:late/*", "mode = 'disable'\neven_if_none = true")).unwrap();
    let late = on::<Placing>().plugin("late").name("no");
    hooks.register(late.guard(|_: &PlacingPayload| Judgement::reject("no"))).unwrap();
    assert_eq!(hooks.handlers_of("late")[0].mode, Mode::Enforce);
    // From then on the entry needs the form, also in a file that only adds another.
    let text = entry("*:late/*", "mode = 'disable'\neven_if_none = true");
    let refused = load(&operator, &(text + &entry("placed:stats/*", "sample = 0.5"))).unwrap_err();
    assert!(refused.to_string().contains("line 3, `mode`: `disable` of `placing:late/no`"));
    assert_eq!(settings(&operator), ["file disable *:late/*"]);
}

#[tokio::test]
async fn l34_a_fire_under_way_keeps_the_file_that_it_began_with() {
    let hooks = HookRegistry::new();
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waits = on::<Pricing>().name("first");
    let (inside, gate) = (Arc::clone(&entered), Arc::clone(&go_on));
    hooks
        .register(waits.handler(move |_: &PricingPayload| {
            let (inside, gate) = (Arc::clone(&inside), Arc::clone(&gate));
            async move {
                inside.notify_one();
                gate.notified().await;
                PricingResult::default()
            }
        }))
        .unwrap();
    for name in ["second", "third"] {
        let offer = on::<Pricing>().name(name);
        hooks.register(offer.handler(|_: &PricingPayload| PricingResult::default())).unwrap();
    }
    let operator = hooks.operator();
    load(&operator, &entry("pricing:second", "mode = 'disable'")).unwrap();
    let firing = hooks.clone();
    let fire = tokio::spawn(async move {
        firing.fire_modifying_reported::<Pricing>(&PricingPayload { cents: 1 }).await.1
    });
    entered.notified().await;
    load(&operator, &entry("pricing:third", "mode = 'disable'")).unwrap();
    go_on.notify_one();
    let report = fire.await.unwrap();
    let disabled = HandlerStatus::Filtered(SkipReason::Disabled);
    assert_eq!(report.handler("second").unwrap().status(), &disabled);
    assert_ne!(report.handler("third").unwrap().status(), &disabled);
}

/// Two files, each of which disables another handler: no fire sees both or neither.
#[test]
fn l34_a_load_is_one_change() {
    let hooks = HookRegistry::new();
    for name in ["one", "two"] {
        hooks.register(on::<Placed>().name(name).handler(|_: &PlacedPayload| ())).unwrap();
    }
    let operator = hooks.operator();
    let files = ["one", "two"]
        .map(|name| SettingsFile::parse(entry(&format!("placed:{name}"), "mode = 'disable'")));
    operator.load(&files[0]).unwrap();
    let (begin, is_done) = (Barrier::new(3), AtomicBool::new(false));
    std::thread::scope(|threads| {
        let fires: Vec<_> = (0..2)
            .map(|_| {
                threads.spawn(|| {
                    let mut seen = [0_usize; 2];
                    begin.wait();
                    while !is_done.load(SeqCst) {
                        let fire = hooks.fire_void_reported::<Placed>(&PlacedPayload { cents: 1 });
                        let (_, report) = futures::executor::block_on(fire);
                        let is_disabled = ["one", "two"].map(|name| {
                            let status = report.handler(name).unwrap().status();
                            status == &HandlerStatus::Filtered(SkipReason::Disabled)
                        });
                        assert!(is_disabled[0] != is_disabled[1], "{report}");
                        seen[usize::from(is_disabled[1])] += 1;
                    }
                    seen
                })
            })
            .collect();
        begin.wait();
        for round in 0..2_000 {
            operator.load(&files[(round + 1) % 2]).unwrap();
        }
        is_done.store(true, SeqCst);
        for fire in fires {
            fire.join().unwrap();
        }
    });
    assert_eq!(operator.settings().len(), 1);
}

#[derive(Clone, Debug, Default)]
struct Noted(Arc<Mutex<Vec<String>>>);

impl Observer for Noted {
    fn setting_began(&self, setting: &Setting) {
        self.0.lock().unwrap().push(format!("+ {setting}"));
    }

    fn setting_ended(&self, setting: &Setting, end: SettingEnd) {
        self.0.lock().unwrap().push(format!("- {setting} {end:?}"));
    }
}

#[test]
fn l34_observers_are_notified_of_what_begins_and_what_leaves() {
    let noted = Noted::default();
    let hooks = host_with(HookRegistry::builder().observer(noted.clone()));
    let operator = hooks.operator();
    let sample = entry("placed:stats/*", "sample = 0.5");
    load(&operator, &(sample.clone() + &entry("placed:mail/*", "mode = 'disable'"))).unwrap();
    noted.0.lock().unwrap().clear();
    load(&operator, &(sample.clone() + &entry("placed:audit/*", "mode = 'disable'"))).unwrap();
    load(&operator, "x = 1").unwrap_err();
    load(&operator, &sample).unwrap();
    assert_eq!(
        *noted.0.lock().unwrap(),
        [
            "- disable placed:mail/* LeftFile",
            "+ disable placed:audit/*",
            "- disable placed:audit/* LeftFile",
        ]
    );
}
