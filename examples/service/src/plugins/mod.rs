//! What decides: one file each. All but [`Tokens`], which is the host's own, are
//! plugins that the configuration names.

mod journal;
mod loyalty;
mod prices;
mod quota;
mod replay;
mod tokens;
mod warehouses;

pub use journal::{Journal, JournalError, JournalSettings};
pub use loyalty::{Loyalty, is_large};
pub use prices::Prices;
pub use quota::{Quota, QuotaSettings, is_order};
pub use replay::{Key, Replay, ReplaySettings};
pub use tokens::{Tokens, is_admin};
pub use warehouses::Warehouses;
