//! What annotations expand to: a closure around the user's function.
//!
//! An expansion names its point in one place. The closure in it knows the point
//! only through types that the runtime derives from it: where the name is not a
//! point there are none, so that no second error follows from the one mistake.
// The types here live for one expression of an expansion and are never printed.
#![allow(missing_debug_implementations)]

mod convert;
mod finish;
mod listed;

pub use convert::*;
pub use finish::*;
pub use listed::*;
