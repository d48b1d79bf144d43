//! The models by name. Each is one file of the same shape: how a point is
//! fired, and how a handler that speaks JSON becomes one of it.

mod claiming;
mod flow;
mod gating;
mod modifying;
mod void;
