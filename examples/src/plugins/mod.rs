//! What extends the agent: one file each, made to be copied.
//!
//! Those with state are types, installed with `hooks.install`. Those without
//! are functions, registered with `hooks.register(handlers![…])`.
//!
//! None of them knows the host. Each needs `hooks-runtime`, `hooks-points` and
//! what its own file says.

mod allowlist;
pub mod analytics;
mod audit_log;
mod briefing;
mod dedup;
mod file_cache;
pub mod help_desk;
pub mod privacy;
pub mod sandboxer;
mod session_log;
mod skill_collector;
mod telegram;
mod usage_meter;
pub mod verifier;

pub use allowlist::Allowlist;
pub use audit_log::{AuditLog, AuditRow};
pub use briefing::Briefing;
pub use dedup::Dedup;
pub use file_cache::FileCache;
pub use session_log::SessionLog;
pub use skill_collector::{SkillCandidate, SkillCollector};
pub use telegram::Telegram;
pub use usage_meter::{Usage, UsageMeter};
