//! The pages of the documentation.

pub mod guides;
pub mod performance;

#[doc = include_str!("laws.md")]
pub mod laws {}

#[doc = include_str!("mistakes.md")]
pub mod mistakes {}
