//! Writes a thousand points: what a fire of another point must not feel.

use std::fmt::Write;
use std::path::PathBuf;

const POINTS: usize = 1_000;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (mut points, mut handlers) = (String::new(), String::new());
    for n in 0..POINTS {
        let _ = writeln!(
            points,
            "    /// One of many.\n    pub(crate) void Elsewhere{n}(TellPayload);"
        );
        let _ = writeln!(handlers, "    touch::<Elsewhere{n}>,");
    }
    let text = format!(
        "hooks_runtime::hook_points! {{\n{points}}}\n\n\
         const EACH: [fn(&HookRegistry); {POINTS}] = [\n{handlers}];\n"
    );
    let out = std::env::var_os("OUT_DIR").expect("cargo names a directory for what is generated");
    std::fs::write(PathBuf::from(out).join("elsewhere.rs"), text).expect("it can be written");
}
