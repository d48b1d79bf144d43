//! Drives the service on loopback while a plugin leaves and comes back, beside the same
//! service without hooks.
//!
//! `cargo run --release -p hooks-service --example load [SECONDS]`

#![forbid(unsafe_code)]

mod client;
mod direct;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use client::{Client, Sample};
use direct::Direct;
use hooks_service::configuration::Configuration;
use hooks_service::recorder::recorder;
use hooks_service::service::Service;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How many clients send orders at the same time.
const CLIENTS: usize = 4;
/// How often the two services take turns, so that what else the machine does hits both.
const TURNS: u32 = 4;
/// The plugin that leaves and comes back.
const PLUGIN: &str = "loyalty";

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(8.0), |seconds| seconds.parse())?;
    let turn = Duration::try_from_secs_f64(seconds)? / (2 * TURNS);
    let folder = tempfile::tempdir()?;
    let journal = folder.path().join("orders.jsonl");
    let text = include_str!("../../service.toml")
        .replace("orders = 1000", &format!("orders = {}", u32::MAX))
        .replace("target/orders.jsonl", &journal.display().to_string());
    let configuration = Configuration::from_toml(&text)?;
    let direct = Direct::new(&configuration)?.router();

    let runtime = Runtime::new()?;
    recorder();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (hooked, plain, service, serving) = runtime.block_on(async {
        let (one, other) = (bind().await?, bind().await?);
        let addresses = (one.local_addr()?, other.local_addr()?);
        let service = Service::launch(configuration).await?;
        let serving = Arc::clone(&service).serve(one, async { drop(stopped.await) });
        tokio::spawn(async { axum::serve(other, direct).await });
        Ok::<_, Box<dyn Error>>((addresses.0, addresses.1, service, tokio::spawn(serving)))
    })?;

    let (mut with, mut without, mut changes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..TURNS {
        without.extend(drive(plain, turn));
        let busy = AtomicBool::new(true);
        thread::scope(|scope| {
            let changing = scope.spawn(|| change_plugin(hooked, &busy));
            with.extend(drive(hooked, turn));
            busy.store(false, Ordering::Relaxed);
            changes += changing.join().expect("the plugin came back each time");
        });
    }

    println!("{CLIENTS} clients on loopback, {seconds} s, both services in turns");
    println!("                   requests  failures      p50      p99");
    let failures = row("with hooks", &mut with) + row("without hooks", &mut without);
    let large = with.iter().filter(|sample| sample.large);
    let (on, off) = large.fold((0, 0), |(on, off), sample| match sample.discount {
        Some(10) => (on + 1, off),
        Some(0) => (on, off + 1),
        _ => (on, off),
    });
    println!("plugin {PLUGIN}: left and came back {changes} times");
    println!("large orders: {on} with its discount, {off} without");
    drop(stop);
    runtime.block_on(serving)??;
    println!(
        "shutdown: nothing left in the background, {} plugins left",
        service.hooks().plugins().len()
    );
    if failures > 0 { Err(format!("{failures} requests failed").into()) } else { Ok(()) }
}

async fn bind() -> std::io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").await
}

/// Sends orders from all clients for that long.
fn drive(address: SocketAddr, time: Duration) -> Vec<Sample> {
    let end = Instant::now() + time;
    thread::scope(|scope| {
        let clients = (0..CLIENTS).map(|number| {
            scope.spawn(move || {
                let client = Client::new(address);
                let mut samples = Vec::new();
                while Instant::now() < end {
                    samples.push(client.order(number + samples.len()));
                }
                samples
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    })
}

/// Unloads the plugin and loads it again, over and over; returns how often.
fn change_plugin(address: SocketAddr, busy: &AtomicBool) -> u64 {
    let client = Client::new(address);
    let mut changes = 0;
    while busy.load(Ordering::Relaxed) {
        assert_eq!(client.plugin("DELETE", PLUGIN), 200);
        assert_eq!(client.plugin("PUT", PLUGIN), 201);
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
    println!("  {name:<15} {:>9} {failures:>9} {p50:>8} {p99:>8}", samples.len());
    failures
}
