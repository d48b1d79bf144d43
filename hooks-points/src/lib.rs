//! Ready-made hook points for agents, chat gateways and servers of the Model
//! Context Protocol.
//!
//! Three systems have shown where such programs want to be extended. Their
//! points are declared here, with the names and the JSON they have there, so
//! that a plugin can be carried over and a host need not invent its own:
//!
//! | module | from | models | JSON |
//! |---|---|---|---|
//! | [`agent`], [`gateway`] | Ethos | void, modifying, claiming | camel case |
//! | [`lifecycle`] | IronClaw | gating | snake case |
//! | [`mcp`] | FrontMCP | flow | the protocol's |
//!
//! The points of [`agent`] and [`gateway`], and their [`types`] and [`claims`],
//! are also at the root of the crate. Those of [`lifecycle`] and [`mcp`] are
//! not: both Ethos and IronClaw have a `before_tool_call`, and they are two
//! different points. As they share their wire name too, one registry can serve
//! only one of them.
//!
//! [`catalogue`] has all of them as data and lists them with their JSON.
//! [`guides`] has a first hook in five minutes, and how to port from each of the
//! three.
//!
//! The JSON is read strictly. Unknown, misspelt and repeated keys are errors;
//! an optional field may be absent or `null`, and is left out when written.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod catalogue;
pub mod claims;
pub mod gateway;
pub mod guides;
pub mod lifecycle;
pub mod mcp;
pub mod types;

pub use agent::*;
pub use claims::*;
pub use gateway::*;
pub use types::*;
