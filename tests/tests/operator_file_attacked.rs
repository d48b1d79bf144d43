//! Hostile files, hosts and sequences of changes under an operator's file (L12, L34, L35).

mod file_support;

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use file_support::{Closing, host_with, in_days, load};
use hooks_runtime::HookRegistry;
use hooks_runtime::observe::{ObservedFire, Observer};
use hooks_runtime::operator::{Operator, SettingsFile};
use hooks_runtime::report::{HandlerStatus, SkipReason};

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
