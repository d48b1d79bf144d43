//! The cases are in `cases/`, the test that compiles them is `tests/ui.rs`.
