//! Measuring on a noisy machine.

pub(crate) mod allocations;
pub(crate) mod clock;
pub(crate) mod instructions;
pub(crate) mod table;
