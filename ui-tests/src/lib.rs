//! What the compiler, `cargo doc` and an editor make of the macros.
//!
//! The cases that are compiled are in `cases/`, the tests in `tests/`.

pub mod sample;
