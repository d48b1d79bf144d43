#![doc = include_str!("../README.md")]
//!
//! # The map
//!
//! | I want to … | use |
//! |---|---|
//! | join | [`Fleet::connect`], [`FleetOptions`], [`nats::NatsOptions`] |
//! | have handlers elsewhere take part in my fires | [`Fleet::share`], [`Share::from`], [`Share::require`] |
//! | offer handlers to others | [`Fleet::serve`], [`Serving::leave`] |
//! | know why there is no answer, and whether it ran | [`RemoteFailure`], [`MayHaveRun`] |
//! | see which process answered, and how fast | [`RemoteCalls`], [`FleetOptions::observe`] |
//! | know in a handler who asks, and how much time is left | [`Incoming`] |
//! | test a host without a server | [`Fleet::local`], [`LocalNetwork`] |
//! | write a service in another language | [`wire`] |
//! | carry messages in another way | [`carrier::Carrier`] |

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod calls;
pub mod carrier;
mod error;
mod failure;
mod fleet;
mod incoming;
mod options;
mod presence;
mod schema;
mod serve;
mod share;
pub mod wire;

pub use calls::{RemoteCall, RemoteCalls};
pub use carrier::LocalNetwork;
#[cfg(feature = "nats")]
pub use carrier::nats;
pub use error::FleetError;
pub use failure::{MayHaveRun, RemoteFailure};
pub use fleet::Fleet;
pub use incoming::Incoming;
pub use options::FleetOptions;
pub use presence::Stranger;
pub use serve::{Serve, Serving};
pub use share::{Share, Sharing};
