//! A real library under load (L19): a plugin wraps a value of a shared library, is
//! fired from threads and tasks, uninstalled and waited for, and the library is
//! unloaded: a hundred times. Code of it that ran later would end the process.
//!
//! The library is `meter.rs` beside this, built here. Loading a library and calling
//! its functions is unsafe.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use hooks_runtime::{
    BeforeExecute, Finally, FlowContext, HookRegistry, hook_handlers, hook_points,
};
use libloading::Library;
use tokio::time::timeout;

hook_points! {
    /// Something ticks.
    pub void Tick(u64);
    /// How much is it?
    pub claiming Total(u64) -> u64;
    /// One measurement, stage by stage.
    pub flow Measure(u64) -> u64;
}

/// A meter in the library; opaque here.
type Raw = *mut std::ffi::c_void;

/// A value of the library. Its code runs when it is called and when it is dropped.
struct Meter {
    raw: Raw,
    add: unsafe extern "C" fn(Raw, u64) -> u64,
    discard: unsafe extern "C" fn(Raw) -> u64,
    counts: Arc<Counts>,
}

/// What the host counts of one meter.
#[derive(Default)]
struct Counts {
    /// Calls that have ended.
    calls: AtomicU64,
    /// Drops of the meter, and what its total was.
    drops: AtomicU64,
    total: AtomicU64,
    /// Openings in runs, and closings.
    opened: AtomicU64,
    closed: AtomicU64,
}

// SAFETY: the library's meter is changed by atomic operations only.
unsafe impl Send for Meter {}
// SAFETY: as above.
unsafe impl Sync for Meter {}

impl Meter {
    /// The first meter of a library that was just loaded.
    fn new(library: &Library, counts: &Arc<Counts>) -> Self {
        // SAFETY: these are the types of the functions in `meter.rs`.
        unsafe {
            let make = library.get::<unsafe extern "C" fn(*mut u64) -> Raw>(b"meter_make").unwrap();
            let mut made = 0;
            let raw = make(&raw mut made);
            assert_eq!(made, 1, "the library was loaded anew");
            let add = *library.get(b"meter_add").unwrap();
            let discard = *library.get(b"meter_drop").unwrap();
            Self { raw, add, discard, counts: Arc::clone(counts) }
        }
    }

    fn add(&self, n: u64) -> u64 {
        // SAFETY: the meter is there until this is dropped, and the library until
        // the plugin was waited for.
        let total = unsafe { (self.add)(self.raw, n) };
        assert_ne!(total, 0, "the meter is there");
        self.counts.calls.fetch_add(1, SeqCst);
        total
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // SAFETY: as above, and it is not used afterwards.
        let total = unsafe { (self.discard)(self.raw) };
        self.counts.total.store(total, SeqCst);
        self.counts.drops.fetch_add(1, SeqCst);
    }
}

/// What the plugin puts into the state of a run: adds to the meter when it is
/// dropped.
struct Reading(Arc<Meter>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.add(1);
    }
}

struct MeterPlugin(Arc<Meter>);

#[hook_handlers(plugin = "meter")]
impl MeterPlugin {
    #[hook_handler(Tick)]
    fn tick(&self, n: &u64) {
        self.0.add(*n);
    }

    #[hook_handler(Total)]
    async fn total(&self, n: &u64) -> Option<u64> {
        self.0.add(*n);
        tokio::task::yield_now().await;
        Some(self.0.add(*n))
    }

    #[hook_handler(BeforeExecute<Measure>)]
    fn open(&self, flow: &mut FlowContext<Measure>) {
        self.0.add(1);
        self.0.counts.opened.fetch_add(1, SeqCst);
        flow.state_mut().insert(Reading(Arc::clone(&self.0)));
    }

    #[hook_handler(Finally<Measure>)]
    async fn close(&self, _: &mut FlowContext<Measure>) {
        self.0.add(1);
        tokio::task::yield_now().await;
        self.0.counts.closed.fetch_add(1, SeqCst);
    }
}

/// Fires all three models until `ended`.
async fn fire(hooks: HookRegistry, ended: Arc<AtomicBool>) {
    while !ended.load(SeqCst) {
        hooks.fire_void::<Tick>(&1).await.unwrap();
        let _claim = hooks.fire_claiming::<Total>(&1).await.unwrap();
        let operation = async |n| {
            tokio::task::yield_now().await;
            Ok::<_, String>(n)
        };
        hooks.run_flow::<Measure, _>(1, operation).await.unwrap();
        tokio::task::yield_now().await;
    }
}

fn build() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/meter.rs");
    let built =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libmeter-{}.so", std::process::id()));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=meter", "-o"])
        .args([&built, &source])
        .status()
        .unwrap();
    assert!(status.success(), "{} was not built", source.display());
    built
}

/// Whether the library is in the memory of this process.
fn is_mapped(library: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(library.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l19_a_library_is_unloaded_under_load_a_hundred_times() {
    let (path, hooks) = (build(), HookRegistry::new());
    let ended = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> =
        (0..4).map(|_| tokio::spawn(fire(hooks.clone(), Arc::clone(&ended)))).collect();
    let threads = [(); 2].map(|()| {
        let (hooks, ended) = (hooks.clone(), Arc::clone(&ended));
        std::thread::spawn(move || futures::executor::block_on(fire(hooks, ended)))
    });
    for round in 0..100 {
        assert!(!is_mapped(&path), "round {round}");
        // SAFETY: loading it runs none of its code.
        let library = unsafe { Library::new(&path) }.unwrap();
        assert!(is_mapped(&path), "round {round}");
        let counts = Arc::<Counts>::default();
        let meter = MeterPlugin(Arc::new(Meter::new(&library, &counts)));
        let meter = hooks.install(meter).unwrap();
        while counts.calls.load(SeqCst) < 60 || counts.opened.load(SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
        let asked = Instant::now();
        let left = timeout(Duration::from_secs(60), meter.uninstall()).await;
        left.expect("the wait ends").into_result().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(30), "it ends by a wake");
        // Its code has run for the last time, the drop of the meter included.
        let calls = counts.calls.load(SeqCst);
        assert_eq!(counts.drops.load(SeqCst), 1, "round {round}");
        assert_eq!(counts.total.load(SeqCst), calls, "round {round}");
        let (opened, closed) = (counts.opened.load(SeqCst), counts.closed.load(SeqCst));
        assert_eq!(opened, closed, "round {round}: all that was opened was closed");
        library.close().unwrap();
        assert!(!is_mapped(&path), "round {round}: the library is gone");
        assert_eq!(counts.calls.load(SeqCst), calls, "round {round}");
    }
    ended.store(true, SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    std::fs::remove_file(path).unwrap();
}
