//! Those that are measured beside us.

use std::future::Future;
use std::pin::Pin;

#[cfg(feature = "bevy")]
pub(crate) mod bevy;
pub(crate) mod ironclaw;

/// A handler in a box.
pub(crate) type Boxed<P, R> = Box<dyn Fn(&P) -> R>;

/// A future in a box.
pub(crate) type BoxFuture<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;

/// A handler in a box whose every call is a future in a box.
pub(crate) type BoxedAsync<P, R> = Box<dyn for<'a> Fn(&'a P) -> BoxFuture<'a, R>>;

/// Copies of one handler, each in its box.
pub(crate) fn boxed<P: 'static, R: 'static>(
    count: usize,
    handler: impl Fn(&P) -> R + Copy + 'static,
) -> Vec<Boxed<P, R>> {
    (0..count).map(|_| Box::new(handler) as _).collect()
}

/// Copies of one async function of that payload, each in its box.
macro_rules! boxed_async {
    ($count:expr, $payload:ty, $handler:ident) => {
        (0..$count)
            .map(|_| -> $crate::peers::BoxedAsync<$payload, _> {
                Box::new(|payload| Box::pin($handler(payload)))
            })
            .collect::<Vec<_>>()
    };
}

pub(crate) use boxed_async;

/// What the contenders are called.
pub(crate) mod names {
    pub(crate) const STATIC: &str = "static calls";
    pub(crate) const DYN_FN: &str = "dyn Fn loop";
    pub(crate) const AWAITS: &str = "hand-written awaits";
    pub(crate) const BOXED: &str = "Box::pin each";
    pub(crate) const JOIN: &str = "join!";
    pub(crate) const JOIN_ALL: &str = "join_all";
    pub(crate) const UNORDERED: &str = "FuturesUnordered";
    pub(crate) const BROADCAST: &str = "tokio broadcast";
    #[cfg(feature = "bevy")]
    pub(crate) const BEVY: &str = "bevy_ecs observers";
    pub(crate) const IRONCLAW: &str = "IronClaw's way";
    pub(crate) const SYNC: &str = "hooks, sync handlers";
    pub(crate) const READY: &str = "hooks, async handlers";
    pub(crate) const ANNOTATED: &str = "hooks, annotated async handlers";
}
