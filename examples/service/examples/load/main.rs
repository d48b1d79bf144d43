//! Drives the service on loopback while a plugin leaves and comes back, beside the same
//! service without hooks.
//!
//! `cargo run --release -p hooks-service --example load [SECONDS]`

#![forbid(unsafe_code)]

mod client;
mod direct;
mod servers;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use client::{Client, Sample};
use servers::Servers;

/// How many clients send orders at the same time.
const CLIENTS: usize = 4;
/// How often the rows take turns, so that what else the machine does hits all of them.
const TURNS: u32 = 20;
/// The plugin that leaves and comes back.
const PLUGIN: &str = "loyalty";
/// How long it stays away, and how long it stays.
const PAUSE: Duration = Duration::from_millis(5);

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(8.0), |seconds| seconds.parse())?;
    let turn = Duration::try_from_secs_f64(seconds)? / (4 * TURNS);
    let servers = Servers::start()?;
    let [mut without, mut with, mut changing, mut metered] = [vec![], vec![], vec![], vec![]];
    let mut changes = 0;
    for _ in 0..TURNS {
        without.extend(drive(servers.direct, turn));
        with.extend(drive(servers.hooked, turn));
        let busy = AtomicBool::new(true);
        thread::scope(|scope| {
            let plugin = scope.spawn(|| change_plugin(servers.hooked, &busy));
            changing.extend(drive(servers.hooked, turn));
            busy.store(false, Ordering::Relaxed);
            changes += plugin.join().expect("the plugin came back each time");
        });
        metered.extend(drive(servers.metered, turn));
    }

    println!("{CLIENTS} clients on loopback, {seconds} s, the rows in turns");
    println!("                                  requests  failures       p50       p99");
    let failures = row("without hooks", &mut without)
        + row("with hooks", &mut with)
        + row("with hooks, a plugin changing", &mut changing)
        + row("with hooks and metrics", &mut metered);
    let large = changing.iter().filter(|sample| sample.large);
    let (on, off) = large.fold((0, 0), |(on, off), sample| match sample.discount {
        Some(10) => (on + 1, off),
        Some(0) => (on, off + 1),
        _ => (on, off),
    });
    println!("plugin {PLUGIN}: left and came back {changes} times;");
    println!("  {on} large orders got its discount, {off} did not");
    servers.stop()?;
    println!("shutdown: nothing left in the background, no plugin left");
    if failures > 0 { Err(format!("{failures} requests failed").into()) } else { Ok(()) }
}

/// Sends orders from all clients for that long.
fn drive(address: SocketAddr, time: Duration) -> Vec<Sample> {
    let end = Instant::now() + time;
    let send = |number: usize| {
        let client = Client::new(address);
        let mut samples = Vec::new();
        while Instant::now() < end {
            samples.push(client.order(number + samples.len()));
        }
        samples
    };
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| scope.spawn(move || send(number))).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    })
}

/// Unloads the plugin and loads it again, over and over; returns how often.
fn change_plugin(address: SocketAddr, busy: &AtomicBool) -> u64 {
    let client = Client::new(address);
    let mut changes = 0;
    while busy.load(Ordering::Relaxed) {
        assert_eq!(client.plugin("DELETE", PLUGIN), 200);
        thread::sleep(PAUSE);
        assert_eq!(client.plugin("PUT", PLUGIN), 201);
        thread::sleep(PAUSE);
        changes += 1;
    }
    changes
}

/// Prints a row of the table; returns how many failed.
fn row(name: &str, samples: &mut [Sample]) -> usize {
    let failures = samples.iter().filter(|sample| sample.discount.is_none()).count();
    samples.sort_by_key(|sample| sample.took);
    let at = |percent: usize| samples.get(samples.len() * percent / 100).map(|sample| sample.took);
    let time = |took: Option<Duration>| took.map_or_else(String::new, |took| format!("{took:.1?}"));
    let (p50, p99) = (time(at(50)), time(at(99)));
    println!("  {name:<30} {:>9} {failures:>9} {p50:>9} {p99:>9}", samples.len());
    failures
}
