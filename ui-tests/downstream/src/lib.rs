//! The users are the tests in `tests/`.
