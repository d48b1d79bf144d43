//! The recording of a case, replayed: against the same handlers, and with one that is
//! another.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hooks_runtime::record::{CapturePolicy, Recorder};
use hooks_runtime::replay::{FireVerdict, Replay, ReplayReport, replay};
use proptest::prelude::*;

use crate::plan::{Answer, Ending, Op, Script, Spot, Wish};
use crate::points::catalogue;
use crate::proof::quietly;
use crate::reference::name_of;
use crate::strategies::{Plan, plans};
use crate::world::World;

/// Cases in which handlers come, and none leaves or is replaced; and what they do is to answer.
fn lasting(spots: &'static [Spot]) -> impl Strategy<Value = Plan> {
    plans(spots).prop_map(|mut plan| {
        plan.steps.retain(|op| {
            !matches!(op, Op::Unregister(_) | Op::UnregisterPlugin(_) | Op::Uninstall(_))
        });
        for op in &mut plan.steps {
            match op {
                Op::Register { wishes, .. } => wishes.iter_mut().for_each(only_answers),
                Op::Install { replace, scripts } => {
                    *replace = false;
                    for script in scripts {
                        Arc::make_mut(script).acts.clear();
                    }
                }
                _ => {}
            }
        }
        plan
    })
}

fn only_answers(wish: &mut Wish) {
    wish.replace = false;
    Arc::make_mut(&mut wish.script).acts.clear();
}

/// A file that goes when this is dropped.
struct File(PathBuf);

impl File {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hooks-model-{}-{number}.jsonl", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Takes the steps of a case, and records them.
fn recorded(plan: &Plan) -> (Arc<World>, File) {
    let (world, file) = (World::new(plan.timer, plan.observed, false, false), File::new());
    let recorder = Recorder::to(&file.0).catalogue(&catalogue()).queue(1 << 20);
    let recorder = recorder.capture("*", CapturePolicy::Full);
    let (recording, writer) = recorder.start(&world.hooks()).unwrap();
    plan.steps.iter().for_each(|op| drop(world.step(op)));
    drop(writer);
    drop(recording);
    (world, file)
}

/// Replays a recording of a case, on the clock of a world.
fn replayed(world: &World, file: &File, how: fn(Replay) -> Replay) -> ReplayReport {
    let replay = how(replay(&file.0).catalogue(&catalogue()).against(&world.hooks()));
    world.drive_to(None, replay.run()).expect("it is driven to its end").unwrap()
}

/// The counts of a registry: a replay changes none.
fn counts(world: &World) -> String {
    format!("{:?}", world.hooks().handlers())
}

/// The same answers with another value, or another end where there is no answer.
fn another(script: &Script, spot: Spot) -> Script {
    let (mut ending, mut answer) = (script.ending, script.answer);
    match spot {
        _ if spot.is_void() || ending != Ending::Return => {
            ending = if ending == Ending::Return { Ending::Error } else { Ending::Return };
        }
        Spot::Amended => answer = Answer::Fields([Some(9), Some(9), None]),
        Spot::Routed => answer = Answer::Claim(99),
        _ if answer == Answer::Reject => answer = Answer::Nothing,
        _ => answer = Answer::Reject,
    }
    Script { ending, answer, ..script.clone() }
}

/// L38: whatever the handlers, a replay against the same ones finds no difference, called or
/// not; with one that answers something else, every difference names that one.
#[test]
fn l38_a_replay_of_any_registry_is_the_same_and_one_changed_handler_is_named() {
    let (fires, changes) = (AtomicU64::new(0), AtomicU64::new(0));
    let cases = quietly(150, (lasting(&Spot::ALL[..6]), 0..8_usize), |(plan, number)| {
        let (world, file) = recorded(&plan);
        if world.hooks().handlers().is_empty() {
            return; // every group was refused
        }
        let before = counts(&world);
        for how in [|it: Replay| it.call("*:*"), Replay::recompose] {
            let report = replayed(&world, &file, how);
            assert_eq!(report.changed().count(), 0, "{report}");
            for fire in report.cannot() {
                let dropped = "it was dropped before its end".to_owned();
                assert_eq!(fire.verdict, FireVerdict::Cannot { reason: dropped }, "{fire}");
            }
            fires.fetch_add(report.same().count() as u64, Ordering::Relaxed);
        }
        assert_eq!(counts(&world), before);

        let mut other = plan.clone();
        let Some(Op::Register { wishes, .. }) = other.steps.first_mut() else { unreachable!() };
        let at = number % wishes.len();
        let wish = &mut wishes[at];
        let Some(name) = wish.name else { return };
        wish.script = Arc::new(another(&wish.script, wish.spot));
        let (point, plugin) = (name_of(wish.spot), wish.plugin);
        let named = plugin.map_or_else(|| name.to_owned(), |plugin| format!("{plugin}/{name}"));
        let (other, _) = recorded(&other);
        let report = replayed(&other, &file, |it| it.call("*:*"));
        for fire in report.changed() {
            assert_eq!((&*fire.point, fire.by()), (point, Some(&*named)), "{fire}");
        }
        changes.fetch_add(report.changed().count() as u64, Ordering::Relaxed);
    });
    let (fires, changes) = (fires.into_inner(), changes.into_inner());
    println!("\nproof: replays: {fires} fires are the same, {changes} named the changed handler");
    assert!(cases < 100 || (fires > 100 && changes > 20), "{fires} and {changes}");
}

/// L38: so it is with the runs of a flow, where all handlers are called, and where none is.
#[test]
fn l38_a_replay_of_any_run_of_a_flow_is_the_same() {
    let runs = AtomicU64::new(0);
    let cases = quietly(150, lasting(&Spot::ALL[6..]), |plan| {
        let (world, file) = recorded(&plan);
        if world.hooks().handlers().is_empty() {
            return;
        }
        let before = counts(&world);
        for how in [|it: Replay| it.call("*:*"), |it| it, Replay::recompose] {
            let report = replayed(&world, &file, how);
            assert_eq!(report.changed().count(), 0, "{report}");
            for fire in report.cannot() {
                let FireVerdict::Cannot { reason } = &fire.verdict else { unreachable!() };
                let expected = [
                    "it was dropped before its end",
                    "its input is judged by the host, whose code is not part of a replay",
                ];
                assert!(expected.contains(&&**reason), "{fire}");
            }
            assert_eq!(counts(&world), before);
            runs.fetch_add(report.same().count() as u64, Ordering::Relaxed);
        }
    });
    let runs = runs.into_inner();
    println!("\nproof: replays: {runs} runs of a flow are the same");
    assert!(cases < 100 || runs > 100, "{runs}");
}
