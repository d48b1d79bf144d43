//! Hostile files, hosts and sequences of changes under an operator's file (L12, L34, L35).

mod file_support;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use file_support::{
    Closing, Placed, PlacedPayload, Placing, PlacingPayload, Shipping, ShippingPayload, host,
    host_with, in_days, load,
};
use hooks_runtime::observe::{ObservedFire, Observer};
use hooks_runtime::operator::{Operator, Setting, SettingEnd, SettingsFile};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, Gate, HookRegistry, Judgement, hook_points,
    on,
};
use support::keep_quiet;
use tokio::time::advance;

hook_points! {
    #[hook(on_failure = "closed")]
    pub void Audited { cents: u32 }
}

const HOUR: Duration = Duration::from_secs(3_600);

/// The result of `work`, or a failed test where it takes longer than any file should.
fn within_a_minute<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    let result = result.recv_timeout(Duration::from_secs(60));
    result.unwrap_or_else(|_| panic!("{what} takes longer than a minute"))
}

/// Half a megabyte of each: a mistake in every byte of one line, in every line, at every depth.
#[test]
fn the_worst_files_are_refused_soon() {
    const LENGTH: usize = 1 << 19;
    let filled = |part: &[u8]| part.repeat(LENGTH / part.len());
    let files: [(&str, Vec<u8>); 12] = [
        ("bytes that are no text", filled(b"\xff")),
        ("lines that are no text", filled(b"\xff\n")),
        ("zeros", filled(b"\0")),
        ("`=`", filled(b"=")),
        ("lines of `=`", filled(b"=\n")),
        ("`\\r`", filled(b"\r")),
        ("quotes", filled(b"\"")),
        ("brackets", filled(b"[")),
        ("nested arrays", [b"a = ".to_vec(), filled(b"[")[4..].to_vec()].concat()),
        ("commas", [b"a = [".to_vec(), filled(b",")[5..].to_vec()].concat()),
        ("dots", [filled(b"a.")[6..].to_vec(), b"a = 1".to_vec()].concat()),
        ("bad escapes", [b"a = \"".to_vec(), filled(b"\\q")[6..].to_vec()].concat()),
    ];
    for (what, bytes) in files {
        let mistakes = within_a_minute(what, move || SettingsFile::parse(bytes).mistakes().len());
        assert!(mistakes > 0, "{what}");
    }
}

/// Loads a file when it observes the first fire.
#[derive(Clone, Debug, Default)]
struct LoadsAtFirst(Arc<Mutex<Option<(Operator, String)>>>);

impl Observer for LoadsAtFirst {
    fn fire_started(&self, _: &ObservedFire) {
        let file = self.0.lock().unwrap().take();
        if let Some((operator, text)) = file {
            load(&operator, &text).unwrap();
        }
    }
}

/// The file is loaded when the run has begun to be reported, and before it has its settings.
#[tokio::test(start_paused = true)]
async fn l35_the_report_of_a_run_has_each_break_glass_setting_that_counted_in_it() {
    let until = in_days(1);
    let file = format!(
        "[[setting]]\ntarget = 'orders:close/finally:*'\nmode = 'disable'\nbreak_glass = true\n\
         why = 'it hangs'\nuntil = {until}\n"
    );
    let observer = LoadsAtFirst::default();
    let hooks = host_with(HookRegistry::builder().observer(observer.clone()));
    *observer.0.lock().unwrap() = Some((hooks.operator(), file));
    let operation = async |cents| Ok::<_, std::io::Error>(cents);
    let (_, report) = hooks.flow::<Closing>().run_reported(1, operation).await;
    let row = report.stages()[0].handler("close").unwrap();
    assert_eq!(row.status(), &HandlerStatus::Filtered(SkipReason::Disabled));
    assert_eq!(report.break_glass(), row.settings());
}

/// Two files, each of which disables another half of the stages: a run has the one or the
/// other in all of its stages, also when plugins come and go.
#[test]
fn l34_a_run_has_one_file_in_all_of_its_stages() {
    let hooks = HookRegistry::new();
    type Context = FlowContext<Closing>;
    hooks
        .register([
            on::<BeforeExecute<Closing>>().name("one").handler(|_: &mut Context| ()),
            on::<BeforeExecute<Closing>>().name("two").handler(|_: &mut Context| ()),
            on::<AfterExecute<Closing>>().name("one").handler(|_: &mut Context| ()),
            on::<AfterExecute<Closing>>().name("two").handler(|_: &mut Context| ()),
            on::<Finally<Closing>>().name("one").handler(|_: &mut Context| ()),
            on::<Finally<Closing>>().name("two").handler(|_: &mut Context| ()),
        ])
        .unwrap();
    let operator = hooks.operator();
    let files = ["one", "two"].map(|name| {
        SettingsFile::parse(format!(
            "[[setting]]\ntarget = 'orders:close/*:{name}'\nmode = 'disable'\nbreak_glass = true\n\
             why = 'tried'\nuntil = {}\n",
            in_days(2),
        ))
    });
    operator.load(&files[0]).unwrap();
    let (begin, is_done) = (Barrier::new(4), AtomicBool::new(false));
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                begin.wait();
                while !is_done.load(SeqCst) {
                    let operation = async |cents| Ok::<_, std::io::Error>(cents);
                    let run = hooks.flow::<Closing>().run_reported(1, operation);
                    let (_, report) = futures::executor::block_on(run);
                    let disabled = |name: &str| {
                        let stages = report.stages().iter();
                        let rows = stages.map(|stage| stage.handler(name).unwrap().status());
                        rows.filter(|status| {
                            **status == HandlerStatus::Filtered(SkipReason::Disabled)
                        })
                        .count()
                    };
                    let disabled = (disabled("one"), disabled("two"));
                    assert!(disabled == (3, 0) || disabled == (0, 3), "{report}");
                    let counted = &report.stages()[0].handlers()[usize::from(disabled.0 == 0)];
                    assert!(report.break_glass().contains(&counted.settings()[0]), "{report}");
                }
            });
        }
        threads.spawn(|| {
            begin.wait();
            while !is_done.load(SeqCst) {
                let late = on::<AfterExecute<Closing>>().plugin("late").name("late");
                hooks.register(late.handler(|_: &mut Context| ())).unwrap();
                hooks.unregister_plugin("late");
            }
        });
        begin.wait();
        for round in 0..1_000 {
            operator.load(&files[(round + 1) % 2]).unwrap();
        }
        is_done.store(true, SeqCst);
    });
    assert_eq!(operator.settings().len(), 1);
}

/// Loads from several threads: at the end one whole file holds.
#[test]
fn l34_of_loads_at_once_the_last_holds_whole() {
    let hooks = host();
    let file = |number: usize| {
        let text = ["count", "total", "heatmap"].map(|name| {
            format!("[[setting]]\ntarget = 'placed:stats/{name}'\nsample = 0.{number}\n")
        });
        SettingsFile::parse(text.concat())
    };
    let begin = Barrier::new(3);
    std::thread::scope(|threads| {
        for number in 1..4 {
            let (hooks, begin) = (&hooks, &begin);
            let file = file(number);
            threads.spawn(move || {
                begin.wait();
                for _ in 0..200 {
                    let loaded = hooks.operator().load(&file).unwrap();
                    assert_eq!(loaded.begins().count() + loaded.stays().count(), 3);
                    assert!(loaded.begins().count() % 3 == 0 && loaded.ends().count() % 3 == 0);
                }
            });
        }
    });
    let all = hooks.operator().settings();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|setting| setting.change() == all[0].change()), "{all:?}");
}

/// As many as there can be for one handler, each with an end of its own: what counts is the
/// last one, and what is kept of a handler does not grow with the square of their number.
#[tokio::test(start_paused = true)]
async fn l34_of_five_hundred_that_fail_closed_the_last_counts() {
    let hooks = host();
    let day = in_days(2);
    let day = day.strip_suffix("00:00:00Z").unwrap();
    let entry = |number: usize| {
        let (target, until) =
            ("*".repeat(number + 1), format!("{:02}:{:02}", number / 60, number % 60));
        format!(
            "[[setting]]\ntarget = 'placed:stats/{target}'\ntime_limit = '1s'\nfail_closed = true\n\
             until = {day}{until}:00Z\n"
        )
    };
    let text: String = (0..500).map(entry).collect();
    load(&hooks.operator(), &text).unwrap();
    let (_, report) = hooks.fire_void_reported::<Placed>(&PlacedPayload { cents: 1 }).await;
    let counted = report.handler("count").unwrap().settings();
    assert_eq!(counted, &hooks.operator().settings()[499..]);
    // It ends last; before it nothing changes.
    advance(counted[0].ends_in().unwrap() - Duration::from_secs(1)).await;
    assert_eq!(hooks.operator().settings(), counted);
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

const TARGETS: &[&str] = &[
    "placing:limits/not_too_much",
    "placing:*",
    "shipping:*",
    "shipping:carrier/check",
    "audited:*",
    "audited:log/write",
    "p*:limits/*",
    "*:*",
    "*:*/*",
];

const THINGS: &[&str] = &[
    "mode = 'disable'",
    "mode = 'shadow'",
    "mode = 'warn'",
    "mode = 'enforce'",
    "sample = 0.0",
    "sample = 0",
    "on_failure = 'open'",
    "on_failure = 'closed'",
    "time_limit = '1ns'",
    "rate_limit = { calls = 1, per = '1h' }",
    "breaker = { consecutive = 1 }",
    "breaker = { consecutive = 1, shadow = true }",
    "force_breaker = 'open'",
    "force_breaker = 'closed'",
];

/// One to three entries, of which some do not load.
fn any_file(random: &mut Random, with_glass: bool) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        let (target, thing) = (random.of(TARGETS), random.of(THINGS));
        text += &format!("[[setting]]\ntarget = '{target}'\n{thing}\neven_if_none = true\n");
        if random.below(2) == 0 {
            text += "fail_closed = true\n";
        }
        if with_glass && random.below(2) == 0 {
            let days = in_days(1 + i64::try_from(random.below(3)).unwrap());
            text += &format!("break_glass = true\nwhy = 'tried'\nuntil = {days}\n");
        }
    }
    text
}

/// A live setting, which may be refused.
fn any_live(random: &mut Random, operator: &Operator) {
    let target = random.of(TARGETS);
    let setting = match random.below(6) {
        0 => operator.disable(target),
        1 => operator.fail_open(target),
        2 => operator.fail_closed(target),
        3 => operator.sample(target, 0.0),
        4 => operator.time_limit(target, Duration::from_nanos(1)),
        _ => operator.enforce(target),
    };
    let setting = if random.below(2) == 0 { setting.from_file() } else { setting };
    let setting = if random.below(2) == 0 { setting.until(HOUR) } else { setting };
    let _ = setting.even_if_none().apply();
}

/// At a gate that fails closed and at one that fails open a guard that rejects, and a handler
/// that fails closed and fails: each of a plugin that comes and goes.
const PLUGINS: [&str; 3] = ["limits", "carrier", "log"];

fn register(hooks: &HookRegistry, plugin: &str) {
    let registered = match plugin {
        "limits" => {
            let limit = on::<Placing>().plugin("limits").name("not_too_much");
            hooks.register(limit.guard(|_: &PlacingPayload| Judgement::reject("no")))
        }
        "carrier" => {
            let check = on::<Shipping>().plugin("carrier").name("check");
            // Not at once: a time limit makes it fail.
            let guard = async |_: &ShippingPayload| {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Judgement::reject("no")
            };
            hooks.register(check.guard(guard))
        }
        _ => {
            let write = on::<Audited>().plugin("log").name("write");
            hooks.register(write.handler(|_: &AuditedPayload| Err("no disk")))
        }
    };
    registered.unwrap();
}

/// Whether the fire that the plugin is to stop went on, and how many break-glass settings are
/// in its report.
async fn passed(hooks: &HookRegistry, plugin: &str) -> (bool, usize) {
    match plugin {
        "limits" => {
            let (gate, report) =
                hooks.fire_gating_reported::<Placing>(PlacingPayload { cents: 1 }).await;
            (matches!(gate, Ok(Gate::Passed(_))), report.break_glass().len())
        }
        "carrier" => {
            let (gate, report) =
                hooks.fire_gating_reported::<Shipping>(ShippingPayload { cents: 1 }).await;
            (matches!(gate, Ok(Gate::Passed(_))), report.break_glass().len())
        }
        _ => {
            let (fire, report) =
                hooks.fire_void_reported::<Audited>(&AuditedPayload { cents: 1 }).await;
            (fire.is_ok(), report.break_glass().len())
        }
    }
}

async fn any_sequence(seed: u64, with_glass: bool) -> (usize, usize) {
    let (mut random, hooks, mut is_there) = (Random(seed), HookRegistry::new(), [false; 3]);
    let operator = hooks.operator();
    let (mut loads, mut opened, mut said) = (0, 0, Vec::new());
    for _ in 0..60 {
        match random.below(7) {
            0..=2 => {
                let text = any_file(&mut random, with_glass);
                let outcome = load(&operator, &text).map(|loaded| loaded.to_string());
                loads += usize::from(outcome.is_ok());
                said.push(format!("{text}{outcome:?}"));
            }
            3 => any_live(&mut random, &operator),
            4 => {
                let settings = operator.settings();
                if !settings.is_empty() {
                    operator.clear(settings[random.below(settings.len())].id()).unwrap();
                }
            }
            5 => advance(HOUR * u32::try_from(random.below(30)).unwrap()).await,
            _ => {
                let number = random.below(PLUGINS.len());
                if is_there[number] {
                    hooks.unregister_plugin(PLUGINS[number]);
                } else {
                    register(&hooks, PLUGINS[number]);
                }
                is_there[number] = !is_there[number];
            }
        }
        for (plugin, _) in PLUGINS.iter().zip(is_there).filter(|(_, is_there)| *is_there) {
            let (is_open, glass) = passed(&hooks, plugin).await;
            assert!(!is_open || (with_glass && glass > 0), "seed {seed}, {plugin}: {said:#?}");
            opened += usize::from(is_open);
        }
    }
    (loads, opened)
}

#[tokio::test(start_paused = true)]
async fn l35_no_sequence_of_files_and_settings_opens_a_gate_by_the_way() {
    let mut loads = 0;
    for seed in 0..150 {
        loads += any_sequence(seed, false).await.0;
    }
    // The sequences are none that are refused all along.
    assert!(loads > 500, "{loads}");
}

#[tokio::test(start_paused = true)]
async fn l35_while_a_gate_is_open_each_report_says_so() {
    let mut opened = 0;
    for seed in 0..150 {
        opened += any_sequence(seed, true).await.1;
    }
    assert!(opened > 100, "{opened}");
}

/// Panics, or changes the settings itself, whenever one changes.
#[derive(Clone, Debug, Default)]
struct Meddler(Arc<Mutex<Option<Operator>>>, Arc<AtomicUsize>);

impl Meddler {
    fn meddle(&self) {
        let operator = self.0.lock().unwrap().clone();
        if let Some(operator) = operator
            && self.1.fetch_add(1, SeqCst) < 3
        {
            let text = "[[setting]]\ntarget = 'placed:audit/*'\nmode = 'disable'\n";
            load(&operator, text).unwrap();
            load(&operator, "x = 1").unwrap_err();
            operator.preview(&SettingsFile::parse(text)).unwrap();
        }
        panic!("meddled");
    }
}

impl Observer for Meddler {
    fn setting_began(&self, _: &Setting) {
        self.meddle();
    }

    fn setting_ended(&self, _: &Setting, _: SettingEnd) {
        self.meddle();
    }
}

impl Timer for Meddler {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        self.meddle();
        None
    }

    fn now(&self) -> std::time::Instant {
        self.meddle();
        std::time::Instant::now()
    }
}

/// What is called in the middle of a load holds no lock, and breaks nothing.
#[test]
fn l12_observers_and_clocks_that_load_and_panic_leave_a_load_whole() {
    keep_quiet(&["meddled"]);
    for is_timer in [false, true] {
        let meddler = Meddler::default();
        let builder = HookRegistry::builder();
        let builder = if is_timer {
            builder.timer(meddler.clone())
        } else {
            builder.observer(meddler.clone())
        };
        let hooks = host_with(builder);
        let operator = hooks.operator();
        *meddler.0.lock().unwrap() = Some(operator.clone());
        let loaded = within_a_minute("a load", move || {
            let text = "[[setting]]\ntarget = 'placed:stats/*'\nmode = 'disable'\n";
            let loaded = load(&operator, text).unwrap().to_string();
            (loaded, load(&operator, text).unwrap().stays().count() + operator.settings().len())
        });
        meddler.0.lock().unwrap().take();
        assert!(loaded.0.starts_with("+ line 3: disable placed:stats/*"), "{loaded:?}");
        assert!(meddler.1.load(SeqCst) >= 3);
        assert_eq!(hooks.operator().settings().len(), 1, "{loaded:?}");
        let fire = hooks.fire_void_reported::<Placed>(&PlacedPayload { cents: 1 });
        let (_, report) = futures::executor::block_on(fire);
        let disabled = |name: &str| {
            let status = report.handler(name).unwrap().status();
            *status == HandlerStatus::Filtered(SkipReason::Disabled)
        };
        // Either file, and all of it.
        assert_eq!(disabled("count"), disabled("total"));
        assert_ne!(disabled("count"), disabled("record"));
    }
}

/// A folder of its own, which is removed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, SeqCst);
        let name = format!("hooks-attacked-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Lets a follower look at its file twice.
async fn two_looks() {
    for time in [2_000, 100, 0] {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        advance(Duration::from_millis(time)).await;
    }
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
}

/// What becomes of the path while it is followed: each is said once, and changes nothing.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn l34_what_is_no_file_leaves_the_settings_as_they_were() {
    let (hooks, folder) = (host(), Folder::new());
    let path = folder.0.join("hooks.toml");
    let disable = "[[setting]]\ntarget = 'placed:stats/count'\nmode = 'disable'\n";
    fs::write(&path, disable).unwrap();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&outcomes);
    let follow = hooks.operator().follow(&path).run(move |outcome| {
        let said = outcome.map(|loaded| loaded.to_string()).map_err(|error| error.to_string());
        noted.lock().unwrap().push(said);
    });
    let _task = tokio::spawn(follow);
    two_looks().await;
    assert_eq!(outcomes.lock().unwrap().split_off(0).len(), 1);
    let id = hooks.operator().settings()[0].id();
    let link = |to: &Path| std::os::unix::fs::symlink(to, &path).unwrap();
    // No two alike in a row: the same error is said once.
    let is_nothing: [(&str, &dyn Fn()); 5] = [
        ("it is not a regular file", &|| fs::create_dir(&path).unwrap()),
        ("", &|| link(&path)),
        ("it is not a regular file", &|| {
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        }),
        ("", &|| link(&path)),
        ("it is not a regular file", &|| link(Path::new("/dev/zero"))),
    ];
    for (problem, make) in is_nothing {
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
        make();
        two_looks().await;
        two_looks().await;
        let said = outcomes.lock().unwrap().split_off(0);
        assert_eq!(said.len(), 1, "{said:?}");
        let error = said[0].as_ref().unwrap_err();
        assert!(error.contains(" cannot be read: ") && error.ends_with(problem), "{error}");
        assert_eq!(hooks.operator().settings()[0].id(), id);
    }
    // It is what it was: the same setting.
    fs::remove_file(&path).unwrap();
    fs::write(&path, disable).unwrap();
    two_looks().await;
    let said = outcomes.lock().unwrap().split_off(0);
    assert_eq!(said, [Ok("= line 3: disable placed:stats/count".to_owned())]);
    assert_eq!(hooks.operator().settings()[0].id(), id);
}

/// There is one file: of two that are followed, the one that changed last holds.
#[tokio::test(start_paused = true)]
async fn l34_of_two_followers_the_last_load_holds_whole() {
    let (hooks, folder) = (host(), Folder::new());
    let paths = ["one.toml", "two.toml"].map(|name| folder.0.join(name));
    let text = |target: &str| format!("[[setting]]\ntarget = '{target}'\nmode = 'disable'\n");
    for (path, target) in paths.iter().zip(["placed:stats/*", "placed:audit/*"]) {
        fs::write(path, text(target)).unwrap();
        tokio::spawn(hooks.operator().follow(path).run(|_| ()));
        two_looks().await;
    }
    let targets = || -> Vec<String> {
        hooks.operator().settings().iter().map(|it| it.target().to_owned()).collect()
    };
    assert_eq!(targets(), ["placed:audit/*"]);
    fs::write(&paths[0], text("placed:mail/*")).unwrap();
    two_looks().await;
    two_looks().await;
    assert_eq!(targets(), ["placed:mail/*"]);
}
