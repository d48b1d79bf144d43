//! What an open page costs a host: the same host, with and without a page, in one run.
//!
//! `cargo run --release -p hooks-inspect --example page_load`, with seconds for each measurement
//! behind it, 3 by default.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hooks_inspect::{Inspector, Served};
use hooks_runtime::observe::Histogram;
use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
use serde_json::Value;

type Failure = Box<dyn Error + Send + Sync>;

hook_points! {
    /// May this order be placed?
    pub gating Placing { cents: u32 }
}

/// The rate of the host that takes its time.
const PACED: u32 = 1_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(3.0), |text| text.parse())?;
    let time = Duration::try_from_secs_f64(seconds)?;
    let hooks = HookRegistry::new();
    hooks.register([
        on::<Placing>().name("limit").plugin("bank").guard(|order: &PlacingPayload| {
            if order.cents < 10_000 { Judgement::Pass } else { Judgement::reject("too much") }
        }),
        on::<Placing>().name("stock").plugin("shop").guard(|_: &PlacingPayload| Judgement::Pass),
    ])?;
    let served = Inspector::new(&hooks).serve("127.0.0.1:0".parse()?).await?;

    println!("{:32}{:>14}{:>10}{:>10}   page", "", "fires/s", "mean", "p99");
    for (name, pace) in [("1,000 fires a second", Some(PACED)), ("as fast as it can", None)] {
        // A round that is not looked at, for caches and clocks.
        run(&hooks, time / 4, pace).await?;
        for page in [false, true, false] {
            let open = page.then(|| Page::open(&served)).transpose()?;
            if open.is_some() {
                traced(&hooks).await;
            }
            let (rate, took) = run(&hooks, time, pace).await?;
            let seen = match open {
                Some(open) => open.close(rate.fires)?,
                None => "none".to_owned(),
            };
            let (name, rate) = (if page { "  with a page" } else { name }, rate.per_second);
            let mean = took.sum() / u32::try_from(took.count())?.max(1);
            let (mean, p99) = (format!("{mean:.1?}"), quantile(&took, 0.99));
            println!("{name:32}{rate:>14.0}{mean:>10}{p99:>10}   {seen}");
            untraced(&hooks).await;
        }
    }
    served.stop().await;
    Ok(())
}

/// A quantile as text: shorter times than a microsecond share a bucket.
fn quantile(times: &Histogram, part: f64) -> String {
    match times.quantile(part) {
        time if time < Duration::from_micros(1) => "< 1µs".to_owned(),
        time => format!("{time:.1?}"),
    }
}

/// How often the host fired.
struct Rate {
    fires: u64,
    per_second: f64,
}

/// Fires for that time, at that pace or as fast as it can.
async fn run(
    hooks: &HookRegistry,
    time: Duration,
    pace: Option<u32>,
) -> Result<(Rate, Histogram), Failure> {
    let (hooks, mut took) = (hooks.clone(), Histogram::new());
    let host = tokio::spawn(async move {
        let began = Instant::now();
        let mut fires = 0_u32;
        while began.elapsed() < time {
            if let Some(pace) = pace {
                tokio::time::sleep_until((began + Duration::from_secs(1) * fires / pace).into())
                    .await;
            } else if fires.is_multiple_of(64) {
                // As a host would: others have their turn.
                tokio::task::yield_now().await;
            }
            let start = Instant::now();
            let gate =
                hooks.fire_gating::<Placing>(PlacingPayload { cents: fires % 10_000 }).await?;
            took.record(start.elapsed());
            gate.into_result()?;
            fires += 1;
        }
        let per_second = f64::from(fires) / began.elapsed().as_secs_f64();
        Ok::<_, Failure>((Rate { fires: fires.into(), per_second }, took))
    });
    host.await?
}

/// A client that reads the stream of fires, as a page does.
struct Page {
    socket: TcpStream,
    reading: JoinHandle<(u64, u64)>,
}

impl Page {
    fn open(served: &Served) -> Result<Self, Failure> {
        let at: SocketAddr = served.local_addr();
        let mut socket = TcpStream::connect(at)?;
        write!(socket, "GET /api/fires HTTP/1.1\r\nHost: {at}\r\n\r\n")?;
        let lines = BufReader::new(socket.try_clone()?).lines();
        let reading = std::thread::spawn(move || {
            let (mut seen, mut missed) = (0, 0);
            for data in lines.map_while(Result::ok) {
                let Some(data) = data.strip_prefix("data: ") else { continue };
                let batch: Value = serde_json::from_str(data).unwrap_or_default();
                seen += batch["fires"].as_array().map_or(0, Vec::len) as u64;
                missed += batch["missed"].as_u64().unwrap_or(0);
            }
            (seen, missed)
        });
        Ok(Self { socket, reading })
    }

    /// What it saw of so many fires.
    fn close(self, fires: u64) -> Result<String, Failure> {
        // What was missed is counted twice a second at least.
        std::thread::sleep(Duration::from_millis(700));
        self.socket.shutdown(Shutdown::Both)?;
        let (seen, missed) = self.reading.join().map_err(|_| "the client failed")?;
        if seen + missed != fires {
            return Err(format!("of {fires} fires {seen} were seen and {missed} counted").into());
        }
        Ok(format!("{seen} seen, {missed} passed over and counted"))
    }
}

async fn traced(hooks: &HookRegistry) {
    while hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
}

async fn untraced(hooks: &HookRegistry) {
    while !hooks.operator().traces().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
