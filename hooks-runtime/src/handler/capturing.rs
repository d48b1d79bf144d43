//! Async closures that capture.

use std::fmt;

use crate::handler::calls::Callable;

/// Makes an async closure that captures a handler: each call gets a clone of the
/// closure, and so of what it captured.
///
/// ```
/// # use std::sync::Arc;
/// # use hooks_runtime::{HookRegistry, capturing, hook_points, on};
/// # #[derive(Default)] struct Db(std::sync::Mutex<Vec<u32>>);
/// # impl Db { async fn insert(&self, n: u32) { self.0.lock().unwrap().push(n); } }
/// # hook_points! { pub void Ping { n: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let db = Arc::new(Db::default());
/// # let rows = Arc::clone(&db);
/// hooks.register(on::<Ping>().handler(capturing(async move |ping: &PingPayload| {
///     db.insert(ping.n).await;
/// })))?;
/// # hooks.fire_void::<Ping>(&PingPayload { n: 3 }).await?;
/// # assert_eq!(*rows.0.lock().unwrap(), [3]);
/// # Ok(()) }
/// ```
///
/// It is taken wherever an `async fn` is: with [`On::handler`](crate::handler::On::handler),
/// with [`On::guard`](crate::handler::On::guard), by the verbs, and with the
/// [`HookContext`](crate::HookContext) as its second parameter. What a call changes in
/// its clone, no other call sees: share with an `Arc`, or give a state that is never
/// cloned with [`On::handler_with`](crate::handler::On::handler_with).
///
/// Rust cannot say of the future of a capturing async closure that it is `Send`, as
/// long as the future borrows from the closure. The future of a clone owns it.
#[must_use = "give it to `on::<Point>().handler(…)`"]
pub fn capturing<F: Clone>(closure: F) -> Capturing<F> {
    Capturing(closure)
}

/// An async closure that is cloned for each call, made by [`capturing`].
///
/// The example of [`capturing`] has one.
#[derive(Clone)]
pub struct Capturing<F>(F);

impl<F> fmt::Debug for Capturing<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Capturing")
    }
}

/// The forms in which it is a handler: without and with the context, and, of a
/// handler that speaks JSON, with what has been merged.
macro_rules! capturing {
    ($($argument:ident: $Argument:ident),+) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, $($Argument),+> Callable<($($Argument,)+)> for Capturing<F>
        where
            F: FnOnce($($Argument),+) -> R + Clone,
        {
            type Returned = R;

            #[inline]
            fn call_with(&self, ($($argument,)+): ($($Argument,)+)) -> R {
                self.0.clone()($($argument),+)
            }
        }
    };
}

capturing!(a: A);
capturing!(a: A, b: B);
capturing!(a: A, b: B, c: C);
