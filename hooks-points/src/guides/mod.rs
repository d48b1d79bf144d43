//! How to do things with these points, task by task. Those that hold for any
//! point are in [`hooks_runtime::guides`].
//!
//! | you want to | read |
//! |---|---|
//! | write a first hook for an agent | [A first hook](first_hook), five minutes |
//! | bring plugins from Ethos | [Port from Ethos](port_from_ethos) |
//! | bring hooks from `IronClaw` | [the module `lifecycle`](crate::lifecycle#porting-from-ironclaws-hook-trait) |
//! | bring hooks from `FrontMCP` | [the module `mcp`](crate::mcp#porting-from-frontmcp) |

#[doc = include_str!("first_hook.md")]
pub mod first_hook {}

#[doc = include_str!("port_from_ethos.md")]
pub mod port_from_ethos {}
