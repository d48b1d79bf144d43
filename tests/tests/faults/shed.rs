//! The handler that does something wrong: `bad`, of the plugin `shed`.

use std::future::{Future, pending};
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hooks_runtime::registry::Handle;
use hooks_runtime::{BoxError, HookRegistry, on};

use crate::executor::Once;
use crate::fault::{Fault, LIMIT};
use crate::ground::{self, Aside, Model};
use crate::hostile;
use crate::support::{Count, CountsDrop, Log};

/// What `bad` says when it panics.
pub const PANICS: [&str; 11] = [
    hostile::LOG,
    hostile::OBSERVER,
    "a str",
    "a String, 7",
    "before the future",
    "after a wait",
    "in the drop",
    "aside",
    "no words",
    "sour to the end",
    // Tokio says so; the timer contains it.
    "A Tokio 1.x context was found, but it is being shutdown.",
];

/// What the handlers of one cell share.
pub struct Shed {
    pub fault: Fault,
    pub model: Model,
    pub closed: bool,
    pub log: Log,
    /// Calls that began, and calls that are over, one way or the other.
    pub begun: Count,
    pub over: Count,
    /// Whether `bad` is bad.
    pub active: AtomicBool,
    pub hooks: Mutex<Option<HookRegistry>>,
    /// The handles of `bad` and `next`.
    pub handles: Mutex<Vec<Handle>>,
}

impl Shed {
    pub fn hooks(&self) -> HookRegistry {
        self.hooks.lock().unwrap().clone().expect("the registry is there")
    }

    /// What `bad` does before there is a future.
    pub fn call(self: &Arc<Self>) -> Arc<Self> {
        self.log.push("bad");
        if self.is(Fault::PanicBeforeTheFuture) {
            panic!("before the future");
        }
        Arc::clone(self)
    }

    pub fn is(&self, fault: Fault) -> bool {
        self.fault == fault && self.active.load(Ordering::SeqCst)
    }
}

/// The future of `bad`, small enough to be stored inline.
pub async fn bad(shed: Arc<Shed>) -> Result<(), BoxError> {
    shed.begun.add();
    let _over = shed.over.on_drop();
    if !shed.active.load(Ordering::SeqCst) {
        return Ok(());
    }
    let _bomb = (shed.fault == Fault::NeverEndsAndPanicsInTheDrop).then(|| Bomb);
    match shed.fault {
        Fault::Error => return Err("no luck".into()),
        Fault::ErrorWhoseTextPanics => return Err(Box::new(Sour { in_drop: false })),
        Fault::ErrorWhoseDropPanics => return Err(Box::new(Sour { in_drop: true })),
        Fault::PanicStr => panic!("a str"),
        Fault::PanicString => panic!("a String, {}", 7),
        Fault::PanicOther => panic_any(7_u8),
        Fault::PanicWhoseDropPanics => panic_any(Bomb),
        Fault::PanicAfterAWait => {
            Once::default().await;
            panic!("after a wait");
        }
        Fault::NeverEndsWithALimit
        | Fault::NeverEndsAndPanicsInTheDrop
        | Fault::NeverEnds
        | Fault::RuntimeShutDown => pending().await,
        Fault::Blocks => std::thread::sleep(LIMIT * 2),
        Fault::BlocksAndPanicsInTheErrorsDrop => {
            std::thread::sleep(LIMIT * 2);
            return Err(Box::new(Sour { in_drop: true }));
        }
        Fault::Registers => {
            let late = ground::noting(shed.model, shed.closed, "late", &shed);
            shed.hooks().register(late)?;
        }
        Fault::UnregistersItself => assert_eq!(unregister(&shed, 0), 1),
        Fault::UnregistersTheNext => assert_eq!(unregister(&shed, 1), 1),
        Fault::FiresAnother => {
            let hooks = shed.hooks();
            let panics = on::<Aside>().plugin("shed").name("panics");
            hooks.register(panics.handler(|_: &u32| -> () { panic!("aside") }))?;
            hooks.fire_void::<Aside>(&1).await?;
        }
        Fault::FiresItself => {
            let hooks = (*shed.hooks()).clone();
            let (outcome, _) = ground::fire(shed.model, hooks).await;
            if outcome.starts_with("fires are nested") {
                shed.log.push(outcome);
            }
        }
        Fault::UnloadsItself => {
            let removal = shed.hooks().unregister_plugin("shed");
            removal.await.into_result()?;
        }
        Fault::RegistryDropped => Once::default().await,
        Fault::FireDropped => {
            for _ in 0..3 {
                Once::default().await;
            }
        }
        Fault::LogPanics | Fault::ObserverPanics | Fault::LogAndObserverPanic => {
            Once::default().await;
            return Err("no luck".into());
        }
        Fault::HugeFuture | Fault::PanicInTheDrop | Fault::PanicBeforeTheFuture => {
            unreachable!("it has a future of its own, or none")
        }
    }
    Ok(())
}

fn unregister(shed: &Shed, number: usize) -> usize {
    let handle = shed.handles.lock().unwrap()[number].clone();
    handle.unregister().removed()
}

/// A future that no storage in line can hold.
pub async fn huge(shed: Arc<Shed>) -> Result<(), BoxError> {
    shed.begun.add();
    let _over = shed.over.on_drop();
    let ballast = [7_u8; 64 * 1024];
    Once::default().await;
    assert!(ballast.iter().all(|byte| *byte == 7), "nothing wrote into it");
    Ok(())
}

/// A future that is done at once and panics when it is dropped.
pub struct ReadyBomb<T> {
    answer: Option<T>,
    shed: Arc<Shed>,
    _over: CountsDrop,
}

impl<T> ReadyBomb<T> {
    pub fn new(shed: Arc<Shed>, answer: T) -> Self {
        shed.begun.add();
        Self { answer: Some(answer), _over: shed.over.on_drop(), shed }
    }
}

impl<T: Unpin> Future for ReadyBomb<T> {
    type Output = Result<T, BoxError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(self.answer.take().expect("polled once")))
    }
}

impl<T> Drop for ReadyBomb<T> {
    fn drop(&mut self) {
        if self.shed.active.load(Ordering::SeqCst) {
            panic!("in the drop");
        }
    }
}

/// Panics when it is dropped.
pub struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the drop");
    }
}

/// An error that misbehaves when it is printed or dropped.
#[derive(Debug)]
pub struct Sour {
    in_drop: bool,
}

impl std::fmt::Display for Sour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.in_drop { f.write_str("sour") } else { panic!("no words") }
    }
}

impl std::error::Error for Sour {}

impl Drop for Sour {
    fn drop(&mut self) {
        if self.in_drop {
            panic!("sour to the end");
        }
    }
}
