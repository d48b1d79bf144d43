//! What annotations expand to: a closure around the user's function.
//!
//! An expansion names its point in one place. The closure in it knows the point
//! only through the types that the runtime hands it: where the name is no
//! point there are none, so that nothing else can be wrong about them and the
//! one mistake is one error.
// The types here live for one expression of an expansion: nobody prints them.
#![allow(missing_debug_implementations)]

mod ends;
mod given;
mod listed;

pub use ends::*;
pub use given::*;
pub use listed::*;
