//! Replays of what nobody expects: handlers that hand over, values that were not captured,
//! recordings that were damaged or made up (L38).

mod replay_support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::observe::{ObservedFire, Observer};
use hooks_runtime::record::{CapturePolicy, Recorder};
use hooks_runtime::replay::{FireVerdict, Replay, ReplayReport, replay};
use hooks_runtime::{
    BeforeExecute, Finally, FlowContext, HookContext, HookRegistry, Judgement, Registration,
    Verdict, hook_points, on,
};
use replay_support::{Folder, record};
use serde_json::{Value, json};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// A parcel has arrived.
    pub void Arrived { parcel: u32 }
    /// Before a parcel leaves.
    pub gating Leaving { parcel: u32 }
    /// What a parcel is labelled with.
    pub modifying Labelling { parcel: u32 } -> { label: String, note: String }
    /// Who takes a parcel.
    pub claiming Taking(u32) -> String;
    /// What it weighs.
    pub gating Weighing { kilograms: f64 }
    /// What is in it.
    pub gating Packing { content: serde_json::Value }
    /// A parcel on its way.
    #[hook(name = "parcels:carry")]
    pub flow Carry(u32) -> u32;
}

fn replay_of(file: &Path, hooks: &HookRegistry) -> Replay {
    replay(file).catalogue(&points()).against(hooks)
}

fn verdicts(report: &ReplayReport) -> Vec<(String, FireVerdict)> {
    report.fires.iter().map(|fire| (fire.point.clone(), fire.verdict.clone())).collect()
}

fn cannot(reason: &str) -> FireVerdict {
    FireVerdict::Cannot { reason: reason.to_owned() }
}

/// L38: leaving a handler out never makes a circle of those that are left.
#[tokio::test]
async fn l38_a_handler_that_is_left_out_changes_no_meaning_of_an_order() {
    let hooks = HookRegistry::new();
    let pass = |_: &LeavingPayload| Verdict::<LeavingPayload>::Pass;
    let of = |name: &'static str| on::<Leaving>().name(name).pure();
    hooks.register(of("z").plugin("p").handler(pass)).unwrap();
    hooks.register(of("m").plugin("p").after("z").handler(pass)).unwrap();
    hooks.register(of("a").after("p/m").handler(pass)).unwrap();
    hooks.register(of("z").after("a").handler(pass)).unwrap();
    let (folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel: 1 }).await.unwrap();
    })
    .await;
    replay_of(&file, &hooks).assert_same().await;
    replay_of(&file, &hooks).without("leaving:p/z").assert_same().await;
    drop(folder);
}

async fn recorded(hooks: &HookRegistry, work: impl AsyncFnOnce()) -> (Folder, std::path::PathBuf) {
    let folder = Folder::new();
    let file = folder.file("day.jsonl");
    let recording = record(hooks, &points(), &file);
    work().await;
    recording.close().await;
    (folder, file)
}

/// L33, L38: a fire that a pure handler hands over is replayed by itself, once, to its end.
#[tokio::test(start_paused = true)]
async fn l33_a_fire_that_is_handed_over_is_replayed_to_its_end() {
    let registry = |refuse: bool| {
        let hooks = HookRegistry::new();
        hooks
            .register([
                on::<Leaving>().name("tells").pure().guard(
                    |_: &LeavingPayload, cx: &HookContext| {
                        cx.hooks().spawn_void::<Arrived>(ArrivedPayload { parcel: 1 });
                        Judgement::Pass
                    },
                ),
                on::<Leaving>().name("yields").pure().guard(async |_: &LeavingPayload| {
                    tokio::task::yield_now().await;
                    Judgement::Pass
                }),
                on::<Arrived>().name("slow").pure().handler_with(
                    refuse,
                    async |refuse: &bool, _: &ArrivedPayload| {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        if *refuse { Err("no") } else { Ok(()) }
                    },
                ),
            ])
            .unwrap();
        hooks
    };
    let hooks = registry(false);
    let (_folder, file) = recorded(&hooks, async || {
        for parcel in 0..3 {
            let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel }).await.unwrap();
        }
        hooks.settled().await.unwrap();
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (6, 6), "{report}");
    let report = replay_of(&file, &registry(true)).run().await.unwrap();
    let arrived = report.changed().filter(|fire| fire.point == "arrived");
    assert_eq!(arrived.filter(|fire| fire.by() == Some("slow")).count(), 3, "{report}");
}

/// L33, L38: what stands in for a handler in a fire that was handed over answers there, and
/// nothing else is less known for it.
#[tokio::test(start_paused = true)]
async fn l33_a_handler_in_the_background_is_stood_in_for() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Leaving>().name("tells").pure().guard(|_: &LeavingPayload, cx: &HookContext| {
                cx.hooks().spawn_void::<Arrived>(ArrivedPayload { parcel: 1 });
                Judgement::Pass
            }),
            on::<Leaving>().name("yields").pure().guard(async |_: &LeavingPayload| {
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
                Judgement::Pass
            }),
            on::<Arrived>().name("log").handler(|_: &ArrivedPayload| ()),
        ])
        .unwrap();
    let (_folder, file) = recorded(&hooks, async || {
        for parcel in 0..3 {
            let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel }).await.unwrap();
        }
        hooks.settled().await.unwrap();
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (6, 6), "{report}");
}

/// L19, L38: what a replay leaves undone is not under way for ever.
#[tokio::test(start_paused = true)]
async fn l19_a_replay_that_cannot_go_on_leaves_nothing_behind() {
    let registry = || {
        let hooks = HookRegistry::new();
        let tells = on::<Leaving>().name("tells").plugin("p").pure();
        hooks
            .register(tells.guard(|_: &LeavingPayload, cx: &HookContext| {
                cx.hooks().spawn_void::<Arrived>(ArrivedPayload { parcel: 1 });
                Judgement::Pass
            }))
            .unwrap();
        let pure = on::<Arrived>().name("pure").plugin("p").pure();
        hooks.register(pure.handler(|_: &ArrivedPayload| ())).unwrap();
        hooks
    };
    let hooks = registry();
    let (_folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel: 1 }).await.unwrap();
        hooks.settled().await.unwrap();
    })
    .await;
    let other = registry();
    let unknown = on::<Arrived>().name("unknown").priority(-1);
    other.register(unknown.handler(|_: &ArrivedPayload| -> () { panic!("not pure") })).unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    let reason = "`unknown` is not called, and it is not in the recording";
    let arrived = verdicts(&report).into_iter().find(|(point, _)| point == "arrived");
    assert_eq!(arrived, Some(("arrived".to_owned(), cannot(reason))), "{report}");
    let removal = other.unregister_plugin("p");
    tokio::time::timeout(Duration::from_secs(60), removal).await.expect("it ends");
}

/// L38: a number is the same when it is read again.
#[tokio::test]
async fn l38_numbers_are_what_they_were() {
    let hooks = HookRegistry::new();
    let odd = |payload: &WeighingPayload| {
        if payload.kilograms.to_bits().is_multiple_of(2) {
            Judgement::Pass
        } else {
            Judgement::reject(format!("{:x}", payload.kilograms.to_bits()))
        }
    };
    hooks.register(on::<Weighing>().name("odd").pure().guard(odd)).unwrap();
    let (_folder, file) = recorded(&hooks, async || {
        let mut bits = 0x3ff0_0000_0000_0001_u64;
        for _ in 0..2_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let kilograms = f64::from_bits(bits);
            if kilograms.is_finite() {
                let _ = hooks.fire_gating::<Weighing>(WeighingPayload { kilograms }).await.unwrap();
            }
        }
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!(report.same().count(), report.fires.len(), "{report}");
}

/// L38: an answer that was too large to be recorded is not known to be the same.
#[tokio::test]
async fn l38_an_answer_that_was_not_captured_is_not_called_the_same() {
    let registry = |end: &'static str| {
        let hooks = HookRegistry::new();
        let label = on::<Labelling>().name("label").pure();
        hooks
            .register(label.handler(move |_: &LabellingPayload| LabellingResult {
                label: Some(format!("{}{end}", "x".repeat(100))),
                note: None,
            }))
            .unwrap();
        let take = on::<Taking>().name("take").pure();
        hooks
            .register(take.handler(move |_: &u32| Some(format!("{}{end}", "x".repeat(100)))))
            .unwrap();
        let guard = on::<Leaving>().name("guard").pure();
        hooks
            .register(guard.guard(move |_: &LeavingPayload| {
                Judgement::reject(format!("{}{end}", "x".repeat(100)))
            }))
            .unwrap();
        hooks
    };
    let (hooks, folder) = (registry("a"), Folder::new());
    let file = folder.file("day.jsonl");
    let recorder = Recorder::to(&file).catalogue(&points()).capture("*", CapturePolicy::Full);
    let (recording, writer) = recorder.value_bytes(50).start(&hooks).unwrap();
    tokio::spawn(writer.run());
    let _ = hooks.fire_modifying::<Labelling>(&LabellingPayload { parcel: 1 }).await.unwrap();
    let _ = hooks.fire_claiming::<Taking>(&1).await.unwrap();
    let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel: 1 }).await.unwrap();
    recording.close().await;
    for hooks in [&hooks, &registry("b")] {
        let report = replay_of(&file, hooks).run().await.unwrap();
        let words: Vec<_> = report.fires.iter().map(|fire| fire.verdict.as_str()).collect();
        assert_eq!(words, ["cannot", "cannot", "cannot"], "{report}");
    }
}

/// L38: a stage whose run is not in the recording is not passed over in silence.
#[tokio::test]
async fn l38_every_fire_of_a_recording_is_in_the_report() {
    let hooks = HookRegistry::new();
    let checks = on::<BeforeExecute<Carry>>().name("checks").pure();
    hooks.register(checks.handler(|_: &mut FlowContext<Carry>| ())).unwrap();
    let ends = on::<Finally<Carry>>().name("ends").pure();
    hooks.register(ends.handler(|_: &mut FlowContext<Carry>| ())).unwrap();
    let (folder, file) = recorded(&hooks, async || {
        let operation = async |parcel: u32| Ok::<_, String>(parcel);
        hooks.flow::<Carry>().run(7, operation).await.unwrap();
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (1, 1), "{report}");
    // As after a kill: the run is the last to be recorded.
    let text = fs::read_to_string(&file).unwrap();
    let kept = text.lines().filter(|line| !line.contains(r#""point":"parcels:carry","#));
    let cut = folder.file("cut.jsonl");
    fs::write(&cut, kept.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let report = replay_of(&cut, &hooks).run().await.unwrap();
    let reason = "the run of the flow that it is part of is not in the recording";
    assert_eq!(report.fires.len(), 5, "{report}");
    assert!(report.fires.iter().all(|fire| fire.verdict == cannot(reason)), "{report}");
}

/// A pure handler that fires: a parcel is taken where it may leave.
fn asks() -> Registration {
    on::<Taking>().name("asks").pure().handler(async |parcel: &u32, cx: &HookContext| {
        let payload = LeavingPayload { parcel: *parcel };
        let gate = cx.hooks().fire_gating::<Leaving>(payload).await.unwrap();
        gate.into_result().is_ok().then(|| "gone".to_owned())
    })
}

/// L38: two runs of one name are two runs.
#[tokio::test]
async fn l38_runs_of_one_name_are_told_apart() {
    let registry = || {
        let hooks = HookRegistry::new();
        hooks.register(asks()).unwrap();
        let guard = on::<Leaving>().name("guard");
        hooks
            .register(guard.guard(|payload: &LeavingPayload| {
                if payload.parcel == 1 { Judgement::reject("no") } else { Judgement::Pass }
            }))
            .unwrap();
        hooks
    };
    let folder = Folder::new();
    let file = folder.file("day.jsonl");
    for parcel in [1, 2] {
        let hooks = registry();
        let recorder = Recorder::to(&file).run("nightly").catalogue(&points());
        let (recording, writer) = recorder.capture("*", CapturePolicy::Full).start(&hooks).unwrap();
        tokio::spawn(writer.run());
        let _ = hooks.fire_claiming::<Taking>(&parcel).await.unwrap();
        recording.close().await;
    }
    // As of two processes, in each of which numbers begin anew.
    for file in [file.clone(), folder.file("day.jsonl.1")] {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let first = lines.iter().filter_map(|line| line["fire"].as_u64()).min().unwrap();
        for line in &mut lines {
            for key in ["fire", "parent"] {
                if let Some(number) = line[key].as_u64() {
                    line[key] = json!(number - first + 1);
                }
            }
        }
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    let report = replay_of(&file, &registry()).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (4, 4), "{report}");
}

/// L38: handlers of a point at which a handler fires come and go as they did there.
#[tokio::test]
async fn l38_handlers_of_nested_fires_come_and_go_as_they_did() {
    let registry = || {
        let hooks = HookRegistry::new();
        hooks.register(asks()).unwrap();
        hooks
    };
    let late = || {
        let guard = on::<Leaving>().name("late").pure();
        guard.guard(|_: &LeavingPayload| Judgement::reject("late"))
    };
    let hooks = registry();
    let (_folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_claiming::<Taking>(&1).await.unwrap();
        hooks.register(late()).unwrap();
        let _ = hooks.fire_claiming::<Taking>(&1).await.unwrap();
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (4, 4), "{report}");
}

/// L38: a fire that a pure handler makes and did not make is a difference.
#[tokio::test]
async fn l38_a_nested_fire_that_is_new_is_a_difference() {
    let registry = |fires: u32| {
        let hooks = HookRegistry::new();
        let asks = on::<Taking>().name("asks").pure();
        hooks
            .register(asks.handler_with(
                fires,
                async |fires: &u32, parcel: &u32, cx: &HookContext| {
                    for _ in 0..*fires {
                        let payload = LeavingPayload { parcel: *parcel };
                        let _ = cx.hooks().fire_gating::<Leaving>(payload).await.unwrap();
                    }
                    Some("gone".to_owned())
                },
            ))
            .unwrap();
        let guard = on::<Leaving>().name("guard").pure();
        hooks.register(guard.guard(|_: &LeavingPayload| Judgement::Pass)).unwrap();
        hooks
    };
    let hooks = registry(1);
    let (_folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_claiming::<Taking>(&1).await.unwrap();
    })
    .await;
    replay_of(&file, &hooks).assert_same().await;
    let report = replay_of(&file, &registry(2)).run().await.unwrap();
    let changed: Vec<_> = report.changed().map(|fire| (&*fire.point, fire.by())).collect();
    assert_eq!(changed, [("taking", Some("asks"))], "{report}");
    let difference = &report.changed().next().unwrap().differences[0];
    assert_eq!(difference.to_string(), "fired     asks: not there -> fires `leaving`");
}

/// What a handler that is called fires, in order: parcels that leave, and parcels to be packed.
fn fires(what: &[(&'static str, u32)]) -> HookRegistry {
    let (hooks, what) = (HookRegistry::new(), what.to_vec());
    let asks = on::<Taking>().name("asks").pure();
    hooks
        .register(asks.handler_with(what, async |what: &Vec<_>, _: &u32, cx: &HookContext| {
            for (point, parcel) in what.iter().copied() {
                if point == "leaving" {
                    let payload = LeavingPayload { parcel };
                    let _ = cx.hooks().fire_gating::<Leaving>(payload).await.unwrap();
                } else {
                    let payload = PackingPayload { content: json!(parcel) };
                    let _ = cx.hooks().fire_gating::<Packing>(payload).await.unwrap();
                }
            }
            Some("gone".to_owned())
        }))
        .unwrap();
    let guard = on::<Leaving>().name("guard").pure();
    hooks.register(guard.guard(|_: &LeavingPayload| Judgement::Pass)).unwrap();
    let guard = on::<Packing>().name("guard").pure();
    hooks.register(guard.guard(|_: &PackingPayload| Judgement::Pass)).unwrap();
    hooks
}

/// L38: so is one that it makes no longer, in another order, or with another payload; the fires
/// themselves are replayed by themselves where nobody makes them.
#[tokio::test]
async fn l38_nested_fires_that_are_gone_moved_or_about_something_else_are_differences() {
    let all: &[_] = &[("leaving", 1), ("packing", 2), ("leaving", 3)];
    let hooks = fires(all);
    let (folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_claiming::<Taking>(&1).await.unwrap();
    })
    .await;
    replay_of(&file, &fires(all)).assert_same().await;
    let difference = async |file: &Path, what: &[_]| {
        let report = replay_of(file, &fires(what)).run().await.unwrap();
        assert_eq!((report.cannot().count(), report.fires.len() > 3), (0, true), "{report}");
        let changed: Vec<_> = report.changed().collect();
        assert!(changed.len() < 2, "{report}");
        changed.first().map(|fire| {
            assert_eq!((&*fire.point, fire.by()), ("taking", Some("asks")));
            assert_eq!(fire.differences.len(), 1, "one of each handler");
            fire.differences[0].to_string()
        })
    };
    let gone = Some("fired     asks: fires `leaving` -> not there".to_owned());
    assert_eq!(difference(&file, &all[..2]).await, gone);
    let moved = Some("fired     asks: fires `packing` -> fires `leaving`".to_owned());
    assert_eq!(difference(&file, &[all[0], all[2], all[1]]).await, moved);
    let other = "fired     asks: fires `leaving` with {\"parcel\":3} -> fires `leaving` with \
                 {\"parcel\":4}";
    let about = &[("leaving", 1), ("packing", 2), ("leaving", 4)];
    assert_eq!(difference(&file, about).await, Some(other.to_owned()));

    // A recording from before that was noted: it is not known who made them.
    let text = std::fs::read_to_string(&file).unwrap();
    let call = r#","parent_call":"#;
    let older: Vec<_> = text
        .split(call)
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { &part[part.find(',').unwrap()..] })
        .collect();
    let file = folder.file("older.jsonl");
    std::fs::write(&file, older.concat()).unwrap();
    assert_eq!(difference(&file, all).await, None);
    assert_eq!(difference(&file, &all[..2]).await, None);
    let new = &[all[0], all[1], all[2], all[0]];
    let added = Some("fired     asks: not there -> fires `leaving`".to_owned());
    assert_eq!(difference(&file, new).await, added);
}

/// L38: a fire says which call has made it, also where calls run at the same time or wait.
#[tokio::test]
async fn l38_a_fire_names_the_call_that_made_it() {
    let hooks = HookRegistry::new();
    let sends = |name: &'static str| {
        on::<Arrived>().name(name).handler(async |_: &ArrivedPayload, cx: &HookContext| {
            for _ in 0..2 {
                tokio::task::yield_now().await;
                let parcel = cx.handler().len() as u32;
                let payload = LeavingPayload { parcel };
                let _ = cx.hooks().fire_gating::<Leaving>(payload).await.unwrap();
            }
        })
    };
    hooks.register([sends("a"), sends("bb"), sends("ccc")]).unwrap();
    let asks = on::<Leaving>().name("asks").guard(async |_: &LeavingPayload, cx: &HookContext| {
        tokio::task::yield_now().await;
        let _ = cx.hooks().fire_claiming::<Taking>(&1).await.unwrap();
        Judgement::Pass
    });
    hooks.register(asks).unwrap();
    let (_folder, file) = recorded(&hooks, async || {
        hooks.fire_void::<Arrived>(&ArrivedPayload { parcel: 1 }).await.unwrap();
    })
    .await;
    let fires: Vec<_> =
        hooks_runtime::record::Reader::open(&file).unwrap().fires().map(Result::unwrap).collect();
    let maker = |fire: &hooks_runtime::record::RecordedFire| {
        let parent = fires.iter().find(|it| Some(it.fire.fire) == fire.fire.parent)?;
        let call = parent.calls.iter().find(|it| it.call == fire.fire.parent_call)?;
        Some((parent.fire.point.clone(), call.handler.clone()))
    };
    for fire in &fires {
        match &*fire.fire.point {
            "arrived" => assert_eq!((fire.fire.parent, fire.fire.parent_call), (None, None)),
            "leaving" => {
                let (point, handler) = maker(fire).unwrap();
                assert_eq!(point, "arrived");
                let parcel = fire.fire.payload.value().unwrap()["parcel"].as_u64().unwrap();
                assert_eq!(handler.len() as u64, parcel);
            }
            _ => assert_eq!(maker(fire).unwrap(), ("leaving".to_owned(), "asks".to_owned())),
        }
    }
    assert_eq!(fires.len(), 1 + 6 + 6);
}

/// L38: what is recorded of a payload can be read, however deep it is.
#[tokio::test]
async fn l38_a_payload_that_is_too_deep_to_be_read_is_not_written() {
    let hooks = HookRegistry::new();
    let deep = on::<Packing>().name("deep").pure();
    hooks.register(deep.guard(|_: &PackingPayload| Judgement::Pass)).unwrap();
    let (_folder, file) = recorded(&hooks, async || {
        // The payload is one more.
        for depth in [1, 100, 110, 119, 120, 124, 126, 128, 500] {
            let mut content = json!(1);
            for _ in 0..depth {
                content = json!([content]);
            }
            let _ = hooks.fire_gating::<Packing>(PackingPayload { content }).await.unwrap();
        }
    })
    .await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((&report.unread[..], report.fires.len()), (&[][..], 9), "{report}");
    let reason = "its payload is not captured: JSON within JSON, more than 120 times";
    let verdicts: Vec<_> = report.fires.iter().map(|fire| fire.verdict.clone()).collect();
    let (same, too_deep) = verdicts.split_at(4);
    assert!(same.iter().all(|verdict| *verdict == FireVerdict::Same), "{report}");
    assert!(too_deep.iter().all(|verdict| *verdict == cannot(reason)), "{report}");
}

#[derive(Debug)]
struct Counts(Arc<AtomicUsize>);

impl Observer for Counts {
    fn fire_started(&self, _: &ObservedFire) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// L38: whatever is done to a recording, nothing panics, no handler is called that is not pure,
/// and nothing happens in the registry, nor in the recording of it that is under way.
#[tokio::test]
async fn l38_a_recording_that_was_edited_does_no_harm() {
    let (observed, impure) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let hooks = HookRegistry::builder().observer(Counts(observed.clone())).build();
    let count = || {
        let impure = impure.clone();
        move || impure.fetch_add(1, Ordering::Relaxed)
    };
    let (one, two, three, four, five) = (count(), count(), count(), count(), count());
    hooks
        .register([
            on::<Arrived>().name("log").plugin("audit").handler(move |_: &ArrivedPayload| {
                one();
            }),
            on::<Leaving>().name("asks").plugin("p").pure().handler(
                async |payload: &LeavingPayload, cx: &HookContext| {
                    let _ = cx.hooks().fire_claiming::<Taking>(&payload.parcel).await;
                    Verdict::Replace(LeavingPayload { parcel: payload.parcel + 1 })
                },
            ),
            on::<Leaving>().name("last").plugin("audit").guard(move |_: &LeavingPayload| {
                two();
                Judgement::reject("no")
            }),
            on::<Labelling>().name("label").plugin("audit").handler(move |_: &LabellingPayload| {
                three();
                LabellingResult { label: Some("a".into()), note: None }
            }),
            on::<Taking>().name("take").plugin("audit").handler(move |_: &u32| {
                four();
                Some("x".to_owned())
            }),
            on::<BeforeExecute<Carry>>()
                .name("before")
                .pure()
                .handler(|_: &mut FlowContext<Carry>| ()),
            on::<Finally<Carry>>().name("finally").plugin("audit").handler(
                move |_: &mut FlowContext<Carry>| {
                    five();
                },
            ),
        ])
        .unwrap();
    let (folder, file) = recorded(&hooks, async || {
        hooks.fire_void::<Arrived>(&ArrivedPayload { parcel: 1 }).await.unwrap();
        let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel: 1 }).await.unwrap();
        let _ = hooks.fire_modifying::<Labelling>(&LabellingPayload { parcel: 1 }).await.unwrap();
        let operation = async |parcel: u32| Ok::<_, String>(parcel);
        hooks.flow::<Carry>().run(7, operation).await.unwrap();
    })
    .await;
    let before = (observed.load(Ordering::Relaxed), impure.load(Ordering::Relaxed));
    let counted = |hooks: &HookRegistry| -> Vec<_> {
        let handlers = hooks.handlers();
        handlers.iter().map(|it| (it.calls, it.failures, it.skips)).collect()
    };
    let counts = counted(&hooks);
    let live = record(&hooks, &points(), &folder.file("live.jsonl"));

    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let edited = folder.file("edited.jsonl");
    let mut tried = 0;
    // The header is as long as all the others.
    for at in 1..lines.len() {
        for pointer in pointers(&lines[at]) {
            let with = [
                json!(null),
                json!(-1),
                json!(u64::MAX),
                json!("\u{1b}[31m"),
                json!([]),
                json!({"kind": "full", "value": {"verdict": "replace"}}),
            ];
            for with in with {
                let mut lines = lines.clone();
                *lines[at].pointer_mut(&pointer).unwrap() = with;
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                fs::write(&edited, text).unwrap();
                tried += 1;
                let replay = replay_of(&edited, &hooks);
                let replay = if tried % 2 == 1 { replay.recompose() } else { replay };
                let shown = replay.run().await.unwrap().to_string();
                assert!(!shown.contains('\u{1b}'), "{pointer} {shown}");
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert_eq!((observed.load(Ordering::Relaxed), impure.load(Ordering::Relaxed)), before);
    assert_eq!(counted(&hooks), counts);
    assert_eq!(live.close().await.fires, 0);
}

fn pointers(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| -> Vec<String> {
        let key = key.replace('~', "~0").replace('/', "~1");
        let mut all = vec![format!("/{key}")];
        all.extend(pointers(value).into_iter().map(|it| format!("/{key}{it}")));
        all
    };
    match value {
        Value::Object(map) => map.iter().flat_map(|(key, value)| below(key, value)).collect(),
        Value::Array(values) => {
            let values = values.iter().enumerate();
            values.flat_map(|(at, value)| below(&at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// L12, L14, L25: a pure handler may panic, wait for ever or be dropped with its replay.
#[tokio::test(start_paused = true)]
async fn l14_pure_handlers_that_panic_or_wait_are_handlers() {
    let registry = |how: u32| {
        let hooks = HookRegistry::new();
        let waits = on::<Leaving>().name("waits").pure().timeout(Duration::from_secs(5));
        hooks
            .register(waits.guard_with(how, async |how: &u32, _: &LeavingPayload| match how {
                0 => Judgement::Pass,
                1 => panic!("planned"),
                _ => std::future::pending().await,
            }))
            .unwrap();
        hooks
    };
    let hooks = registry(0);
    let (_folder, file) = recorded(&hooks, async || {
        let _ = hooks.fire_gating::<Leaving>(LeavingPayload { parcel: 1 }).await.unwrap();
    })
    .await;
    for how in [1, 2] {
        let other = registry(how);
        let report = replay_of(&file, &other).run().await.unwrap();
        assert_eq!(report.changed().next().unwrap().by(), Some("waits"));
        let cut = replay_of(&file, &other);
        let _ = tokio::time::timeout(Duration::from_secs(1), cut.run()).await;
        other.register(on::<Taking>().name("x").handler(|_: &u32| None::<String>)).unwrap();
        assert_eq!(other.handlers_at::<Leaving>()[0].calls, 0);
    }
    // From inside of a handler, and at the same time.
    let other = registry(0);
    let (inside, path) = (other.clone(), file.clone());
    other
        .register(on::<Arrived>().name("replays").handler_with(
            (path, inside),
            async |it: &(std::path::PathBuf, HookRegistry), _: &ArrivedPayload| {
                let (path, inside) = it;
                let (one, two) = (replay_of(path, inside), replay_of(path, inside));
                let (one, two) = tokio::join!(one.run(), two.run());
                assert_eq!(one.unwrap().same().count() + two.unwrap().same().count(), 2);
                Ok::<_, String>(())
            },
        ))
        .unwrap();
    let report = other.fire_void::<Arrived>(&ArrivedPayload { parcel: 1 }).await;
    report.unwrap();
    assert_eq!(other.handlers_at::<Arrived>()[0].failures, 0);
}
