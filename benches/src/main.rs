//! What a fire costs, beside its baselines in the same run.
//!
//! `cargo run --release -p hooks-benches -- ready` and `-- unloadable`. Times
//! are minima over many interleaved rounds; believe the ratios.

mod measure;
mod points;
mod ready;
mod unloadable;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("ready") => ready::print(),
        Some("unloadable") => unloadable::print(),
        _ => {
            eprintln!("name a question: ready, unloadable");
            std::process::exit(2);
        }
    }
}
