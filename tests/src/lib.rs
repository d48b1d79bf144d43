//! See `tests/`.

/// The README, whose code is compiled and run as that of any page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
