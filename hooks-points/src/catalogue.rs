//! The points as data, and the page made of it.
//!
//! Put together what the host fires, and its own points with it; firing by name
//! and tests that no point was forgotten take it from there. Ethos and `IronClaw`
//! both have a `before_tool_call`, so [`agent`] and [`lifecycle`] do not go
//! together:
//!
//! ```
//! use hooks_points::catalogue;
//! use hooks_runtime::catalogue::Catalogue;
//!
//! let ours = Catalogue::merge([catalogue::agent(), catalogue::gateway()])?;
//! assert_eq!(ours.get("session_start").unwrap().payload().name(), "SessionStartPayload");
//!
//! let clash = Catalogue::merge([catalogue::agent(), catalogue::lifecycle()]).unwrap_err();
//! assert_eq!(clash.clashes()[0].name, "before_tool_call");
//! # Ok::<(), hooks_runtime::catalogue::DuplicateNames>(())
//! ```
//!
#![doc = include_str!("../CATALOGUE.md")]

use hooks_runtime::catalogue::Catalogue;

/// The points of an agent.
pub fn agent() -> Catalogue {
    crate::agent::points()
}

/// The points of a chat gateway.
pub fn gateway() -> Catalogue {
    crate::gateway::points()
}

/// The points in the life of a conversation.
pub fn lifecycle() -> Catalogue {
    crate::lifecycle::points()
}

/// The flows of a server of the Model Context Protocol.
pub fn mcp() -> Catalogue {
    crate::mcp::points()
}

/// One catalogue of the blocks of a module.
pub(crate) fn merged(blocks: impl IntoIterator<Item = Catalogue>) -> Catalogue {
    Catalogue::merge(blocks).expect("the points of one module have names of their own")
}
