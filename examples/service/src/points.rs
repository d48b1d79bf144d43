//! Where others come in: the service decides nothing of this by itself.

use hooks_runtime::hook_points;

use crate::access::{Access, Denied};
use crate::orders::{Created, NewOrder, Order, Warehouse};

hook_points! {
    #![hook(catalogue = pub fn points)]

    /// May this request be served? Rewriters complete what is known of the caller,
    /// guards judge it.
    #[hook(timeout = "1s")]
    pub gating Authorize(Access) -> Denied;

    /// Before an order is priced.
    pub modifying Enrich(NewOrder) -> {
        /// The price of one piece.
        unit_cents: u64,
        /// What is taken off the whole.
        discount_percent: u64,
    }

    /// Which warehouse sends it?
    pub claiming Route(NewOrder) -> Warehouse;

    /// One order, from the request to the books.
    #[hook(name = "orders:create")]
    pub flow Create(NewOrder) -> Created;

    /// An order is in the books. Fired in the background: no request waits for it.
    pub void OrderCreated(Order);
}
