//! Random fires and faults over a real server, recorded as a history and checked.
//!
//! `FLEET_OPERATIONS` says how many operations there are: 1,000 unless it is set; `.ci/prove fleet`
//! has 10,000. `FLEET_SEED` repeats a run.
#![cfg(feature = "nats")]

mod history;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use history::process::{self, Process};
use history::versions::{fire_new, fire_old, new, old, share_new, share_old};
use history::{Came, History, Kind, Operation, Violation, check};
use hooks_fleet::{Fleet, Sharing};
use hooks_runtime::HookRegistry;
use support::nats::{Proxy, Server, at};

/// Random numbers that can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Two agents, one of each version.
#[derive(Clone)]
struct Agents {
    old: HookRegistry,
    new: HookRegistry,
    sharing: Arc<[Sharing; 2]>,
}

impl Agents {
    async fn join(port: u16) -> Self {
        let (old, new) = (HookRegistry::new(), HookRegistry::new());
        let options = |points| process::options("agent", points);
        let of_old = Fleet::connect(at(port), options(old::points())).await.unwrap();
        let of_new = Fleet::connect(at(port), options(new::points())).await.unwrap();
        let sharing = [share_old(&of_old, &old).await, share_new(&of_new, &new).await];
        Self { old, new, sharing: Arc::new(sharing) }
    }

    async fn wait_for_processes(&self, count: usize) {
        for sharing in &*self.sharing {
            sharing.wait_for_processes("policy", count).await;
        }
    }

    async fn operate(&self, history: &History, number: u64, kind: Kind) {
        history.invoked(number, kind);
        let came = if number.is_multiple_of(2) {
            fire_old(&self.old, number, kind).await
        } else {
            fire_new(&self.new, number, kind).await
        };
        history.came(number, came);
    }
}

/// What a serving process is: nothing where this program runs its tests.
#[test]
fn serving_process() {
    process::serve();
}

/// L37, L10, L09: no gate passed without its required verdicts, order kept, nothing claimed by
/// two, at least once for what was stored, across cut and frozen connections, restarts of the
/// server, processes that are killed, stopped and replaced, and two versions at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l37_no_history_breaks_a_promise() {
    let Some(mut server) = Server::start().await else { return };
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let operations: u64 = setting("FLEET_OPERATIONS").unwrap_or(1_000);
    let seed: u64 = setting("FLEET_SEED").unwrap_or(0x9E37_79B9_7F4A_7C15);
    let mut random = Random(seed | 1);
    let history = History::default();
    let (firing, serving) = (Proxy::to(server.port).await, Proxy::to(server.port).await);
    let agents = Agents::join(firing.port).await;
    let start =
        |version: usize| Process::start(serving.port, ["old", "new"][version], false, &history);
    let mut processes = [start(0), start(1)];
    agents.wait_for_processes(2).await;

    let next = Arc::new(AtomicU32::new(0));
    let firers = (0..4_u64).map(|firer| {
        let (agents, history, next) = (agents.clone(), history.clone(), Arc::clone(&next));
        let mut random = Random(seed.rotate_left(7 + u32::try_from(firer).unwrap()) | 1);
        tokio::spawn(async move {
            loop {
                let number = u64::from(next.fetch_add(1, Ordering::Relaxed));
                if number >= operations {
                    return;
                }
                let kind = match random.below(4) {
                    0 | 1 => Kind::Gate,
                    2 => Kind::Claim,
                    _ => Kind::Durable,
                };
                agents.operate(&history, number, kind).await;
                // So that there is time for faults.
                tokio::time::sleep(Duration::from_millis(random.below(7))).await;
            }
        })
    });
    let firers: Vec<_> = firers.collect();
    let names = ["cut", "cut off", "frozen", "restarts", "rolled", "killed", "stopped"];
    let mut faults = [0_u32; 7];
    let mut left = Vec::new();
    while firers.iter().any(|firer| !firer.is_finished()) {
        tokio::time::sleep(Duration::from_millis(20 + random.below(120))).await;
        let fault = usize::try_from(random.below(7)).unwrap();
        let which = usize::try_from(random.below(2)).unwrap();
        faults[fault] += 1;
        match fault {
            0 => firing.cut(),
            1 => serving.cut(),
            2 => {
                let proxy = [&firing, &serving][which];
                proxy.freeze(true);
                tokio::time::sleep(Duration::from_millis(random.below(400))).await;
                proxy.freeze(false);
            }
            3 => {
                server.kill();
                tokio::time::sleep(Duration::from_millis(random.below(200))).await;
                server.run().await;
            }
            // A process is replaced: the new one first, and the old one leaves by draining.
            4 => {
                let new = start(which);
                tokio::time::sleep(Duration::from_millis(random.below(300))).await;
                let mut old = std::mem::replace(&mut processes[which], new);
                old.leave();
                left.push(old);
            }
            // Or it dies, and another one comes.
            5 => processes[which] = start(which),
            _ => {
                processes[which].stop(true);
                tokio::time::sleep(Duration::from_millis(random.below(400))).await;
                processes[which].stop(false);
            }
        }
    }
    for firer in firers {
        firer.await.unwrap();
    }
    // What was stored arrives, when all is well again.
    for _ in 0..600 {
        if check(&history.operations()).iter().all(|it| !matches!(it, Violation::Lost(_))) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // All that they have said is read before it is judged.
    tokio::task::spawn_blocking(move || drop((processes, left))).await.unwrap();
    let recorded = history.operations();
    assert_eq!(check(&recorded), [], "seed {seed}");
    let counts = history::counts(&recorded);
    let faults = names.iter().zip(faults).map(|(name, count)| format!("{count} {name}"));
    println!(
        "proof: fleet: {} operations, {counts}; faults: {}; seed {seed}",
        recorded.len(),
        faults.collect::<Vec<_>>().join(", ")
    );
    // A run in which nothing works proves nothing.
    assert!(recorded.iter().filter(|it| matches!(it.came, Some(Came::Passed(_)))).count() > 10);
}

/// A process is planted that passes some without asking: the checker finds all of these.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planted_process_is_found() {
    let Some(server) = Server::start().await else { return };
    let history = History::default();
    let agents = Agents::join(server.port).await;
    let process = Process::start(server.port, "new", true, &history);
    agents.wait_for_processes(1).await;
    for number in 0..60 {
        agents.operate(&history, number, Kind::Gate).await;
    }
    tokio::task::spawn_blocking(move || drop(process)).await.unwrap();
    let planted: Vec<_> = (0..60).step_by(5).map(Violation::PassedUnjudged).collect();
    assert_eq!(check(&history.operations()), planted);
    println!("proof: fleet: a planted process passed {} without asking: all found", planted.len());
}

/// The checker finds what it looks for.
#[test]
fn planted_violations_are_found() {
    let gate = |came: Came, ran: &[&'static str]| Operation {
        number: 1,
        kind: Kind::Gate,
        came: Some(came),
        ran: ran.to_vec(),
    };
    let passed = |line: &str| Came::Passed(line.to_owned());
    let found = |operation: Operation| check(&[operation]);
    assert_eq!(found(gate(passed("1+"), &["first", "second"])), []);
    assert_eq!(found(gate(Came::Rejected, &["first", "second"])), []);
    assert_eq!(found(gate(Came::Unknown, &["first"])), []);
    assert_eq!(found(gate(passed("1+"), &["first"])), [Violation::PassedUnjudged(1)]);
    assert_eq!(
        found(gate(passed("1"), &["second", "first"])),
        [Violation::PassedUnjudged(1), Violation::OutOfOrder(1)]
    );
    assert_eq!(found(gate(Came::Failed, &["first", "second"])), [Violation::RanThough(1)]);
    let third = Operation { number: 3, ..gate(passed("3+"), &["first", "second"]) };
    assert_eq!(found(third), [Violation::PassedForbidden(3)]);
    let claim = |came: Came, ran: &[&'static str]| {
        found(Operation { kind: Kind::Claim, ..gate(came, ran) })
    };
    assert_eq!(claim(Came::Claimed(1), &["claim"]), []);
    assert_eq!(claim(Came::Claimed(2), &["claim"]), [Violation::WrongClaim(1)]);
    assert_eq!(claim(Came::Claimed(1), &["claim", "claim"]), [Violation::ClaimedTwice(1)]);
    let stored =
        |ran: &[&'static str]| found(Operation { kind: Kind::Durable, ..gate(Came::Stored, ran) });
    assert_eq!(stored(&["keep", "keep"]), []);
    assert_eq!(stored(&[]), [Violation::Lost(1)]);
    assert_eq!(found(Operation { came: None, ..gate(Came::Failed, &[]) }), [Violation::NoEnd(1)]);
}
