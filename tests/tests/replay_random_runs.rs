//! Runs of flows whose handlers do anything, recorded and replayed: none that is not pure is
//! called, and no run differs.

mod replay_support;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::replay::replay;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    HookRegistry, OnError, Registration, hook_points, on,
};
use replay_support::{Folder, record};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// A sum, of which a part may be missing.
    pub flow Sum(Option<u32>) -> Option<u32>;
}

/// What a handler does, in this order.
#[derive(Clone, Debug)]
enum Deed {
    Rewrite(Option<u32>),
    Change(Option<u32>),
    Respond(Option<u32>),
    Recover(Option<u32>),
    Skip,
    Abort,
    Fail,
    Panic,
    /// It counts in the state of the run, which nobody reads.
    Remember,
}

/// Numbers that are the same in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn value(&mut self) -> Option<u32> {
        match self.roll(3) {
            0 => None,
            n => Some(u32::try_from(n).unwrap()),
        }
    }

    fn deed(&mut self) -> Deed {
        match self.roll(14) {
            0..3 => Deed::Rewrite(self.value()),
            3..6 => Deed::Change(self.value()),
            6..8 => Deed::Respond(self.value()),
            8 | 9 => Deed::Recover(self.value()),
            10 => Deed::Skip,
            11 => Deed::Abort,
            12 if self.roll(2) == 0 => Deed::Fail,
            12 => Deed::Panic,
            _ => Deed::Remember,
        }
    }
}

/// A handler that is planned: its stage, whether it is pure, and what it does.
type Planned = (u64, bool, Vec<Deed>);

fn registration(
    at: usize,
    (stage, is_pure, deeds): &Planned,
    called: &Arc<AtomicUsize>,
) -> Registration {
    let (called, deeds, is_pure) = (Arc::clone(called), deeds.clone(), *is_pure);
    let work = move |run: &mut FlowContext<Sum>| {
        called.fetch_add(usize::from(!is_pure), Ordering::Relaxed);
        for deed in &deeds {
            match deed {
                Deed::Rewrite(value) => {
                    if let Some(input) = run.input_mut() {
                        *input = *value;
                    }
                }
                Deed::Change(value) => {
                    if let Some(output) = run.output_mut() {
                        *output = *value;
                    }
                }
                Deed::Respond(value) => drop(run.respond(*value).then_some(String::new())),
                Deed::Recover(value) => drop(run.recover(*value).then_some(String::new())),
                Deed::Skip => run.skip(),
                Deed::Abort => run.abort("enough"),
                Deed::Fail => return Err("no ink"),
                Deed::Panic => panic!("planned"),
                // What is called asks for none: it would not find what others had put there.
                Deed::Remember if is_pure => {}
                Deed::Remember => drop(run.state_mut().insert(at)),
            }
        }
        Ok(())
    };
    macro_rules! at {
        ($stage:ty) => {{
            let on = on::<$stage>().name(format!("h{at}"));
            if is_pure { on.pure().handler(work) } else { on.handler(work) }
        }};
    }
    match stage {
        0 => at!(BeforeValidation<Sum>),
        1 => at!(AfterValidation<Sum>),
        2 => at!(BeforeExecute<Sum>),
        3 => at!(AfterExecute<Sum>),
        4 => at!(OnError<Sum>),
        _ => at!(Finally<Sum>),
    }
}

/// L38: whatever handlers do to their runs.
#[tokio::test]
async fn l38_random_runs_are_the_same_when_what_is_not_pure_is_not_called() {
    support::keep_quiet(&["planned"]);
    let (folder, called) = (Folder::new(), Arc::<AtomicUsize>::default());
    for seed in 0..150 {
        let mut dice = Dice(seed);
        let planned: Vec<Planned> = (0..2 + dice.roll(7))
            .map(|_| {
                let deeds = (0..dice.roll(4)).map(|_| dice.deed()).collect();
                (dice.roll(6), dice.roll(3) == 0, deeds)
            })
            .collect();
        let registry = || {
            let hooks = HookRegistry::new();
            let all = planned.iter().enumerate();
            hooks
                .register(all.map(|(at, it)| registration(at, it, &called)).collect::<Vec<_>>())
                .unwrap();
            hooks
        };
        let file = folder.file(&format!("{seed}.jsonl"));
        let hooks = registry();
        let recording = record(&hooks, &points(), &file);
        for input in [None, Some(1)] {
            for fails in [false, true] {
                let operation = async |input: Option<u32>| match fails {
                    true => Err(std::io::Error::other("down")),
                    false => Ok(input.map(|n| n + 1)),
                };
                let _ = hooks.flow::<Sum>().run(input, operation).await;
            }
        }
        recording.close().await;
        let before = called.load(Ordering::Relaxed);
        for recompose in [false, true] {
            let replay = replay(&file).catalogue(&points()).against(&registry());
            let replay = if recompose { replay.recompose() } else { replay };
            let report = replay.run().await.unwrap();
            let text = format!(
                "seed {seed}, recompose {recompose}\n{planned:#?}\n{report}\n{:#?}",
                report.fires
            );
            assert_eq!((report.same().count(), report.fires.len()), (4, 4), "{text}");
            assert_eq!(called.load(Ordering::Relaxed), before, "{text}");
        }
    }
}
