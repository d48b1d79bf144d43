//! What a fire costs, beside its baselines in the same run.
//!
//! `cargo run --release -p hooks-benches -- ready`, `-- unloadable` and
//! `-- instructions`. Times are minima over many interleaved rounds; believe
//! the ratios. Instructions are counted by callgrind, for which valgrind has to
//! be installed.

mod instructions;
mod measure;
mod points;
mod ready;
mod rows;
mod unloadable;
mod wait;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["ready"] => ready::print(),
        ["unloadable"] => unloadable::print(),
        ["instructions"] => instructions::print(),
        ["row", name, rounds] => {
            let rounds = rounds.parse().expect("the rounds of a row are a number");
            rows::run(name, rounds).expect("the row exists");
        }
        _ => {
            eprintln!("name a question: ready, unloadable, instructions");
            std::process::exit(2);
        }
    }
}
