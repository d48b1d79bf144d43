//! What annotations expand to: a closure around the user's function.
//!
//! An expansion names its point in one place. The closure in it knows the point
//! only through the types that the runtime hands it: where the name is no
//! point there are none, so that nothing else can be wrong about them and the
//! one mistake is one error.
// The types here live for one expression of an expansion: nobody prints them.
#![allow(missing_debug_implementations)]

mod convert;
mod finish;
mod listed;

pub use convert::*;
pub use finish::*;
pub use listed::*;
