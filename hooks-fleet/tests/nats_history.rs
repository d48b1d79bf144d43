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

use history::{Came, History, Kind, Operation, Violation, check};
use hooks_fleet::{Fleet, FleetOptions, Incoming, MayHaveRun, RemoteFailure, Serving};
use hooks_runtime::{Claim, FireError, Gate, HookContext, HookRegistry, Judgement, Verdict, on};
use support::nats::{Proxy, Server, at};
use support::*;

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

fn durable(service: &str) -> FleetOptions {
    options(service)
        .timeout(Duration::from_millis(800))
        .durable::<Stored>()
        .deliveries(50, [Duration::from_millis(20)])
        .presence(Duration::from_millis(300), Duration::from_secs(2))
        .linger(Duration::from_millis(100))
}

/// One process of the service: two handlers of the gate, a claim, a durable handler.
async fn process(port: u16, history: &History) -> Option<Serving> {
    let hooks = HookRegistry::new();
    let (first, second, claims, kept) =
        (history.clone(), history.clone(), history.clone(), history.clone());
    hooks
        .register([
            on::<Running>().name("first").priority(1).handler(move |it: &RunningPayload| {
                first.ran(number(&it.line), "first");
                Verdict::Replace(RunningPayload { line: format!("{}+", it.line) })
            }),
            on::<Running>().name("second").guard(move |it: &RunningPayload| {
                second.ran(number(&it.line), "second");
                // Every third is not allowed, and all that the rewriter has not seen.
                if number(&it.line).is_multiple_of(3) || !it.line.ends_with('+') {
                    Judgement::reject("no")
                } else {
                    Judgement::Pass
                }
            }),
            on::<Routing>().name("claim").handler(move |it: &String| {
                claims.ran(number(it), "claim");
                Some(u32::try_from(number(it)).unwrap())
            }),
            on::<Stored>().name("keep").handler(move |it: &StoredPayload, cx: &HookContext| {
                let _ = cx.get::<Incoming>().unwrap();
                kept.ran(u64::from(it.page), "keep");
            }),
        ])
        .unwrap();
    let fleet = Fleet::connect(at(port).ack_wait(Duration::from_secs(2)), durable("policy")).await;
    fleet.ok()?.serve::<Running>(&hooks).and::<Routing>().and::<Stored>().start().await.ok()
}

/// The number of an operation, which its payload carries.
fn number(line: &str) -> u64 {
    line.trim_end_matches('+').parse().unwrap()
}

fn came<T>(fired: Result<T, FireError>, ok: impl FnOnce(T) -> Came) -> Came {
    match fired {
        Ok(outcome) => ok(outcome),
        Err(error) => match RemoteFailure::of(&error) {
            Some(failure) if failure.may_have_run() == MayHaveRun::No => Came::Failed,
            Some(_) => Came::Unknown,
            None => panic!("{error}"),
        },
    }
}

async fn operate(hooks: &HookRegistry, history: &History, number: u64, kind: Kind) {
    history.invoked(number, kind);
    let line = number.to_string();
    let came = match kind {
        Kind::Gate => came(hooks.fire_gating::<Running>(command(&line)).await, |gate| match gate {
            Gate::Passed(passed) => Came::Passed(passed.line),
            Gate::Rejected(_) => Came::Rejected,
        }),
        Kind::Claim => came(hooks.fire_claiming::<Routing>(&line).await, |claim| match claim {
            Claim::Claimed(by) => Came::Claimed(u64::from(by)),
            // The point fails open: no claim may be a failure.
            Claim::Unclaimed => Came::Unknown,
        }),
        Kind::Durable => {
            let page = u32::try_from(number).unwrap();
            came(hooks.fire_void::<Stored>(&StoredPayload { page }).await, |()| Came::Stored)
        }
    };
    history.came(number, came);
}

/// L37, L10, L09: no gate passed without its required verdicts, order kept, nothing claimed by
/// two, at least once for what was stored, across cut and frozen connections, restarts of the
/// server and of the processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l37_no_history_breaks_a_promise() {
    let Some(mut server) = Server::start().await else { return };
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let operations: u64 = setting("FLEET_OPERATIONS").unwrap_or(1_000);
    let seed: u64 = setting("FLEET_SEED").unwrap_or(0x9E37_79B9_7F4A_7C15);
    let mut random = Random(seed | 1);
    let history = History::default();
    let (firing, serving) = (Proxy::to(server.port).await, Proxy::to(server.port).await);
    let hooks = HookRegistry::new();
    let agent = firing.fleet(durable("agent")).await;
    let share = agent
        .share::<Running>(&hooks)
        .require::<Running>("policy", "first")
        .require::<Running>("policy", "second")
        .require::<Routing>("policy", "claim")
        .require::<Stored>("policy", "keep");
    let sharing = share.start().await.unwrap();
    let mut processes = vec![process(serving.port, &history).await.unwrap()];
    sharing.wait_for("policy").await;

    let next = Arc::new(AtomicU32::new(0));
    let firers = (0..4_u64).map(|firer| {
        let (hooks, history, next) = (hooks.clone(), history.clone(), Arc::clone(&next));
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
                operate(&hooks, &history, number, kind).await;
                // So that there is time for faults.
                tokio::time::sleep(Duration::from_millis(random.below(7))).await;
            }
        })
    });
    let firers: Vec<_> = firers.collect();
    let mut faults = [0_u32; 6];
    while firers.iter().any(|firer| !firer.is_finished()) {
        tokio::time::sleep(Duration::from_millis(20 + random.below(120))).await;
        let fault = usize::try_from(random.below(6)).unwrap();
        faults[fault] += 1;
        match fault {
            0 => firing.cut(),
            1 => serving.cut(),
            2 => {
                let proxy = if random.below(2) == 0 { &firing } else { &serving };
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
                if let Some(new) = process(serving.port, &history).await {
                    let old = std::mem::replace(&mut processes[0], new);
                    old.leave(Duration::from_secs(1)).await;
                }
            }
            // Or it dies, and another one comes.
            _ => {
                processes.clear();
                while processes.is_empty() {
                    processes.extend(process(serving.port, &history).await);
                }
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
    let recorded = history.operations();
    assert_eq!(check(&recorded), [], "seed {seed}");
    let counts = history::counts(&recorded);
    println!(
        "proof: fleet: {} operations, {counts}; faults: {faults:?}, seed {seed}",
        recorded.len()
    );
    // A run in which nothing works proves nothing.
    assert!(recorded.iter().filter(|it| matches!(it.came, Some(Came::Passed(_)))).count() > 10);
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
