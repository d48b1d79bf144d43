//! What extends the agent: one file each, made to be copied.
//!
//! None of them knows the host. Each needs `hooks-runtime`, `hooks-points` and
//! what its own file says.

mod allowlist;
mod analytics;
mod audit_log;
mod briefing;
mod dedup;
mod help_desk;
mod sandboxer;
mod session_log;
mod skill_collector;
mod telegram;
mod usage_meter;
mod verifier;

pub use allowlist::Allowlist;
pub use analytics::Analytics;
pub use audit_log::{AuditLog, AuditRow};
pub use briefing::Briefing;
pub use dedup::Dedup;
pub use help_desk::HelpDesk;
pub use sandboxer::Sandboxer;
pub use session_log::SessionLog;
pub use skill_collector::{SkillCandidate, SkillCollector};
pub use telegram::Telegram;
pub use usage_meter::{Usage, UsageMeter};
pub use verifier::Verifier;
