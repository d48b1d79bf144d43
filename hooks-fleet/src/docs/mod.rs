//! The pages of the documentation.

#[doc = include_str!("guide.md")]
pub mod guide {}
