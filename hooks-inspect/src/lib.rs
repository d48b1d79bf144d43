#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod failures;
mod guard;
mod inspector;
mod page;
mod served;
mod shared;
mod text;
mod timeline;
mod token;

pub use failures::Failures;
pub use inspector::Inspector;
pub use served::{ServeError, Served};
pub use token::{Token, TokenError};
