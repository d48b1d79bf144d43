//! What an operator sees of a running registry: who is registered, what each
//! fire did, and what does not add up. A print shop, with faults on purpose.
//!
//! `cargo run --example inspect`

use std::error::Error;
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use hooks_runtime::registry::{HandlerInfo, Owner};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{
    AfterExecute, BeforeExecute, Claim, FailurePolicy, FlowContext, Gate, HookRegistry, OnError,
    Plugins, Verdict, handlers, hook_handler, hook_points, on,
};

/// What is to be printed.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it is.
    pub title: String,
    /// How many pages it has.
    pub pages: u32,
}

hook_points! {
    #![hook(catalogue = pub fn points)]

    /// An order came in.
    pub void OrderPlaced(Job);
    /// Before a price is named.
    pub modifying Pricing(Job) -> { price: u32, note: String }
    /// Which press takes the job?
    pub claiming Assigning(Job) -> &'static str;
    /// Before a job goes to the press: change it or stop it.
    #[hook(timeout = "1s")]
    pub gating Releasing(Job);
    /// One printing, stage by stage.
    #[hook(name = "press:print")]
    pub flow Printing(Job) -> String;
    /// A job was put into the archive.
    pub void Archived(Job);
}

#[hook_handler(OrderPlaced)]
fn log_order(_: &Job) {}

#[hook_handler(OrderPlaced, plugin = "mail")]
async fn confirm(_: &Job) -> Result<(), String> {
    tokio::task::yield_now().await;
    Err("the mail server said no".to_owned())
}

#[hook_handler(OrderPlaced, plugin = "stats")]
fn count(_: &Job) {
    panic!("counter overflow");
}

#[hook_handler(OrderPlaced, plugin = "crm", timeout = "5ms")]
async fn look_up(_: &Job) {
    std::future::pending::<()>().await;
}

#[hook_handler(Pricing, plugin = "discount", priority = -10)]
fn tenth_off(job: &Job) -> PricingResult {
    PricingResult { price: Some(job.pages * 9), ..PricingResult::default() }
}

#[hook_handler(Pricing)]
fn list_price(job: &Job) -> PricingResult {
    PricingResult { price: Some(job.pages * 10), note: Some("list price".to_owned()) }
}

#[hook_handler(Assigning, plugin = "posters")]
fn large_press(job: &Job) -> Option<&'static str> {
    (job.pages == 1).then_some("the large press")
}

#[hook_handler(Assigning)]
fn small_press(job: &Job) -> Option<&'static str> {
    (job.pages < 200).then_some("the small press")
}

#[hook_handler(Assigning, after = "small_pres")]
fn any_press(job: &Job) -> Option<&'static str> {
    (job.pages > 0).then_some("the next free press")
}

#[hook_handler(Releasing, plugin = "layout")]
fn even_pages(job: &Job) -> Verdict<Job> {
    if job.pages.is_multiple_of(2) {
        return Verdict::Pass;
    }
    Verdict::Replace(Job { pages: job.pages + 1, ..job.clone() })
}

#[hook_handler(Releasing, guard)]
fn enough_paper(job: &Job) -> Verdict {
    if job.pages > 100 { Verdict::reject("not enough paper") } else { Verdict::Pass }
}

#[hook_handler(BeforeExecute<Printing>, plugin = "reprints")]
fn from_stock(flow: &mut FlowContext<Printing>) {
    if flow.input().is_some_and(|job| job.title == "price list") {
        flow.respond("taken from stock".to_owned());
    }
}

#[hook_handler(AfterExecute<Printing>)]
fn trim_edges(_: &mut FlowContext<Printing>) {}

#[hook_handler(OnError<Printing>, plugin = "alarm")]
fn ring(_: &mut FlowContext<Printing>) -> Result<(), String> {
    Err("the bell is broken".to_owned())
}

/// Keeps a line for every fire, with what was called in it and how it ended.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<LogLine>>>);

#[derive(Debug)]
struct LogLine {
    fire: u64,
    depth: usize,
    point: &'static str,
    ran: u32,
    failed: u32,
    end: &'static str,
}

impl Log {
    fn at(&self, fire: &ObservedFire, note: impl FnOnce(&mut LogLine)) {
        let mut lines = self.0.lock().expect("no panic while it is held");
        if let Some(line) = lines.iter_mut().find(|line| line.fire == fire.id()) {
            note(line);
        }
    }
}

impl Observer for Log {
    fn fire_started(&self, fire: &ObservedFire) {
        let (fire, depth, point) = (fire.id(), fire.depth(), fire.point());
        let line = LogLine { fire, depth, point, ran: 0, failed: 0, end: "" };
        self.0.lock().expect("no panic while it is held").push(line);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.at(call.fire(), |line| match status {
            HandlerStatus::Ran(_) => line.ran += 1,
            _ => line.failed += 1,
        });
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.at(fire, |line| line.end = end.as_str());
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The panic below is part of the example; its backtrace is not.
    std::panic::set_hook(Box::new(|_| {}));
    let log = Log::default();
    let hooks = HookRegistry::builder().observer(log.clone()).build();
    hooks.register(handlers![log_order, confirm, count, look_up])?;
    hooks.register(handlers![tenth_off, list_price, large_press, small_press, any_press])?;
    hooks.register(handlers![even_pages, enough_paper, from_stock, trim_edges, ring])?;

    head("registered: the order in which each point runs");
    show_handlers(&hooks.handlers());

    head("void: every handler is called, whichever fail");
    let book = Job { title: "cookbook".to_owned(), pages: 99 };
    let (fired, report) = hooks.fire_void_reported::<OrderPlaced>(&book).await;
    show(&report, &outcome(fired.map(|()| "completed")));

    head("modifying: per field the first value wins");
    let (merged, report) = hooks.fire_modifying_reported::<Pricing>(&book).await;
    show(&report, &format!("{:?}", merged?));
    let built_in = hooks.scope(Plugins::BuiltIn);
    let (merged, report) = built_in.fire_modifying_reported::<Pricing>(&book).await;
    show(&report, &format!("{:?}", merged?));

    head("claiming: the first claim ends it");
    let (claim, report) = hooks.fire_claiming_reported::<Assigning>(&book).await;
    match claim? {
        Claim::Claimed(press) => show(&report, &press),
        Claim::Unclaimed => show(&report, &"unclaimed"),
    }

    head("gating: rewriters, then guards");
    for pages in [book.pages, 500] {
        let job = Job { pages, ..book.clone() };
        let (gate, report) = hooks.fire_gating_reported::<Releasing>(job).await;
        match gate? {
            Gate::Passed(job) => show(&report, &format!("passed with {} pages", job.pages)),
            Gate::Rejected(rejection) => show(&report, &rejection),
        }
    }

    head("gating: no verdict is not a pass");
    let late = on::<Releasing>().name("ask_boss").priority(-1).timeout(Duration::from_millis(5));
    let handle = hooks
        .register(late.handler(async |_: &Job| std::future::pending::<Verdict<Job>>().await))?;
    let (gate, report) = hooks.fire_gating_reported::<Releasing>(book.clone()).await;
    show(&report, &outcome(gate.map(|_| "passed")));
    handle.unregister();

    head("flow: answered in place of the operation, printed, failed");
    for title in ["price list", "cookbook", "banknotes"] {
        let job = Job { title: title.to_owned(), pages: 2 };
        let (printed, report) = hooks.flow::<Printing>().run_reported(job, print).await;
        show(&report, &outcome(printed));
    }

    head("observed: every fire, and in a flow its stages");
    show_log(&log);

    head("counters");
    show_counters(&hooks.handlers());

    head("audit: what does not add up");
    println!("  {}", hooks.audit_with(&points()).to_string().replace('\n', "\n  "));
    Ok(())
}

/// The operation of the flow.
async fn print(job: Job) -> Result<String, String> {
    if job.title == "banknotes" {
        return Err("the press refuses".to_owned());
    }
    Ok(format!("printed {}", job.title))
}

fn head(title: &str) {
    println!("\n{title}\n{}", "-".repeat(title.chars().count()));
}

fn show(report: &impl Display, outcome: &impl Display) {
    println!("{report}\n  => {outcome}");
}

fn outcome(outcome: Result<impl Display, impl Display>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

fn show_handlers(handlers: &[HandlerInfo]) {
    let rows = handlers.iter().map(|info| {
        [
            info.point.to_owned(),
            info.model.to_string(),
            info.name.to_string(),
            owner(&info.owner),
            info.priority.to_string(),
            policy(info.policy),
            info.timeout.map_or_else(|| "-".to_owned(), |limit| format!("{limit:?}")),
        ]
    });
    table(["point", "model", "handler", "owner", "priority", "fails", "limit"], rows);
}

fn show_log(log: &Log) {
    let lines = log.0.lock().expect("no panic while it is held");
    // Observers are notified of stages without handlers too; these are left out.
    let called = lines.iter().filter(|line| line.depth == 0 || line.ran + line.failed > 0);
    let rows = called.map(|line| {
        let point = format!("{:1$}{2}", "", 2 * line.depth, line.point);
        [point, line.ran.to_string(), line.failed.to_string(), line.end.to_owned()]
    });
    table(["point", "ran", "failed", "end"], rows);
}

fn show_counters(handlers: &[HandlerInfo]) {
    let rows = handlers.iter().map(|info| {
        [
            info.name.to_string(),
            info.point.to_owned(),
            info.calls.to_string(),
            info.failures.to_string(),
            info.skips.total().to_string(),
        ]
    });
    table(["handler", "point", "called", "failed", "left out"], rows);
}

fn owner(owner: &Owner) -> String {
    owner.plugin().map_or_else(|| "built-in".to_owned(), ToString::to_string)
}

fn policy(policy: FailurePolicy) -> String {
    policy.to_string().replace("fail-", "")
}

/// Prints rows in columns; numbers stand at the right.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let is_number = |cell: &str| cell.parse::<i64>().is_ok();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
            if is_number(&rows[1][at]) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:width$}")
            }
        });
        println!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
