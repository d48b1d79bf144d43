//! Recorded fires, replayed against a registry.

mod replay_support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::record::{CapturePolicy, Part, Recorder};
use hooks_runtime::replay::{DifferenceKind, FireVerdict, ReplayReport, replay};
use hooks_runtime::{
    AfterExecute, BeforeExecute, Claim, FlowContext, Gate, HookContext, HookRegistry, Judgement,
    OnError, Plugins, Verdict, hook_points, on,
};
use replay_support::{Folder, record, record_as};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// A command was run.
    pub void Ran { line: String }
    /// Before a command is run.
    pub gating Running { line: String }
    /// What goes with a command.
    pub modifying Dressing { line: String } -> { shell: String, folder: String }
    /// Who runs a command.
    pub claiming Routing(String) -> String;
    /// One command, stage by stage.
    #[hook(name = "commands:run")]
    pub flow Run(String) -> u32;
}

/// Points of another crate.
mod elsewhere {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", catalogue = pub fn points)]

        /// A bell rang.
        pub void Rang { bell: u32 }
    }
}

fn running(line: &str) -> RunningPayload {
    RunningPayload { line: line.into() }
}

fn no_rm(command: &RunningPayload) -> Judgement {
    if command.line.starts_with("rm") { Judgement::reject("no") } else { Judgement::Pass }
}

fn trim(command: &RunningPayload) -> Verdict<RunningPayload> {
    let line = command.line.trim();
    if line == command.line { Verdict::Pass } else { Verdict::Replace(running(line)) }
}

/// A registry with pure handlers and others at every model, whose calls are counted.
fn registry(calls: &Arc<AtomicUsize>) -> HookRegistry {
    let hooks = HookRegistry::new();
    let count = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        move || {
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (ran, loud, dressed, routed) = (count(calls), count(calls), count(calls), count(calls));
    let safety = || on::<Running>().plugin("safety");
    hooks
        .register([
            on::<Ran>().name("log").plugin("audit").handler(move |_: &RanPayload| ran()),
            on::<Ran>()
                .name("broken")
                .plugin("audit")
                .handler(|_: &RanPayload| Err::<(), _>("no disk")),
            safety().name("trim").pure().handler(trim),
            safety().name("no_rm").pure().guard(no_rm),
            on::<Running>().name("loud").plugin("audit").guard(move |command: &RunningPayload| {
                loud();
                if command.line == "shout" {
                    Judgement::reject("too loud")
                } else {
                    Judgement::Pass
                }
            }),
            on::<Dressing>().name("shell").pure().handler(|_: &DressingPayload| DressingResult {
                shell: Some("sh".into()),
                folder: None,
            }),
            on::<Dressing>().name("rest").plugin("audit").handler(
                move |command: &DressingPayload| {
                    dressed();
                    DressingResult {
                        shell: Some("fish".into()),
                        folder: Some(command.line.clone()),
                    }
                },
            ),
            on::<Routing>().name("far").plugin("audit").handler(move |line: &String| {
                routed();
                line.starts_with("ssh").then(|| "far".to_owned())
            }),
            on::<Routing>().name("near").pure().handler(|_: &String| Some("near".to_owned())),
        ])
        .unwrap();
    hooks
}

/// Fires at every point.
async fn day(hooks: &HookRegistry) {
    for line in ["ls", " rm -r .", "shout", "ssh far"] {
        let _ = hooks.fire_void::<Ran>(&RanPayload { line: line.into() }).await;
        let gate = hooks.fire_gating::<Running>(running(line)).await.unwrap();
        let _ = matches!(gate, Gate::Passed(_));
        let dressing = DressingPayload { line: line.into() };
        let _ = hooks.fire_modifying::<Dressing>(&dressing).await.unwrap();
        let claim = hooks.fire_claiming::<Routing>(&line.to_owned()).await.unwrap();
        let _ = matches!(claim, Claim::Claimed(_));
    }
}

/// Which fires differ, and by whom.
fn changed(report: &ReplayReport) -> Vec<(String, String)> {
    let payload = |fire: &hooks_runtime::replay::FireReplay| {
        let payload = fire.payload.clone().unwrap();
        payload.get("line").unwrap_or(&payload).as_str().unwrap().to_owned()
    };
    report.changed().map(|fire| (payload(fire), fire.by().unwrap().to_owned())).collect()
}

/// L38: a replay calls what is declared pure and nothing else, finds no difference, and
/// leaves the registry as it was.
#[tokio::test]
async fn l38_a_recorded_day_is_the_same_and_calls_only_what_is_pure() {
    let (folder, calls) = (Folder::new(), Arc::default());
    let (hooks, file) = (registry(&calls), folder.file("day.jsonl"));
    let recording = record(&hooks, &points(), &file);
    day(&hooks).await;
    assert_eq!(recording.close().await.fires, 16);
    let counted = |hooks: &HookRegistry| -> Vec<_> {
        let handlers = hooks.handlers();
        handlers.iter().map(|it| (it.calls, it.failures, it.skips)).collect()
    };
    let (before, called) = (counted(&hooks), calls.load(Ordering::Relaxed));

    let replay = replay(&file).catalogue(&points()).against(&hooks);
    let report = replay.run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (16, 16), "{report}");
    replay.assert_same().await;
    replay.clone().recompose().assert_same().await;
    assert_eq!(counted(&hooks), before);
    assert_eq!(calls.load(Ordering::Relaxed), called);

    // Against another registry of the same handlers too, as in another process.
    let (others, fresh) = (Arc::default(), Arc::default());
    let other = registry(&others);
    replay_of(&file, &other).assert_same().await;
    assert_eq!(others.load(Ordering::Relaxed), 0);
    replay_of(&file, &registry(&fresh)).call("audit/rest").assert_same().await;
    assert_eq!(fresh.load(Ordering::Relaxed), 4);
}

fn replay_of(file: &std::path::Path, hooks: &HookRegistry) -> hooks_runtime::replay::Replay {
    replay(file).catalogue(&points()).against(hooks)
}

async fn recorded_day(hooks: &HookRegistry) -> (Folder, std::path::PathBuf) {
    let folder = Folder::new();
    let file = folder.file("day.jsonl");
    let recording = record(hooks, &points(), &file);
    day(hooks).await;
    recording.close().await;
    (folder, file)
}

/// L38: without a plugin exactly those fires differ in which it had an effect.
#[tokio::test]
async fn l38_without_a_plugin_what_it_did_differs() {
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;
    let report = replay_of(&file, &hooks).without("safety").run().await.unwrap();
    assert_eq!(changed(&report), [(" rm -r .".to_owned(), "safety/trim".to_owned())]);
    let fire = report.changed().next().unwrap();
    // What was after the rejection was never asked.
    let FireVerdict::Changed { unknown: Some(unknown), .. } = &fire.verdict else { panic!() };
    assert_eq!(unknown, "`audit/loud` is not called, and it was not called then (after_rejection)");
    assert_eq!(fire.differences.len(), 2); // with the rejection

    let report = replay_of(&file, &hooks).without("running:safety/no_rm").run().await.unwrap();
    assert_eq!(changed(&report), [(" rm -r .".to_owned(), "safety/no_rm".to_owned())]);
    let fire = report.changed().next().unwrap();
    let number = fire.fire;
    assert_eq!(
        fire.to_string(),
        format!(
            "fire {number} of `running` with {{\"line\":\" rm -r .\"}}\n  removed   safety/no_rm: \
             rejected: no -> not there\n  and then it is not known: `audit/loud` is not called, and it \
             was not called then (after_rejection)",
        )
    );
    let report = replay_of(&file, &hooks)
        .without("running:safety/no_rm")
        .call("running:audit/loud")
        .run()
        .await
        .unwrap();
    assert_eq!(changed(&report), [(" rm -r .".to_owned(), "safety/no_rm".to_owned())]);
    let kinds: Vec<_> =
        report.changed().next().unwrap().differences.iter().map(|it| it.kind).collect();
    use DifferenceKind::{Called, Outcome, Removed};
    assert_eq!(kinds, [Removed, Called, Outcome]);
    assert_eq!(report.counts(), BTreeMap::from([(Removed, 1), (Called, 1), (Outcome, 1)]));
}

/// L38, L35: a handler that fails closed ends the fires in which it failed open.
#[tokio::test]
async fn l38_a_tightened_handler_fails_closed() {
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;
    let report = replay_of(&file, &hooks).tighten("audit/broken").run().await.unwrap();
    assert_eq!(report.changed().count(), 4);
    for fire in report.changed() {
        assert_eq!((fire.by(), &*fire.point), (Some("audit/broken"), "ran"));
        assert_eq!(fire.replayed.as_ref().unwrap().outcome, "failed");
    }
    let report = replay_of(&file, &hooks).tighten("audit/broken").recompose().run().await.unwrap();
    assert_eq!(report.changed().count(), 4);
}

/// L36, L38: out of shadow a guard rejects exactly what it would have rejected.
#[tokio::test]
async fn l36_a_guard_lifted_out_of_shadow_rejects_what_it_would_have_rejected() {
    let hooks = registry(&Arc::default());
    let operator = hooks.operator();
    let shadow = operator.shadow("running:safety/no_rm").break_glass("a trial");
    shadow.until(Duration::from_secs(600)).apply().unwrap();
    let (_folder, file) = recorded_day(&hooks).await;
    replay_of(&file, &hooks).assert_same().await;
    for recompose in [false, true] {
        let lifted = replay_of(&file, &hooks).shadow_lifted("safety/no_rm");
        let lifted = if recompose { lifted.recompose() } else { lifted };
        let report = lifted.run().await.unwrap();
        assert_eq!(changed(&report), [(" rm -r .".to_owned(), "safety/no_rm".to_owned())]);
        let fire = report.changed().next().unwrap();
        assert_eq!(
            (&*fire.recorded.outcome, fire.replayed.as_ref().unwrap().outcome.as_str()),
            ("passed", "rejected")
        );
        assert_eq!(fire.differences[0].kind, DifferenceKind::Effect);
        assert_eq!(
            fire.differences[0].to_string(),
            "effect    safety/no_rm: in shadow: rejected: no -> rejected: no"
        );
        assert!(
            fire.differences[1].follows
                && fire.differences[1].handler.as_deref() == Some("audit/loud")
        );
    }
}

/// L38: other answers, another order, a handler that is new or gone.
#[tokio::test]
async fn l38_every_change_of_a_handler_is_shown_and_named() {
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;

    let other = registry(&Arc::default());
    let shell = on::<Dressing>().name("shell").replace().pure();
    other
        .register(shell.handler(|_: &DressingPayload| DressingResult {
            shell: Some("zsh".into()),
            folder: None,
        }))
        .unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    assert_eq!(report.counts(), BTreeMap::from([(DifferenceKind::Answer, 4)]));
    assert!(report.changed().all(|fire| fire.by() == Some("shell")));

    // Without a call nothing of the new one is known.
    let report = replay_of(&file, &other).recompose().run().await.unwrap();
    assert_eq!(report.same().count(), 16);

    // Another order: the first value wins.
    let other = registry(&Arc::default());
    let shell = on::<Dressing>().name("shell").replace().pure().priority(9);
    other
        .register(shell.handler(|_: &DressingPayload| DressingResult {
            shell: Some("sh".into()),
            folder: None,
        }))
        .unwrap();
    let report = replay_of(&file, &other).recompose().run().await.unwrap();
    let fire = report.changed().next().unwrap();
    assert_eq!(report.changed().count(), 4);
    let texts: Vec<_> = fire.differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "decision  audit/rest: set folder -> set shell, folder",
            "decision  shell: set shell -> ran"
        ]
    );

    // New ones: what is pure is called, what is not cannot be.
    let other = registry(&Arc::default());
    other
        .register(on::<Running>().name("new").pure().guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    replay_of(&file, &other).assert_same().await;
    other
        .register(on::<Routing>().name("unknown").priority(-1).handler(|_: &String| None::<String>))
        .unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    let reasons: Vec<_> =
        report.cannot().map(|fire| (&*fire.point, fire.verdict.clone())).collect();
    let reason = "`unknown` is not called, and it is not in the recording".to_owned();
    assert_eq!(reasons, vec![("routing", FireVerdict::Cannot { reason }); 4]);
    replay_of(&file, &other).call("unknown").assert_same().await;
}

/// L38: what was not captured is not guessed.
#[tokio::test]
async fn l38_what_was_not_captured_cannot_be_replayed() {
    for (policy, expected) in [
        (
            CapturePolicy::None,
            "its payload is not captured: the point has no capture policy that allows it; \
             `Recorder::capture` gives one",
        ),
        (CapturePolicy::Hash, "of its payload only the digest is recorded"),
        (CapturePolicy::redacted(|_, _, _| ()), "its payload is redacted"),
    ] {
        let (hooks, folder) = (registry(&Arc::default()), Folder::new());
        let file = folder.file("day.jsonl");
        let recording = record_as(&hooks, &points(), &file, policy);
        day(&hooks).await;
        recording.close().await;
        let report = replay_of(&file, &hooks).run().await.unwrap();
        assert_eq!(report.cannot().count(), 16);
        for fire in report.cannot() {
            assert_eq!(fire.verdict, FireVerdict::Cannot { reason: expected.to_owned() });
        }
    }
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;
    let report = replay(&file).against(&hooks).run().await.unwrap();
    let reason =
        "`ran` is in no catalogue that the replay was given; `Recorded::catalogue` gives one";
    let reason = reason.to_owned();
    assert_eq!(report.fires[0].verdict, FireVerdict::Cannot { reason });
    // Of a point that is in no catalogue of the recorder there are no payloads.
    let (folder, hooks) = (Folder::new(), registry(&Arc::default()));
    let file = folder.file("bare.jsonl");
    let recorder = Recorder::to(&file).catalogue(&elsewhere::points());
    let recorder = recorder.capture("*", CapturePolicy::Full);
    let (recording, writer) = recorder.start(&hooks).unwrap();
    tokio::spawn(writer.run());
    day(&hooks).await;
    recording.close().await;
    let bare = replay_of(&file, &hooks).run().await.unwrap();
    let reason = "its payload is not captured: no catalogue with JSON has the point; \
                  `Recorder::catalogue` gives one";
    assert_eq!(bare.fires[0].verdict, FireVerdict::Cannot { reason: reason.to_owned() });
    // It is printed too, each reason once.
    let printed = report.to_string();
    let first =
        "16 fires: 0 same, 0 changed, 16 could not be replayed\n  4 could not be replayed: `";
    assert!(printed.starts_with(first), "{printed}");
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

/// L38: scopes are those that were recorded, and handlers come and go as they did.
#[tokio::test]
async fn l38_scopes_and_handlers_that_come_and_go_are_as_they_were() {
    let (hooks, folder) = (registry(&Arc::default()), Folder::new());
    let file = folder.file("day.jsonl");
    let recording = record(&hooks, &points(), &file);
    let lists =
        [Plugins::All, Plugins::BuiltIn, Plugins::only(["audit"]), Plugins::except(["audit"])];
    for plugins in lists {
        let scoped = hooks.scope(plugins);
        let _ = scoped.fire_gating::<Running>(running(" rm")).await.unwrap();
    }
    let pure = on::<Running>().name("visitor").plugin("visitor").pure();
    hooks.register(pure.guard(|_: &RunningPayload| Judgement::reject("not now"))).unwrap();
    let once = on::<Running>().name("once").once().pure();
    hooks.register(once.handler(|_: &RunningPayload| Verdict::Replace(running("once")))).unwrap();
    for _ in 0..2 {
        let _ = hooks.fire_gating::<Running>(running("ls")).await.unwrap();
    }
    hooks.unregister_plugin("visitor").await;
    let _ = hooks.fire_gating::<Running>(running("ls")).await.unwrap();
    recording.close().await;

    // As in another process, with all of them registered.
    let other = registry(&Arc::default());
    let pure = on::<Running>().name("visitor").plugin("visitor").pure();
    other.register(pure.guard(|_: &RunningPayload| Judgement::reject("not now"))).unwrap();
    let once = on::<Running>().name("once").once().pure();
    other.register(once.handler(|_: &RunningPayload| Verdict::Replace(running("once")))).unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    assert_eq!(report.same().count(), 7, "{report}");
    assert_eq!(other.handlers_of("visitor")[0].calls, 0);
}

/// L38: what a pure handler fires goes to the copy, and is compared as part of it.
#[tokio::test]
async fn l38_fires_of_pure_handlers_are_part_of_the_replay() {
    let nested = |verdict: &'static str| {
        let hooks = registry(&Arc::default());
        let asks = on::<Routing>().name("asks").priority(-1).pure();
        hooks
            .register(asks.handler(async |line: &String, cx: &HookContext| {
                let gate = cx.hooks().fire_gating::<Running>(running(line)).await?;
                Ok::<_, hooks_runtime::FireError>(match gate {
                    Gate::Passed(_) => None,
                    Gate::Rejected(_) => Some("nobody".to_owned()),
                })
            }))
            .unwrap();
        let judge = on::<Running>().name("judge").pure().priority(-5);
        hooks
            .register(judge.guard(move |command: &RunningPayload| {
                if command.line == verdict { Judgement::reject("judged") } else { Judgement::Pass }
            }))
            .unwrap();
        hooks
    };
    let hooks = nested("never");
    let (_folder, file) = recorded_day(&hooks).await;
    let before = hooks.handlers_at::<Running>()[0].calls;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (20, 20), "{report}");
    assert_eq!(hooks.handlers_at::<Running>()[0].calls, before);

    let report = replay_of(&file, &nested("ls")).run().await.unwrap();
    let changed: Vec<_> = report.changed().map(|it| (&*it.point, it.by().unwrap())).collect();
    assert_eq!(changed, [("running", "judge"), ("routing", "judge"), ("running", "judge")]);
}

/// L38: a sample is the same in a replay, and what depends on time is taken from the
/// recording.
#[tokio::test]
async fn l38_samples_breakers_and_rate_limits_are_as_they_were() {
    let hooks = registry(&Arc::default());
    let operator = hooks.operator();
    operator.sample("dressing:audit/rest", 0.5).apply().unwrap();
    operator.sample("dressing:shell", 0.5).apply().unwrap();
    operator
        .rate_limit(
            "routing:near",
            hooks_runtime::operator::RateLimit::new(1, Duration::from_secs(900)),
        )
        .apply()
        .unwrap();
    let folder = Folder::new();
    let file = folder.file("day.jsonl");
    let recording = record(&hooks, &points(), &file);
    for _ in 0..20 {
        day(&hooks).await;
    }
    recording.close().await;
    let report = replay_of(&file, &hooks).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (320, 320), "{report}");
    let row = |fire: &hooks_runtime::replay::FireReplay, name: &str| {
        let rows = &fire.replayed.as_ref().unwrap().rows;
        rows.iter().find(|row| row.handler == name).map(ToString::to_string)
    };
    let sampled_out = report
        .fires
        .iter()
        .filter(|fire| row(fire, "shell").as_deref() == Some("not called: sampled_out"));
    assert!((10..70).contains(&sampled_out.count()));
    let limited = report.fires.iter().filter_map(|fire| row(fire, "near"));
    let limited = limited.filter(|it| it.starts_with("failed (rate_limited), fail-open: "));
    assert_eq!(limited.count(), 59);
}

/// L38: a handler that answered one payload is not asked about another.
#[tokio::test]
async fn l38_an_answer_is_to_the_payload_that_was_asked_about() {
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;
    let other = registry(&Arc::default());
    let trim = on::<Running>().name("trim").plugin("safety").replace().pure();
    other
        .register(trim.handler(|command: &RunningPayload| {
            if command.line == "ls" {
                Verdict::Replace(running("ls -l"))
            } else {
                trim_as_before(command)
            }
        }))
        .unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    assert_eq!(changed(&report), [("ls".to_owned(), "safety/trim".to_owned())]);
    let FireVerdict::Changed { unknown: Some(unknown), .. } =
        &report.changed().next().unwrap().verdict
    else {
        panic!()
    };
    assert_eq!(
        unknown,
        "`audit/loud` is not called, and what was recorded of it is an answer to another payload"
    );
}

fn trim_as_before(command: &RunningPayload) -> Verdict<RunningPayload> {
    trim(command)
}

/// L38: a run of a flow is replayed with what its operation returned; of a handler that is not
/// called what it did to the run is done again.
#[tokio::test]
async fn l38_a_run_of_a_flow_is_replayed_with_its_handlers_or_without() {
    struct Nightly;
    let registry = |longest: usize| {
        let hooks = HookRegistry::new();
        let cut = on::<BeforeExecute<Run>>().name("cut").plugin("safety").pure();
        let nightly = on::<BeforeExecute<Run>>().name("nightly").target::<Nightly>().pure();
        let mends = on::<OnError<Run>>().name("mends").pure();
        hooks
            .register([
                cut.handler(move |run: &mut FlowContext<Run>| {
                    if run.input().is_some_and(|line| line.len() > longest) {
                        run.abort("too long");
                    }
                }),
                nightly.handler(|run: &mut FlowContext<Run>| {
                    run.respond(7);
                }),
                mends.handler(|run: &mut FlowContext<Run>| {
                    run.recover(0);
                }),
            ])
            .unwrap();
        hooks
    };
    let (hooks, folder) = (registry(9), Folder::new());
    let file = folder.file("day.jsonl");
    let recording = record(&hooks, &points(), &file);
    for line in ["ls", "fail", "a long one indeed"] {
        let operation = async |line: String| {
            if line == "fail" { Err("it failed") } else { Ok(line.len() as u32) }
        };
        let _ = hooks.flow::<Run>().run(line.to_owned(), operation).await;
    }
    let nightly = hooks.flow::<Run>().target::<Nightly>();
    let unasked = async |_: String| -> Result<u32, &str> { unreachable!() };
    assert_eq!(nightly.run("ls".to_owned(), unasked).await.unwrap(), 7);
    recording.close().await;

    let report = replay_of(&file, &registry(9)).run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (4, 4), "{report}");
    let outcomes: Vec<_> = report.fires.iter().map(|fire| &*fire.recorded.outcome).collect();
    assert_eq!(outcomes, ["ran", "recovered", "failed", "ran"]);

    let report = replay_of(&file, &registry(1)).run().await.unwrap();
    let by: Vec<_> = report.changed().map(|fire| fire.by().unwrap()).collect();
    assert_eq!(by, ["safety/cut in beforeExecute"; 3]);
    let first = report.changed().next().unwrap();
    let texts: Vec<_> = first.differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "decision  safety/cut in beforeExecute: ran -> aborted: too long",
            "skipped   nightly in beforeExecute: not called: target -> not called: after_abort",
            "added     mends in onError: not there -> recovery_refused",
            "outcome   safety/cut in beforeExecute: ran -> failed",
        ]
    );

    // Now the operation would be called, and nothing is known of it.
    let report = replay_of(&file, &registry(99)).run().await.unwrap();
    let long = report.changed().next().unwrap();
    let FireVerdict::Changed { by, unknown } = &long.verdict else { panic!() };
    assert_eq!(by.as_deref(), Some("safety/cut in beforeExecute"));
    assert_eq!(unknown.as_deref(), Some("its operation is not called, and was not called then"));

    let report = replay_of(&file, &registry(9)).recompose().run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (4, 4), "{report}");
    let report = replay_of(&file, &registry(9)).recompose().without("safety").run().await.unwrap();
    let by: Vec<_> = report.changed().map(|fire| fire.by().unwrap()).collect();
    assert_eq!(by, ["safety/cut in beforeExecute"]);
}

/// A flow with handlers that are not pure, which do all that a stage can do. The second
/// registry has the same that must not be called.
fn impure(called: &Arc<AtomicUsize>) -> HookRegistry {
    let hooks = HookRegistry::new();
    let counted = |work: fn(&mut FlowContext<Run>) -> Result<(), &'static str>| {
        let called = Arc::clone(called);
        move |run: &mut FlowContext<Run>| {
            called.fetch_add(1, Ordering::Relaxed);
            work(run)
        }
    };
    let first = |name: &'static str| on::<BeforeExecute<Run>>().name(name);
    hooks
        .register([
            first("rewrites").handler(counted(|run| {
                run.input_mut().unwrap().push('!');
                Ok(())
            })),
            first("fails").handler(counted(|run| {
                let line = run.input_mut().unwrap();
                if !line.starts_with("refused") {
                    return Ok(());
                }
                line.push('?');
                Err("no more ink")
            })),
            first("remembers").handler(counted(|run| {
                run.state_mut().insert(7_u32);
                Ok(())
            })),
            first("answers").handler(counted(|run| {
                if run.input().unwrap().starts_with("known") {
                    run.respond(70);
                }
                Ok(())
            })),
            first("answers too").handler(counted(|run| {
                if run.input().unwrap().starts_with("known") {
                    run.respond(71);
                }
                Ok(())
            })),
            first("skips").handler(counted(|run| {
                if run.input().unwrap().starts_with("brief") {
                    run.skip();
                }
                if run.input().unwrap().starts_with("forbidden") {
                    run.abort("not here");
                }
                Ok(())
            })),
            first("is skipped").handler(counted(|_| Ok(()))),
            on::<AfterExecute<Run>>().name("rounds").handler(counted(|run| {
                if let Some(output) = run.output_mut() {
                    *output = *output / 10 * 10;
                }
                Ok(())
            })),
            on::<OnError<Run>>().name("mends").handler(counted(|run| {
                if run.operation_error::<std::io::Error>().is_some() {
                    run.recover(1);
                }
                Ok(())
            })),
        ])
        .unwrap();
    hooks
}

async fn runs(hooks: &HookRegistry) -> Vec<String> {
    let mut came = Vec::new();
    for line in ["ls", "known", "brief", "forbidden", "broken", "refused"] {
        let operation = async |line: String| match line.starts_with("broken") {
            true => Err(std::io::Error::other("it broke")),
            false => Ok(line.len() as u32 + 20),
        };
        let run = hooks.flow::<Run>().run(line.to_owned(), operation).await;
        came.push(run.map_or_else(|error| error.to_string(), |output| output.to_string()));
    }
    came
}

/// L38: what handlers do to a run, which are not pure, is done again and none of them is called.
#[tokio::test]
async fn l38_what_stages_did_to_a_run_is_done_again_and_none_is_called() {
    let called = Arc::<AtomicUsize>::default();
    let (hooks, folder) = (impure(&called), Folder::new());
    let file = folder.file("day.jsonl");
    let recording = record(&hooks, &points(), &file);
    let aborted = "`commands:run` was aborted in beforeExecute by `skips` (built-in): not here";
    let came = runs(&hooks).await;
    assert_eq!(came[..5], ["20", "70", "20", aborted, "1"]);
    assert!(came[5].ends_with("no more ink"), "{}", came[5]);
    recording.close().await;
    let before = called.load(Ordering::Relaxed);

    let today = impure(&called);
    for recompose in [false, true] {
        let replay = replay_of(&file, &today);
        let replay = if recompose { replay.recompose() } else { replay };
        let report = replay.run().await.unwrap();
        assert_eq!((report.same().count(), report.fires.len()), (6, 6), "{report}");
    }
    assert_eq!(called.load(Ordering::Relaxed), before, "nothing was called");

    // What is called is compared with what was recorded of it, to the value.
    let rounds = on::<AfterExecute<Run>>().name("rounds").pure().replace();
    let other = impure(&called);
    other
        .register(rounds.handler(|run: &mut FlowContext<Run>| {
            if let Some(output) = run.output_mut() {
                *output = *output / 10 * 10 + u32::from(*output < 30);
            }
        }))
        .unwrap();
    let report = replay_of(&file, &other).run().await.unwrap();
    let texts: Vec<_> = report.changed().map(|fire| fire.differences[0].to_string()).collect();
    let expected =
        "answer    rounds in afterExecute: ran, as {\"changed\":20} -> ran, as {\"changed\":21}";
    assert_eq!(texts, [expected; 2], "{report}");

    // Without the first answer the second would count, which was refused and is not recorded.
    let replay = replay_of(&file, &today).without("*:answers").recompose();
    let report = replay.run().await.unwrap();
    let known = report.changed().next().unwrap();
    let FireVerdict::Changed { by, unknown } = &known.verdict else { panic!("{report}") };
    assert_eq!(by.as_deref(), Some("answers in beforeExecute"));
    assert_eq!(
        unknown.as_deref(),
        Some(
            "`answers too` is not called, and its answer was refused then, is not recorded, and \
             would count now"
        )
    );

    // A handler is not asked about another input than that which was recorded.
    let report = replay_of(&file, &today).without("*:rewrites").run().await.unwrap();
    let unknown =
        "`fails` is not called, and what was recorded of it is about another input or output";
    let by = Some("rewrites in beforeExecute".to_owned());
    let unknown = Some(unknown.to_owned());
    assert_eq!(report.fires[0].verdict, FireVerdict::Changed { by, unknown }, "{report}");
}

/// L38: state that a handler had put into a run, which is not called, is not recorded: a handler
/// that asks for it says so; where none does, nothing is missing.
#[tokio::test]
async fn l38_state_of_a_run_that_is_not_recorded_is_not_made_up() {
    let called = Arc::default();
    let (hooks, folder) = (impure(&called), Folder::new());
    let reads = || {
        let reads = on::<AfterExecute<Run>>().name("reads").priority(9).pure();
        reads.handler(|run: &mut FlowContext<Run>| {
            if let Some(7) = run.state().get::<u32>() {
                *run.output_mut().unwrap() += 1;
            }
        })
    };
    hooks.register(reads()).unwrap();
    let file = folder.file("day.jsonl");
    let recording = record(&hooks, &points(), &file);
    assert_eq!(runs(&hooks).await[0], "21");
    recording.close().await;
    let today = impure(&called);
    today.register(reads()).unwrap();
    let report = replay_of(&file, &today).run().await.unwrap();
    let reason = "`reads` asks for the state of the run, which a handler had changed that is not \
                  called: that is not recorded";
    let reason = reason.to_owned();
    assert_eq!(report.fires[0].verdict, FireVerdict::Cannot { reason }, "{report}");
    assert_eq!(report.changed().count(), 0, "{report}");

    // Called, it puts it there.
    let report = replay_of(&file, &today).call("*:remembers").run().await.unwrap();
    assert_eq!((report.same().count(), report.fires.len()), (6, 6), "{report}");
}

/// L38: what a policy leaves of a flow's values is what it leaves of what its stages did.
#[tokio::test]
async fn l38_what_a_policy_says_of_a_flow_holds_for_its_stages() {
    let (hooks, folder) = (impure(&Arc::default()), Folder::new());
    let file = folder.file("day.jsonl");
    let secret = CapturePolicy::redacted(|point, part, value| {
        // A reason and a message are texts of the stage, all else are values of the flow.
        assert!(point == "commands:run" || part == Part::Text, "{point}: {part:?}");
        *value = "…".into();
    });
    let recorder = Recorder::to(&file).catalogue(&points()).capture("*", CapturePolicy::Full);
    let (recording, writer) = recorder.capture("commands:run", secret).start(&hooks).unwrap();
    tokio::spawn(writer.run());
    let _ = runs(&hooks).await;
    recording.close().await;
    let text = std::fs::read_to_string(&file).unwrap();
    for word in ["ls!", "known!", "not here"] {
        assert!(!text.contains(word), "{word}");
    }
    let left = r#"{"kind":"redacted","value":{"input":"…"}}"#;
    assert!(text.contains(left), "{text}");
    // A handler that did nothing shows nothing.
    assert!(text.contains(r#""answer":{"kind":"full","value":null}"#), "{text}");
}

/// The text that CI shows.
#[tokio::test]
#[should_panic(
    expected = "day.jsonl` is not the same\n16 fires: 15 same, 1 changed, 0 could not be replayed\n  skipped   1\n  effect    1\n  outcome   1\n\nfire "
)]
async fn l38_a_difference_is_shown_in_the_panic() {
    let hooks = registry(&Arc::default());
    let operator = hooks.operator();
    let shadow = operator.shadow("running:safety/no_rm").break_glass("a trial");
    shadow.until(Duration::from_secs(600)).apply().unwrap();
    let (_folder, file) = recorded_day(&hooks).await;
    replay_of(&file, &hooks).shadow_lifted("safety/no_rm").assert_same().await;
}

/// L38: what names no handler is an error with what was likely meant.
#[tokio::test]
async fn l38_a_change_that_names_no_handler_is_an_error() {
    let hooks = registry(&Arc::default());
    let (_folder, file) = recorded_day(&hooks).await;
    let error = replay_of(&file, &hooks).without("safty").run().await.unwrap_err();
    assert_eq!(error.to_string(), "no handler is `safty`; did you mean `safety`?");
    // In the form in which it was written, also where only the plugin is missing.
    let error = replay_of(&file, &hooks).call("loud").run().await.unwrap_err();
    assert_eq!(error.to_string(), "no handler is `loud`; did you mean `audit/loud`?");
    let error = replay_of(&file, &hooks).tighten("running:no_rm").run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no handler is `running:no_rm`; did you mean `running:safety/no_rm`?",
    );
    let error = replay_of(&file, &hooks).without("").run().await.unwrap_err();
    assert!(error.to_string().starts_with("`` is no target: "), "{error}");
}
