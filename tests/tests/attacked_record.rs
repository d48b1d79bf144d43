//! Recordings of what nobody expects: texts without an end, handlers that come and go while
//! nobody writes, files that others touch (L38).

mod record_support;

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use hooks_runtime::record::{CapturePolicy, LineKind, Reader, Recorder, Recording};
use hooks_runtime::{HookRegistry, Plugins, hook_points, on};
use record_support::{Folder, Text, fires, recorded};

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    /// A bell rang.
    pub void Rang { bell: u32 }
    /// A bell is to ring.
    pub void Ringing { bell: u32 }
}

async fn ring(hooks: &HookRegistry) {
    hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await.unwrap();
}

/// L38: the bound of the queue is one of bytes, whatever they are of.
#[tokio::test]
async fn l38_texts_count_for_the_bound_of_the_queue() {
    let hooks = HookRegistry::new();
    let fails = |_: &RangPayload| Err::<(), _>("x".repeat(60_000));
    hooks.register(on::<Rang>().name("fails").handler(fails)).unwrap();
    let (recording, writer) = Recorder::into_writer(std::io::sink()).start(&hooks).unwrap();
    for _ in 0..1_500 {
        ring(&hooks).await;
    }
    let dropped = recording.summary().dropped;
    assert!((300..500).contains(&dropped), "64 MiB are room for some 1,100: {dropped}");
    drop(writer);
}

/// L38: so do the names of the plugins in a scope.
#[tokio::test]
async fn l38_names_count_for_the_bound_of_the_queue() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().name("hears").handler(|_: &RangPayload| ())).unwrap();
    let recorder = Recorder::into_writer(std::io::sink());
    let (recording, writer) = recorder.start(&hooks).unwrap();
    let many: Vec<_> = (0..1_000).map(|at| format!("{at:060}")).collect();
    let scope = hooks.scope(Plugins::only(&many));
    for _ in 0..1_500 {
        scope.fire_void::<Rang>(&RangPayload { bell: 1 }).await.unwrap();
    }
    let dropped = recording.summary().dropped;
    assert!((300..500).contains(&dropped), "64 MiB are room for some 1,100: {dropped}");
    drop(writer);
}

/// L38: what comes and goes while nobody writes does not pile up, and the last is told.
#[tokio::test]
async fn l38_changes_that_nobody_writes_do_not_pile_up() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().name("stays").handler(|_: &RangPayload| ())).unwrap();
    let ask = |it: Recorder| it.queue(1);
    let lines = recorded(&hooks, ask, async || {
        ring(&hooks).await;
        for _ in 0..500 {
            let once = on::<Rang>().name("once").once();
            hooks.register(once.handler(|_: &RangPayload| ())).unwrap();
            ring(&hooks).await;
        }
        hooks.register(on::<Ringing>().name("last").handler(|_: &RingingPayload| ())).unwrap();
    })
    .await;
    let kinds: Vec<_> = lines.iter().map(|line| line.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["header", "fire", "call", "dropped", "handlers", "dropped", "handlers", "end"]
    );
    let LineKind::Handlers(rang) = &lines[4].kind else { panic!("the handlers") };
    assert_eq!((&*rang.point, rang.handlers.len()), ("rang", 1));
    let dropped = lines.iter().filter_map(|line| match &line.kind {
        LineKind::Dropped(dropped) => Some(dropped.fires),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [499, 1]);
    assert_eq!(fires(&lines).len(), 1);
}

/// L38: to wait for the writer again and again keeps nothing.
#[tokio::test]
async fn l38_a_flush_that_is_polled_often_keeps_one_waker() {
    struct Quiet;
    impl Wake for Quiet {
        fn wake(self: Arc<Self>) {}
    }
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().handler(|_: &RangPayload| ())).unwrap();
    let (recording, writer) = Recorder::into_writer(std::io::sink()).start(&hooks).unwrap();
    ring(&hooks).await;
    let quiet = Arc::new(Quiet);
    let waker = Waker::from(quiet.clone());
    let mut flush = pin!(recording.flush());
    for _ in 0..100 {
        assert!(flush.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert!(Arc::strong_count(&quiet) <= 3, "{}", Arc::strong_count(&quiet));
    drop(writer);
}

/// L12: a file with the last of all numbers is in nobody's way.
#[tokio::test]
async fn l12_the_last_of_all_numbers_is_no_panic() {
    let (folder, hooks) = (Folder::new(), HookRegistry::new());
    fs::write(folder.file("day.jsonl.18446744073709551615"), "").unwrap();
    let started = Recorder::to(folder.file("day.jsonl")).start(&hooks);
    let error = started.unwrap_err().to_string();
    assert!(error.ends_with("no number is left for the next file"), "{error}");
}

/// L38: what is written into a file that was removed, and made anew by others, is lost; that is
/// told, and the recording goes on in a file of its own.
#[cfg(unix)]
#[tokio::test]
async fn l38_a_file_that_others_put_another_in_place_of_is_noticed() {
    let (folder, hooks) = (Folder::new(), HookRegistry::new());
    let file = folder.file("day.jsonl");
    hooks.register(on::<Rang>().handler(|_: &RangPayload| ())).unwrap();
    let (recording, writer) = Recorder::to(&file).start(&hooks).unwrap();
    let writing = tokio::spawn(writer.run());
    ring(&hooks).await;
    recording.flush().await;
    fs::remove_file(&file).unwrap();
    fs::write(&file, "").unwrap();
    ring(&hooks).await;
    assert_eq!(recording.flush().await.failures, 1);
    ring(&hooks).await;
    let summary = recording.close().await;
    writing.await.unwrap();
    assert_eq!((summary.fires, summary.dropped), (2, 1));
    assert_eq!(folder.names(), ["day.jsonl", "day.jsonl.1"]);
    assert_eq!(Reader::open(&file).unwrap().fires().count(), 1);
}

/// L24: a recording ends and begins anew from anywhere: in a handler, in a redaction.
#[tokio::test]
async fn l24_a_recording_is_ended_and_begun_from_inside() {
    let hooks = HookRegistry::new();
    let slot: Arc<Mutex<Option<Recording>>> = Arc::default();
    let (inside, held) = (hooks.clone(), slot.clone());
    hooks
        .register(on::<Rang>().name("restarts").handler(move |_: &RangPayload| {
            drop(held.lock().unwrap().take());
            let (again, writer) = Recorder::into_writer(std::io::sink()).start(&inside).unwrap();
            *held.lock().unwrap() = Some(again);
            drop(writer);
        }))
        .unwrap();
    let (text, ended) = (Text::default(), slot.clone());
    let redacts = CapturePolicy::redacted(move |_, _, _| drop(ended.lock().unwrap().take()));
    let recorder = Recorder::into_writer(text.clone()).catalogue(&points());
    let (recording, writer) = recorder.capture("*", redacts).start(&hooks).unwrap();
    *slot.lock().unwrap() = Some(recording);
    let writing = tokio::spawn(writer.run());
    ring(&hooks).await;
    ring(&hooks).await;
    let summary = writing.await.unwrap();
    // It was ended by its first redaction, before the fire was.
    assert_eq!((summary.fires, summary.dropped), (0, 1));
    let kinds: Vec<_> = text.lines().iter().map(|line| line.kind.as_str()).collect();
    assert_eq!(kinds, ["header", "end"]);
}

/// L12: a disk that is full reaches no fire.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn l12_a_disk_that_is_full_is_contained() {
    let hooks = HookRegistry::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = Recorder::into_writer(full).start(&hooks).unwrap_err().to_string();
    assert!(error.starts_with("cannot record to the writer: No space left"), "{error}");
    ring(&hooks).await;
    let (recording, writer) = Recorder::into_writer(std::io::sink()).start(&hooks).unwrap();
    drop((recording, writer));
}
