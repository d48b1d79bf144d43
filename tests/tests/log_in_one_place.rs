//! Every event of the runtime is emitted in one file, whose one function
//! contains a log subscriber that panics (L12).

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn l12_every_event_goes_through_the_one_function_that_contains_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-runtime/src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let events = ["error", "warn", "info", "debug", "trace", "event"];
    let mut elsewhere = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let emits = code
            .filter(|line| events.iter().any(|event| line.contains(&format!("tracing::{event}!"))))
            .count();
        if file.ends_with("src/observe/log.rs") {
            let emitted = text.matches("emit(").count();
            assert!(emits > 0 && emitted >= emits, "{emits} events, {emitted} of them contained");
        } else if emits > 0 || text.contains("use tracing::{error") {
            elsewhere.push(file);
        }
    }
    assert_eq!(elsewhere, [""; 0].map(PathBuf::from));
}
