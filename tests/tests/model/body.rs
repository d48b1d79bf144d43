//! What a handler of a case does when the real registry calls it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hooks_runtime::{HookContext, ScopedHooks};

use crate::event::Event;
use crate::plan::{Ending, Script};
use crate::world::{Drive, World};

/// The error of every handler that returns one.
#[derive(Debug)]
pub struct Boom;

impl fmt::Display for Boom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("boom")
    }
}

impl std::error::Error for Boom {}

/// What a handler of one model is given and gives back.
pub trait Case: 'static {
    type Input<'a>: Send;
    type Output: Send;
    /// What it was given, in words.
    fn saw(input: &mut Self::Input<'_>, cx: Option<&HookContext>) -> String;
    /// The hooks that it was given.
    fn hooks(input: &Self::Input<'_>, cx: Option<&HookContext>) -> Option<ScopedHooks>;
    fn answer(body: &Body, input: Self::Input<'_>) -> Self::Output;
}

/// A handler's state.
pub struct Body {
    pub world: Arc<World>,
    pub tag: u32,
    pub script: Arc<Script>,
    /// Whether it runs beside others, so that its end has no place of its own.
    pub beside: bool,
}

impl Body {
    /// An async handler, from its first poll on.
    pub async fn run<C: Case>(
        &self,
        mut input: C::Input<'_>,
        cx: Option<&HookContext>,
    ) -> Result<C::Output, Boom> {
        let _bomb = Bomb::of(&self.script);
        let mut running = Running { body: self, waited: None, ended: false };
        self.begin::<C>(&mut input, cx);
        if self.script.rounds > 0 {
            let drive = self.world.drive();
            running.waited = Some(Arc::clone(&drive));
            Wait { until: drive.round() + self.script.rounds, drive }.await;
        }
        self.act(self.script.late, C::hooks(&input, cx));
        running.end();
        self.finish::<C>(input)
    }

    /// A synchronous handler.
    pub fn run_now<C: Case>(
        &self,
        mut input: C::Input<'_>,
        cx: Option<&HookContext>,
    ) -> Result<C::Output, Boom> {
        let _bomb = Bomb::of(&self.script);
        let mut running = Running { body: self, waited: None, ended: false };
        self.begin::<C>(&mut input, cx);
        self.act(self.script.late, C::hooks(&input, cx));
        running.end();
        self.finish::<C>(input)
    }

    /// What a function that returns a future does before it has one.
    pub fn before_the_future<'a, C: Case>(&self, mut input: C::Input<'a>) -> C::Input<'a> {
        if self.script.ending == Ending::PanicEarly {
            self.begin::<C>(&mut input, None);
        }
        input
    }

    fn begin<C: Case>(&self, input: &mut C::Input<'_>, cx: Option<&HookContext>) {
        let saw = C::saw(input, cx);
        self.world.note(Event::Start { tag: self.tag, saw });
        if self.script.ending == Ending::PanicEarly {
            self.world.note(Event::Dropped(self.tag));
            panic!("boom");
        }
        self.act(!self.script.late, C::hooks(input, cx));
    }

    fn act(&self, now: bool, hooks: Option<ScopedHooks>) {
        if now {
            for op in &self.script.acts {
                self.world.act(op, hooks.as_ref());
            }
        }
    }

    fn finish<C: Case>(&self, input: C::Input<'_>) -> Result<C::Output, Boom> {
        let answer = C::answer(self, input);
        end(self.script.ending)?;
        Ok(answer)
    }

    pub fn steered(&self, taken: bool) {
        self.world.note(Event::Steered { tag: self.tag, taken });
    }
}

/// Ends as asked.
pub fn end(ending: Ending) -> Result<(), Boom> {
    match ending {
        Ending::Return | Ending::PanicInDrop | Ending::PanicEarly => Ok(()),
        Ending::Error => Err(Boom),
        Ending::PanicText => panic!("boom"),
        Ending::PanicString => panic!("{}", String::from("boom")),
        Ending::PanicOther => std::panic::panic_any(7_u32),
    }
}

/// Panics when it is dropped, unless something else panics already.
struct Bomb;

impl Bomb {
    fn of(script: &Script) -> Option<Self> {
        (script.ending == Ending::PanicInDrop).then(|| Self)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("boom");
        }
    }
}

/// Records the one end of a call.
struct Running<'b> {
    body: &'b Body,
    waited: Option<Arc<Drive>>,
    ended: bool,
}

impl Running<'_> {
    fn end(&mut self) {
        self.ended = true;
        match &self.waited {
            Some(drive) if self.body.beside => drive.settled(format!("end {}", self.body.tag)),
            _ => self.body.world.note(Event::End(self.body.tag)),
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A panic at the beginning is recorded where it happens.
        if self.ended || std::thread::panicking() {
            return;
        }
        match &self.waited {
            Some(drive) if self.body.beside => drive.settled(format!("dropped {}", self.body.tag)),
            _ => self.body.world.note(Event::Dropped(self.body.tag)),
        }
    }
}

/// Waits for a round of its drive, and asks for every one before it.
pub struct Wait {
    pub drive: Arc<Drive>,
    pub until: u32,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.drive.round() >= self.until {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}
