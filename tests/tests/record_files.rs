//! The files of a recording: read back from every cut, rotated, and bounded; a fire never
//! waits for them, and nothing of their failures reaches it (L12, L38).

mod record_support;
mod support;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use hooks_runtime::record::{
    CapturePolicy, Line, LineKind, LossReason, ReadError, Reader, RecordError, RecordSummary,
    Recorder,
};
use hooks_runtime::{HookRegistry, hook_points, on};
use record_support::{Folder, Text, fires};
use support::{keep_quiet, soon};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]
    /// A bell rang.
    pub void Rang { bell: u32 }
    /// Who takes it?
    pub claiming Routed { path: String } -> { port: u16 }
}

fn registry() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().name("log").plugin("audit").handler(|_: &RangPayload| ())).unwrap();
    let web = |routed: &RoutedPayload| (routed.path == "/").then_some(RoutedResult { port: 80 });
    hooks.register(on::<Routed>().name("web").handler(web)).unwrap();
    hooks
}

async fn ring(hooks: &HookRegistry, bell: u32) {
    hooks.fire_void::<Rang>(&RangPayload { bell }).await.unwrap();
}

fn full(recorder: Recorder) -> Recorder {
    recorder.catalogue(&points()).capture("*", CapturePolicy::Full)
}

/// A recording of a few fires, at that path.
async fn small(path: &Path) -> RecordSummary {
    let hooks = registry();
    let (recording, writer) = full(Recorder::to(path)).start(&hooks).unwrap();
    for bell in 0..3 {
        ring(&hooks, bell).await;
    }
    for path in ["/", "/ü\n\u{2028}\u{1}\"\\"] {
        let _ = hooks.fire_claiming::<Routed>(&RoutedPayload { path: path.into() }).await.unwrap();
    }
    drop(writer);
    recording.close().await
}

fn read(path: &Path) -> (Vec<Line>, Reader) {
    let mut reader = Reader::open(path).unwrap();
    let lines = reader.by_ref().map(Result::unwrap).collect();
    (lines, reader)
}

/// L38: cut at any byte, a recording is read up to its last whole line, and says so.
#[tokio::test]
async fn l38_a_recording_that_is_cut_at_any_byte_is_read_up_to_its_last_whole_line() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    let summary = small(&path).await;
    let bytes = fs::read(&path).unwrap();
    assert_eq!((summary.bytes, summary.fires, summary.files), (bytes.len() as u64, 5, 1));
    let (all, _) = read(&path);
    assert_eq!(all.len() as u64, summary.lines);
    let whole_fires: Vec<_> =
        Reader::open(&path).unwrap().fires().map(|fire| fire.unwrap().fire.fire).collect();
    assert_eq!(whole_fires.len(), 5);
    let cut = folder.file("cut.jsonl");
    for length in 0..=bytes.len() {
        let kept = &bytes[..length];
        fs::write(&cut, kept).unwrap();
        let whole = kept.iter().filter(|byte| **byte == b'\n').count();
        let begins = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (lines, reader) = read(&cut);
        assert_eq!(lines, all[..whole], "cut at {length}");
        let torn: Vec<_> =
            reader.torn().iter().map(|it| (it.place.line, it.place.offset, it.bytes)).collect();
        let left = (length - begins) as u64;
        let expected =
            if left == 0 { vec![] } else { vec![(whole as u64 + 1, begins as u64, left)] };
        assert_eq!(torn, expected, "cut at {length}");
        // A fire of which lines are torn off is left out, and no other.
        let mut reader = Reader::open(&cut).unwrap().fires();
        let (fires, errors): (Vec<_>, Vec<_>) = reader.by_ref().partition(Result::is_ok);
        let fires: Vec<_> = fires.into_iter().map(|fire| fire.unwrap().fire.fire).collect();
        assert_eq!(fires, whole_fires[..fires.len()]);
        let lines_of = |line: &Line| match &line.kind {
            LineKind::Fire(fire) => 1 + fire.calls as usize,
            _ => 0,
        };
        let begun: Vec<_> = all[..whole].iter().enumerate().collect();
        let begun: Vec<_> =
            begun.into_iter().filter(|(_, line)| lines_of(line) > 0).map(|(at, _)| at).collect();
        let complete = begun.iter().filter(|at| **at + lines_of(&all[**at]) <= whole).count();
        assert_eq!(fires.len(), complete, "cut at {length}");
        // Where no line is torn, that a fire is left out is an error.
        let is_silent = begun.len() > complete && left == 0;
        assert_eq!(errors.len(), usize::from(is_silent), "cut at {length}");
        for error in errors {
            let error = error.unwrap_err();
            let found = (whole - begun[complete] - 1) as u64;
            assert!(
                matches!(error, ReadError::Incomplete { expected: 1, found: it, .. } if it == found)
            );
            assert_eq!(error.place().unwrap().line, begun[complete] as u64 + 1);
        }
    }
}

/// L38: a line that is damaged is an error that names it, and the next can be read.
#[tokio::test]
async fn l38_damage_is_told_from_a_torn_end_and_from_what_is_newer() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    small(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let (good, file) = (lines.len(), path.display().to_string());
    let offset = lines[0].len() + 1;
    let with = |second: &str| {
        let mut lines = lines.clone();
        lines[1] = second.to_owned();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let mut reader = Reader::open(&path).unwrap();
        let mut errors: Vec<_> = reader.by_ref().filter_map(Result::err).collect();
        assert_eq!((errors.len(), reader.torn().len()), (1, 0), "{second}");
        assert_eq!(errors[0].place().unwrap().line, 2);
        assert_eq!(errors[0].place().unwrap().offset, offset as u64);
        let read = Reader::open(&path).unwrap().filter(Result::is_ok).count();
        assert_eq!(read, good - 1, "the others are read");
        errors.remove(0)
    };
    let half = &lines[1][..lines[1].len() / 2];
    let error = with(half);
    assert!(matches!(error, ReadError::Damaged { .. }), "{error}");
    let said = error.to_string();
    let start = format!("{file}:2: the line at byte {offset} is damaged: expected ");
    assert!(said.starts_with(&start), "{said}");
    let error = with(&lines[1].replace("\"fire\":", "\"fyre\":")).to_string();
    assert!(error.contains("expected a line of the kind `fire`: missing field `fire`"), "{error}");
    for nonsense in ["", "null", "[]", "{}", "7", "{\"v\":\"1\"}", "\u{feff}{}"] {
        assert!(matches!(with(nonsense), ReadError::Damaged { .. }));
    }
    let error = with(&lines[1].replace("\"v\":1", "\"v\":2"));
    assert!(matches!(error, ReadError::UnknownVersion { version: 2, .. }));
    let said =
        format!("{file}:2: it has version 2 of the format, and this program reads version 1");
    assert_eq!(error.to_string(), said);
    let error = with(&lines[1].replace("\"kind\":\"fire\"", "\"kind\":\"mood\""));
    assert!(matches!(&error, ReadError::UnknownKind { kind, .. } if kind == "mood"), "{error}");
    // A key that is not known is no error.
    fs::write(&path, text.replace("\"kind\":\"fire\"", "\"mood\":{\"a\":[1]},\"kind\":\"fire\""))
        .unwrap();
    assert!(Reader::open(&path).unwrap().all(|line| line.is_ok()));
    // Bytes that are no text.
    let mut bytes = text.clone().into_bytes();
    bytes[offset + 5] = 0xff;
    fs::write(&path, bytes).unwrap();
    let error = Reader::open(&path).unwrap().find_map(Result::err).unwrap();
    assert!(error.to_string().contains("expected text in UTF-8"), "{error}");
    // A line that is gone from the middle of a fire.
    let mut fewer = lines.clone();
    fewer.remove(2);
    fs::write(&path, fewer.join("\n") + "\n").unwrap();
    let fires: Vec<_> = Reader::open(&path).unwrap().fires().collect();
    assert!(matches!(&fires[0], Err(ReadError::Incomplete { expected: 1, found: 0, .. })));
    assert!(fires[1..].iter().all(Result::is_ok));
    assert_eq!(fires.len(), 5);
}

/// L12: what a damaged line has instead of a word is said as text that shows as itself.
#[tokio::test]
async fn l12_what_is_wrong_with_a_line_forges_nothing_where_it_is_printed() {
    let folder = Folder::new();
    let path = folder.file("day\u{1b}[2J.jsonl");
    small(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let forged = r"\u001b[2J\n0 damaged \u202e";
    let damaged = text.replace("\"status\":\"ran\"", &format!("\"status\":\"{forged}\""));
    fs::write(&path, damaged).unwrap();
    let errors: Vec<_> = Reader::open(&path).unwrap().filter_map(Result::err).collect();
    assert!(!errors.is_empty());
    for error in &errors {
        let said = error.to_string();
        assert!(said.contains(r"unknown variant `\u{1b}[2J\n0 damaged \u{202e}`"), "{said:?}");
        assert!(!said.chars().any(|char| char.is_control() || char == '\u{202e}'), "{said:?}");
    }
    let line = text.lines().nth(1).unwrap();
    let line = line.replace("\"scope\":{\"kind\":\"all\"}", "\"scope\":{\"kind\":\"\\u0007\"}");
    let said = Line::parse(&line).unwrap_err().to_string();
    assert!(said.contains(r"unknown variant `\u{7}`"), "{said:?}");
    let gone = folder.file("gone\u{1b}[2J.jsonl");
    let said = Reader::open(&gone).unwrap_err().to_string();
    assert!(said.contains(r"gone\u{1b}[2J.jsonl`"), "{said:?}");
    let error = Recorder::to(gone.join("x")).start(&registry()).unwrap_err().to_string();
    assert!(error.contains(r"gone\u{1b}[2J.jsonl/x`"), "{error:?}");
}

/// L38: files follow each other by size, each can be read alone, and the oldest go.
#[tokio::test]
async fn l38_files_are_rotated_by_size_and_read_in_order() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    let hooks = registry();
    hooks.operator().time_limit("rang:*", Duration::from_secs(9)).apply().unwrap();
    let recorder = full(Recorder::to(&path)).max_bytes(3_000).max_files(12);
    let (recording, writer) = recorder.start(&hooks).unwrap();
    let writing = tokio::spawn(writer.run());
    for bell in 0..30 {
        ring(&hooks, bell).await;
        recording.flush().await;
    }
    let late = on::<Rang>().name("late").handler(|_: &RangPayload| ());
    hooks.register(late).unwrap();
    for bell in 30..40 {
        ring(&hooks, bell).await;
        recording.flush().await;
    }
    let summary = recording.close().await;
    assert_eq!(soon(writing).await.unwrap(), summary);
    assert_eq!((summary.fires, summary.dropped), (40, 0));
    assert!(summary.files > 12, "{summary:?}");
    let names = folder.names();
    assert_eq!(names.len(), 12);
    assert!(!names.contains(&"day.jsonl".to_owned()), "the oldest is gone: {names:?}");
    let (lines, reader) = read(&path);
    assert!(reader.torn().is_empty());
    let numbers: Vec<_> = lines.iter().map(|line| line.seq).collect();
    assert!(numbers.is_sorted() && numbers.windows(2).all(|two| two[1] == two[0] + 1));
    let bells = fires(&lines);
    let bells: Vec<_> =
        bells.iter().map(|fire| fire.payload.value().unwrap()["bell"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (40 - bells.len() as u64..40).collect();
    assert_eq!(bells, expected);
    for name in names {
        let file = fs::read_to_string(folder.file(&name)).unwrap();
        let first = Line::parse(file.lines().next().unwrap()).unwrap();
        let LineKind::Header(header) = first.kind else { panic!("{name} begins with a header") };
        assert_eq!((header.points.len(), header.settings.len()), (2, 1));
    }
    let mut headers = lines.iter().filter_map(|line| match &line.kind {
        LineKind::Header(header) => Some(header),
        _ => None,
    });
    let rang = &headers.next_back().unwrap().points[0];
    assert_eq!((&*rang.point, rang.handlers.len()), ("rang", 2), "what had changed is in it");
    let last = lines.last().unwrap();
    let LineKind::End(end) = &last.kind else { panic!("it was closed") };
    assert_eq!((end.fires, end.dropped, end.lines + 1), (40, 0, summary.lines));
}

#[tokio::test]
async fn l38_files_are_rotated_by_age_and_none_is_overwritten() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    fs::write(&path, "not mine").unwrap();
    fs::write(folder.file("day.jsonl.007"), "not mine").unwrap();
    fs::write(folder.file("day.jsonl.x"), "not mine").unwrap();
    let hooks = registry();
    let minutes = Arc::new(AtomicU64::new(0));
    let clock = minutes.clone();
    let now =
        move || SystemTime::UNIX_EPOCH + Duration::from_secs(60 * clock.load(Ordering::Relaxed));
    let recorder = Recorder::to(&path).clock(now).max_age(Duration::from_secs(3_600));
    let (recording, writer) = recorder.start(&hooks).unwrap();
    tokio::spawn(writer.run());
    for minute in [0, 30, 59, 60, 61, 130] {
        minutes.store(minute, Ordering::Relaxed);
        ring(&hooks, 1).await;
        recording.flush().await;
    }
    let summary = recording.close().await;
    assert_eq!(summary.files, 3);
    let names =
        ["day.jsonl", "day.jsonl.007", "day.jsonl.1", "day.jsonl.2", "day.jsonl.3", "day.jsonl.x"];
    assert_eq!(folder.names(), names);
    assert_eq!(fs::read_to_string(&path).unwrap(), "not mine");
    let files = ["day.jsonl.1", "day.jsonl.2", "day.jsonl.3"];
    let counts = files.map(|name| fires(&read(&folder.file(name)).0).len());
    assert_eq!(counts, [3, 2, 1]);
}

/// L38: two runs of one path follow each other, and a torn end of the first is told.
#[tokio::test]
async fn l38_a_second_run_begins_a_file_of_its_own() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    small(&path).await;
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 9]).unwrap();
    small(&path).await;
    let (lines, reader) = read(&path);
    assert_eq!(fires(&lines).len(), 10);
    assert_eq!(reader.torn().len(), 1);
    assert_eq!(reader.torn()[0].place.file, path);
    let all: Vec<_> = Reader::open(&path).unwrap().fires().collect::<Result<_, _>>().unwrap();
    assert_ne!(all[0].run, all[9].run);
}

/// L38: a full queue drops fires, counts them, and says so where they would have been.
#[tokio::test]
async fn l38_a_fire_never_waits_and_what_does_not_fit_is_counted() {
    let (hooks, text) = (registry(), Text::default());
    let recorder = full(Recorder::into_writer(text.clone())).queue(2);
    let (recording, writer) = recorder.start(&hooks).unwrap();
    for bell in 0..5 {
        ring(&hooks, bell).await;
    }
    // What has to be known is there all the same.
    hooks.operator().time_limit("rang:*", Duration::from_secs(9)).apply().unwrap();
    ring(&hooks, 5).await;
    assert_eq!(recording.summary().dropped, 4);
    tokio::spawn(writer.run());
    recording.flush().await;
    ring(&hooks, 6).await;
    let summary = recording.close().await;
    assert_eq!((summary.fires, summary.dropped), (3, 4));
    let lines = text.lines();
    let told: Vec<_> = lines
        .iter()
        .map(|line| match &line.kind {
            LineKind::Fire(fire) => fire.payload.value().unwrap()["bell"].to_string(),
            LineKind::Dropped(dropped) => {
                assert_eq!(dropped.why, LossReason::QueueFull);
                format!("{} fires, {} lines dropped", dropped.fires, dropped.lines)
            }
            kind => kind.as_str().to_owned(),
        })
        .collect();
    let expected = [
        "header",
        "0",
        "call",
        "1",
        "call",
        "3 fires, 6 lines dropped",
        "setting",
        "1 fires, 2 lines dropped",
        "6",
        "call",
        "end",
    ];
    assert_eq!(told, expected);
    let LineKind::End(end) = &lines.last().unwrap().kind else { panic!("closed") };
    assert_eq!((end.fires, end.dropped), (3, 4));
}

/// L12: a folder that is removed, and comes back, changes nothing for fires; what was lost is
/// counted and told.
#[tokio::test]
async fn l12_a_folder_that_is_removed_is_contained_counted_and_told() {
    let folder = Folder::new();
    let within = folder.file("within");
    fs::create_dir(&within).unwrap();
    let path = within.join("day.jsonl");
    let hooks = registry();
    let (recording, writer) = full(Recorder::to(&path)).start(&hooks).unwrap();
    tokio::spawn(writer.run());
    ring(&hooks, 0).await;
    assert_eq!(recording.flush().await.fires, 1);
    fs::remove_dir_all(&within).unwrap();
    ring(&hooks, 1).await;
    let summary = recording.flush().await;
    assert_eq!((summary.fires, summary.dropped, summary.failures), (1, 1, 1));
    assert_eq!(summary.problem.as_deref(), Some("the file was removed"));
    let late = on::<Rang>().name("late").handler(|_: &RangPayload| ());
    hooks.register(late).unwrap();
    ring(&hooks, 2).await;
    let summary = recording.flush().await;
    assert_eq!((summary.fires, summary.dropped, summary.failures), (1, 2, 2));
    fs::create_dir(&within).unwrap();
    ring(&hooks, 3).await;
    let summary = recording.close().await;
    assert_eq!((summary.fires, summary.dropped, summary.files), (2, 2, 2));
    let (lines, _) = read(&path);
    let LineKind::Header(header) = &lines[0].kind else { panic!("a header") };
    let rang = header.points.iter().find(|point| point.point == "rang").unwrap();
    assert_eq!((header.file, rang.handlers.len()), (1, 2), "what had changed is in it");
    let LineKind::Dropped(lost) = &lines[1].kind else { panic!("{:?}", lines[1]) };
    assert_eq!(
        (lost.fires, lost.why.clone()),
        (2, LossReason::Io { problem: "the file was removed".into() })
    );
    assert_eq!(fires(&lines)[0].payload.value().unwrap()["bell"], 3);
}

/// A writer that fails, panics or writes half, as it is told.
#[derive(Clone)]
struct Faulty(Text, Arc<Mutex<&'static str>>);

impl io::Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mood = *self.1.lock().unwrap();
        match mood {
            "fail" => Err(io::Error::other("disk full")),
            "panic" => panic!("planned"),
            "half" => {
                *self.1.lock().unwrap() = "fail";
                self.0.write(&bytes[..bytes.len() / 2])
            }
            _ => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn l12_a_writer_that_fails_or_panics_is_contained() {
    keep_quiet(&["planned"]);
    let (hooks, text) = (registry(), Text::default());
    let mood = Arc::new(Mutex::new(""));
    let faulty = Faulty(text.clone(), mood.clone());
    let (recording, writer) = full(Recorder::into_writer(faulty)).start(&hooks).unwrap();
    tokio::spawn(writer.run());
    for (bell, now) in (0..).zip(["", "half", "panic", "fail", ""]) {
        *mood.lock().unwrap() = now;
        ring(&hooks, bell).await;
        recording.flush().await;
    }
    let summary = recording.close().await;
    assert_eq!((summary.fires, summary.dropped, summary.failures), (2, 3, 3));
    assert_eq!(summary.problem.as_deref(), Some("disk full"));
    // Of what was half written, one line is damaged, and no other.
    let text = text.get();
    let damaged = text.lines().filter(|line| Line::parse(line).is_err()).count();
    assert_eq!(damaged, 1, "{text}");
    let good: Vec<_> = text.lines().filter_map(|line| Line::parse(line).ok()).collect();
    let lost = good.iter().find_map(|line| match &line.kind {
        LineKind::Dropped(lost) => Some(lost.clone()),
        _ => None,
    });
    let lost = lost.unwrap();
    assert_eq!((lost.fires, lost.why), (3, LossReason::Io { problem: "disk full".into() }));
    assert!(matches!(good.last().unwrap().kind, LineKind::End(_)));
}

#[tokio::test]
async fn l38_a_recording_that_cannot_begin_says_so_and_leaves_nothing() {
    let (hooks, folder) = (registry(), Folder::new());
    let path = folder.file("none").join("day.jsonl");
    let error = Recorder::to(&path).start(&hooks).unwrap_err();
    let start = format!("cannot record to `{}`: ", path.display());
    assert!(error.to_string().starts_with(&start), "{error}");
    let (taken, beside) = (folder.file("taken"), folder.names());
    fs::create_dir(&taken).unwrap();
    let error = Recorder::to(&taken).start(&hooks).unwrap_err();
    let said = format!("cannot record to `{}`: is a directory", taken.display());
    assert_eq!(error.to_string(), said);
    assert_eq!(folder.names().len(), beside.len() + 1, "nothing is beside it");
    let faulty = Faulty(Text::default(), Arc::new(Mutex::new("fail")));
    let error = Recorder::into_writer(faulty).start(&hooks).unwrap_err();
    assert_eq!(error.to_string(), "cannot record to the writer: disk full");
    for (zero, limit) in [
        (Recorder::to(&path).queue(0), "queue"),
        (Recorder::to(&path).value_bytes(0), "value_bytes"),
        (Recorder::to(&path).max_bytes(0), "max_bytes"),
        (Recorder::to(&path).max_age(Duration::ZERO), "max_age"),
        (Recorder::to(&path).max_files(0), "max_files"),
    ] {
        let error = zero.start(&hooks).unwrap_err();
        assert_eq!(error.to_string(), format!("`{limit}` cannot be 0: nothing could be recorded"));
    }
    let unknown = full(Recorder::to(&path)).capture("rnag", CapturePolicy::None);
    let error = unknown.start(&hooks).unwrap_err();
    assert_eq!(error.to_string(), "no hook point is `rnag`; did you mean `rang`?");
    assert!(matches!(error, RecordError::NoPoint { .. }));
    // What `main` prints.
    assert_eq!(format!("{error:?}"), error.to_string());
    // Values that no recording could have are not asked for in vain.
    for point in ["*", "rang"] {
        let blind = Recorder::into_writer(io::sink()).capture(point, CapturePolicy::Hash);
        let error = blind.start(&hooks).unwrap_err();
        let expected = format!(
            "nothing could be captured at `{point}`: no catalogue with JSON has it; \
             `Recorder::catalogue` gives one"
        );
        assert_eq!(error.to_string(), expected);
    }
    let nothing = Recorder::into_writer(io::sink()).capture("*", CapturePolicy::None);
    drop(nothing.start(&hooks).unwrap());
    // None of them has left a mark: the next one begins.
    let (_recording, _writer) = Recorder::into_writer(io::sink()).start(&hooks).unwrap();
}

/// L38: what an editor makes of a file, a mark at its start and other ends of lines, is read.
#[tokio::test]
async fn l38_a_mark_at_the_start_and_other_line_ends_are_read() {
    let folder = Folder::new();
    let path = folder.file("day.jsonl");
    small(&path).await;
    let (lines, _) = read(&path);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
    let (again, reader) = read(&path);
    assert!(reader.torn().is_empty());
    assert_eq!(again, lines);
    // Anywhere else it is damage.
    fs::write(&path, text.replacen('\n', "\n\u{feff}", 1)).unwrap();
    let damaged: Vec<_> = Reader::open(&path).unwrap().filter_map(Result::err).collect();
    assert_eq!(damaged.len(), 1);
    assert_eq!(damaged[0].place().unwrap().line, 2);
}

/// L38: fires of several threads are each in one file, whole and once, also where that is
/// rotated meanwhile; what a full queue drops is counted, and nothing else is missing.
#[test]
fn l38_threads_that_fire_while_files_are_rotated_lose_nothing_unsaid() {
    for queue in [1_000, 3] {
        let folder = Folder::new();
        let path = folder.file("day.jsonl");
        let hooks = registry();
        let recorder = full(Recorder::to(&path)).max_bytes(3_000).max_files(1_000).queue(queue);
        let (recording, writer) = recorder.start(&hooks).unwrap();
        let writing = std::thread::spawn(|| futures::executor::block_on(writer.run()));
        let start = Arc::new(std::sync::Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (hooks, start) = (hooks.clone(), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    for bell in 0..50 {
                        futures::executor::block_on(ring(&hooks, thread * 50 + bell));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let summary = futures::executor::block_on(recording.close());
        assert_eq!(writing.join().unwrap(), summary);
        assert_eq!(summary.fires + summary.dropped, 200);
        assert!(queue < 200 || summary.dropped == 0, "{summary:?}");
        assert!(summary.files > 1, "{summary:?}");
        let (lines, reader) = read(&path);
        assert!(reader.torn().is_empty());
        assert!(lines.iter().enumerate().all(|(at, line)| line.seq == at as u64));
        let told = lines.iter().filter_map(|line| match &line.kind {
            LineKind::Dropped(dropped) => Some(dropped.fires),
            _ => None,
        });
        assert_eq!(told.sum::<u64>(), summary.dropped);
        let whole: Vec<_> = Reader::open(&path).unwrap().fires().collect::<Result<_, _>>().unwrap();
        let bells = whole.iter().map(|it| it.fire.payload.value().unwrap()["bell"].as_u64());
        let mut bells: Vec<_> = bells.collect();
        bells.sort_unstable();
        bells.dedup();
        assert_eq!(bells.len() as u64, summary.fires);
    }
}

/// L38: what is flushed or closed is there; what is dropped is written as well as it can be.
#[tokio::test]
async fn l38_a_recording_ends_with_its_handle_its_writer_or_its_registry() {
    // The handle is dropped: the writer writes what waits.
    let (hooks, text) = (registry(), Text::default());
    let (recording, writer) = Recorder::into_writer(text.clone()).start(&hooks).unwrap();
    ring(&hooks, 0).await;
    drop(recording);
    ring(&hooks, 1).await;
    assert_eq!(soon(writer.run()).await.fires, 1);
    assert!(text.get().ends_with("\"fires\":1,\"dropped\":0}\n"));
    // The writer is dropped: it writes what waits, and the recording has ended.
    let text = Text::default();
    let (recording, writer) = Recorder::into_writer(text.clone()).start(&hooks).unwrap();
    ring(&hooks, 0).await;
    drop(writer);
    ring(&hooks, 1).await;
    let summary = soon(recording.close()).await;
    assert_eq!((summary.fires, fires(&text.lines()).len()), (1, 1));
    // A task that is aborted drops its writer.
    let text = Text::default();
    let (recording, writer) = Recorder::into_writer(text.clone()).start(&hooks).unwrap();
    let task = tokio::spawn(writer.run());
    tokio::task::yield_now().await;
    ring(&hooks, 0).await;
    task.abort();
    assert!(soon(task).await.unwrap_err().is_cancelled());
    assert_eq!((soon(recording.close()).await.fires, fires(&text.lines()).len()), (1, 1));
    // The registry is dropped.
    let text = Text::default();
    let (recording, writer) = Recorder::into_writer(text.clone()).start(&hooks).unwrap();
    ring(&hooks, 0).await;
    drop(hooks);
    assert_eq!(soon(writer.run()).await.fires, 1);
    assert_eq!(soon(recording.close()).await.fires, 1);
}
