//! Hostile files, hosts and sequences of changes under an operator's file (L12, L34, L35).

use std::sync::mpsc;
use std::time::Duration;

use hooks_runtime::operator::SettingsFile;

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
