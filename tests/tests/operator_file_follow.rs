//! A file that is followed: loaded again when its bytes change (L34), whatever becomes of it
//! in between. Time is paused: a look at the file takes none.

mod file_support;
mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use file_support::{Placed, PlacedPayload, host, host_with};
use hooks_runtime::HookRegistry;
use hooks_runtime::operator::{FileError, Loaded, SettingsFile};
use hooks_runtime::timer::{Sleep, Timer};
use support::{keep_quiet, soon};
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

const DISABLE: &str = "[[setting]]\ntarget = 'placed:stats/count'\nmode = 'disable'\n";
const SAMPLE: &str = "[[setting]]\ntarget = 'placed:stats/count'\nsample = 0.5\n";
const MISTAKEN: &str = "[[setting]]\ntarget = 'placed:stats/count'\nmode = 'disabel'\n";

/// A file in a folder of its own, which is removed.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, SeqCst);
        let folder = std::env::temp_dir().join(format!("hooks-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.join("hooks.toml")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }

    /// As tools do: another file takes its place.
    fn replace(&self, text: &str) {
        fs::write(self.0.join("new"), text).unwrap();
        fs::rename(self.0.join("new"), self.path()).unwrap();
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&*self.0.to_string_lossy(), "…")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Outcomes = Arc<Mutex<Vec<Result<Loaded, FileError>>>>;

/// Follows the file in a task of its own.
fn follow(hooks: &HookRegistry, place: &Place) -> (Outcomes, tokio::task::JoinHandle<()>) {
    let outcomes = Outcomes::default();
    let noted = Arc::clone(&outcomes);
    let follow = hooks.operator().follow(place.path());
    let task = tokio::spawn(follow.run(move |outcome| noted.lock().unwrap().push(outcome)));
    (outcomes, task)
}

fn taken(outcomes: &Outcomes, place: &Place) -> Vec<String> {
    let text = |outcome: Result<Loaded, FileError>| match outcome {
        Ok(loaded) => loaded.to_string(),
        Err(error) => place.shown(&error.to_string()),
    };
    outcomes.lock().unwrap().drain(..).map(text).collect()
}

/// Lets tasks run, and then that time pass.
async fn pass(time: Duration) {
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    advance(time).await;
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
}

/// From the next look on, the content has to stay the same for a tenth of a second.
async fn settle() {
    pass(2 * SECOND).await;
    pass(SECOND / 10).await;
}

#[tokio::test(start_paused = true)]
async fn l34_a_file_is_loaded_at_once_and_when_its_bytes_change() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let (outcomes, _task) = follow(&hooks, &place);
    pass(Duration::ZERO).await;
    assert_eq!(taken(&outcomes, &place), ["+ line 3: disable placed:stats/count"]);
    // Nothing changes, and then it is written again with the same bytes.
    settle().await;
    place.write(DISABLE);
    settle().await;
    assert_eq!(taken(&outcomes, &place), <[&str; 0]>::default());

    place.write(SAMPLE);
    pass(SECOND).await;
    assert_eq!(taken(&outcomes, &place), <[&str; 0]>::default(), "it was not looked at yet");
    settle().await;
    let changed = ["+ line 3: sample 50 % placed:stats/count\n- disable placed:stats/count"];
    assert_eq!(taken(&outcomes, &place), changed);

    place.replace(DISABLE);
    settle().await;
    let back = ["+ line 3: disable placed:stats/count\n- sample 50 % placed:stats/count"];
    assert_eq!(taken(&outcomes, &place), back);
}

#[tokio::test(start_paused = true)]
async fn l34_a_mistake_is_said_once_and_the_old_settings_stay() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let (outcomes, _task) = follow(&hooks, &place);
    settle().await;
    let before = hooks.operator().settings();
    assert_eq!((taken(&outcomes, &place).len(), before.len()), (1, 1));
    place.write(MISTAKEN);
    for _ in 0..4 {
        settle().await;
    }
    let said = "`…/hooks.toml` has a mistake, so nothing of it was applied";
    let mistake = "line 3, `mode`: expected `enforce`, `disable`, `shadow` or `warn`, found \
                   `disabel`; did you mean `disable`?";
    assert_eq!(taken(&outcomes, &place), [format!("{said}\n{mistake}")]);
    assert_eq!(hooks.operator().settings(), before);
    // Another mistake is another content; the first file again changes nothing.
    place.write("nothing");
    settle().await;
    assert_eq!(taken(&outcomes, &place).len(), 1);
    place.write(DISABLE);
    settle().await;
    assert_eq!(taken(&outcomes, &place), ["= line 3: disable placed:stats/count"]);
    assert_eq!(hooks.operator().settings(), before);
}

#[tokio::test(start_paused = true)]
async fn l34_a_file_that_is_gone_leaves_the_settings_and_may_come_back() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let (outcomes, _task) = follow(&hooks, &place);
    settle().await;
    taken(&outcomes, &place);
    fs::remove_file(place.path()).unwrap();
    for _ in 0..3 {
        settle().await;
    }
    let said = taken(&outcomes, &place);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("`…/hooks.toml` cannot be read: "), "{said:?}");
    assert_eq!(hooks.operator().settings().len(), 1);
    place.write(SAMPLE);
    settle().await;
    assert_eq!(taken(&outcomes, &place).len(), 1);

    // A folder, which is no file.
    fs::remove_file(place.path()).unwrap();
    fs::create_dir(place.path()).unwrap();
    settle().await;
    let said = taken(&outcomes, &place);
    assert_eq!(said, ["`…/hooks.toml` cannot be read: it is not a regular file"]);
    assert_eq!(hooks.operator().settings().len(), 1);
    fs::remove_dir(place.path()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_there_at_first_is_loaded_when_it_comes() {
    let (hooks, place) = (host(), Place::new());
    let (outcomes, _task) = follow(&hooks, &place);
    settle().await;
    assert_eq!(taken(&outcomes, &place).len(), 1);
    place.write(DISABLE);
    settle().await;
    assert_eq!(taken(&outcomes, &place), ["+ line 3: disable placed:stats/count"]);
}

/// A writer is not atomic: what is there in between may even be right by itself.
#[tokio::test(start_paused = true)]
async fn l34_a_file_that_is_being_written_is_left_alone() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let (outcomes, _task) = follow(&hooks, &place);
    settle().await;
    taken(&outcomes, &place);
    // Empty, gone, half and whole, each seen by one look.
    place.write("");
    pass(2 * SECOND).await;
    fs::remove_file(place.path()).unwrap();
    pass(SECOND / 10).await;
    place.write(&SAMPLE[..30]);
    pass(SECOND / 10).await;
    place.write(SAMPLE);
    pass(SECOND / 10).await;
    assert_eq!(taken(&outcomes, &place), <[&str; 0]>::default());
    assert_eq!(hooks.operator().settings().len(), 1);
    pass(SECOND / 10).await;
    assert_eq!(taken(&outcomes, &place).len(), 1);
    assert_eq!(hooks.operator().settings()[0].to_string(), "sample 50 % placed:stats/count");
    // Back within one look: as if it had never been away.
    place.write("");
    pass(2 * SECOND).await;
    place.write(SAMPLE);
    settle().await;
    assert_eq!(taken(&outcomes, &place), <[&str; 0]>::default());
}

#[tokio::test(start_paused = true)]
async fn l12_a_panic_of_the_host_is_contained() {
    keep_quiet(&["not today"]);
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let count = Arc::new(AtomicUsize::new(0));
    let calls = Arc::clone(&count);
    let follow = hooks.operator().follow(place.path()).every(Duration::ZERO);
    tokio::spawn(follow.run(move |_| {
        calls.fetch_add(1, SeqCst);
        panic!("not today");
    }));
    pass(Duration::ZERO).await;
    place.write(SAMPLE);
    settle().await;
    assert_eq!((count.load(SeqCst), hooks.operator().settings().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_the_registry_and_does_not_keep_it() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let (outcomes, task) = follow(&hooks, &place);
    pass(Duration::ZERO).await;
    taken(&outcomes, &place);
    outcomes.lock().unwrap().clear();
    drop(hooks);
    soon(task).await.unwrap();
}

/// Whose sleeps are over at once, for some time.
#[derive(Debug)]
struct Hasty(AtomicUsize);

impl Timer for Hasty {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        match self.0.fetch_add(1, SeqCst) {
            0..500 => Some(Box::pin(async {})),
            500 => Some(Box::pin(async { panic!("the timer is gone") })),
            _ => unreachable!(),
        }
    }
}

#[tokio::test]
async fn a_timer_that_does_not_wait_leaves_others_their_turn_and_one_that_fails_is_said() {
    keep_quiet(&["the timer is gone"]);
    let place = Place::new();
    place.write(DISABLE);
    let hooks = host_with(HookRegistry::builder().timer(Hasty(AtomicUsize::new(0))));
    let (outcomes, task) = follow(&hooks, &place);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert!(!task.is_finished());
    hooks.fire_void::<Placed>(&PlacedPayload { cents: 1 }).await.unwrap();
    task.await.unwrap();
    assert_eq!(
        taken(&outcomes, &place),
        [
            "+ line 3: disable placed:stats/count",
            "`…/hooks.toml` is not looked at again: the registry has no timer; run it where there is \
         one, or give the registry a `Timer`"
        ]
    );
}

#[test]
fn without_a_timer_the_file_is_loaded_once_and_that_is_said() {
    let (hooks, place) = (host(), Place::new());
    place.write(DISABLE);
    let mut outcomes = Vec::new();
    let follow = hooks.operator().follow(place.path());
    futures::executor::block_on(follow.run(|outcome| outcomes.push(outcome.is_ok())));
    assert_eq!(outcomes, [true, false]);
    assert_eq!(hooks.operator().settings().len(), 1);
}

#[test]
fn messages_of_a_file_that_was_read_have_its_path() {
    let (hooks, place) = (host(), Place::new());
    place.write(MISTAKEN);
    let file = SettingsFile::read(place.path()).unwrap();
    let refused = hooks.operator().load(&file).unwrap_err().to_string();
    let head = "`…/hooks.toml` has a mistake, so nothing of it was applied\nline 3";
    assert!(place.shown(&refused).starts_with(head), "{refused}");
    // One byte more than a file may have.
    place.write(&"#".repeat((1 << 20) + 1));
    let file = SettingsFile::read(place.path()).unwrap();
    let refused = hooks.operator().load(&file).unwrap_err().to_string();
    assert!(refused.ends_with("a file of settings has at most 1048576 bytes"), "{refused}");
}
