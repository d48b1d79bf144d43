//! Measuring on a noisy machine.

pub(crate) mod clock;
pub(crate) mod instructions;
