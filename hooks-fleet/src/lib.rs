#![doc = include_str!("../README.md")]
//!
//! # The map
//!
//! | I want to … | use |
//! |---|---|
//! | go through all of it, step by step | [`guide`] |
//! | join | [`Fleet::connect`], [`FleetOptions`], [`nats::NatsOptions`] |
//! | have handlers elsewhere take part in my fires | [`Fleet::share`], [`Share::from`], [`Share::require`] |
//! | offer handlers to others | [`Fleet::serve`], [`Serving::leave`] |
//! | know why there is no answer, and whether it ran | [`RemoteFailure`], [`MayHaveRun`] |
//! | see which process answered, and how fast | the [`note`]s in reports, [`FleetOptions::observe`] |
//! | let values of a scope travel, such as a tenant or a trace | [`FleetOptions::value`], [`TraceContext`] |
//! | know in a handler who asks, and how much time is left | [`Incoming`] |
//! | test a host without a server | [`Fleet::local`], [`LocalNetwork`] |
//! | have a test that asks no service | `Share::cassette`, with the feature `cassette` |
//! | write a service in another language | [`wire`] |
//! | carry messages in another way | [`carrier::Carrier`] |

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admission;
mod calls;
pub mod carrier;
mod docs;
mod error;
mod failure;
mod fleet;
mod incoming;
mod log;
mod options;
mod presence;
mod schema;
mod serve;
mod share;
mod trace;
mod values;
pub mod wire;

pub use calls::{RemoteCall, note};
pub use carrier::LocalNetwork;
#[cfg(feature = "nats")]
pub use carrier::nats;
pub use docs::guide;
pub use error::FleetError;
pub use failure::{MayHaveRun, RemoteFailure};
pub use fleet::Fleet;
pub use incoming::Incoming;
pub use options::FleetOptions;
pub use presence::Stranger;
pub use serve::{Serve, Serving};
pub use share::{Share, Sharing};
pub use trace::{BadTraceContext, TraceContext};
