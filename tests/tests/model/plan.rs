//! What a case does: a small language that both registries understand.

use std::sync::Arc;

use hooks_runtime::{FailurePolicy, Plugins};

/// Names that a handler may ask for; the last two cannot be had.
pub const NAMES: [&str; 7] = ["h0", "h1", "h2", "h3", "h4", "", "a\u{202e}b"];

/// Ids that a handler may name; the last cannot be had.
pub const PLUGINS: [&str; 4] = ["east", "west", "north", "Bui1t-in"];

/// What a run of the flow, or a handler, may be about.
pub const TARGETS: [&str; 2] = ["red", "blue"];

/// How deep fires may be nested.
pub const DEPTH: usize = 4;

/// Where handlers are registered. The last six are the stages of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    Told,
    Vowed,
    Amended,
    Routed,
    Posted,
    Mailed,
    BeforeValidation,
    AfterValidation,
    BeforeExecute,
    AfterExecute,
    OnError,
    Finally,
}

impl Spot {
    pub const ALL: [Self; 12] = [
        Self::Told,
        Self::Vowed,
        Self::Amended,
        Self::Routed,
        Self::Posted,
        Self::Mailed,
        Self::BeforeValidation,
        Self::AfterValidation,
        Self::BeforeExecute,
        Self::AfterExecute,
        Self::OnError,
        Self::Finally,
    ];

    pub fn is_gating(self) -> bool {
        matches!(self, Self::Posted | Self::Mailed)
    }

    pub fn is_void(self) -> bool {
        matches!(self, Self::Told | Self::Vowed)
    }
}

/// What can be fired: a point, or the flow.
#[derive(Clone, Debug)]
pub enum Shot {
    At(Spot),
    Flow(Run),
}

/// One run of the flow.
#[derive(Clone, Debug)]
pub struct Run {
    pub targets: Vec<&'static str>,
    pub validation: Option<Ending>,
    /// How many rounds the operation waits, and how it ends.
    pub rounds: u32,
    pub operation: Ending,
}

/// One step of a case, or what a handler does while it runs.
#[derive(Clone, Debug)]
pub enum Op {
    /// A group, through the registry or through a plugin's registrar.
    Register {
        registrar: Option<&'static str>,
        wishes: Vec<Wish>,
    },
    /// The plugin with four handlers, as `east`.
    Install {
        replace: bool,
        scripts: [Arc<Script>; 4],
    },
    /// What an earlier installation left, by number.
    Uninstall(usize),
    /// What an earlier registration left, by number.
    Unregister(usize),
    UnregisterPlugin(&'static str),
    /// At most so many handlers, and only these priorities.
    Limit {
        plugin: &'static str,
        most: usize,
        priorities: (i32, i32),
    },
    /// A scope that later fires may use, made of an earlier one or of all.
    Scope {
        parent: Option<usize>,
        plugins: Plugins,
    },
    Fire {
        shot: Shot,
        payload: u32,
        scope: ScopeOf,
        way: Way,
        stop: Option<u32>,
    },
}

/// In which form a fire is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Plain,
    Reported,
    /// The payload is made only if there are handlers. A gate and a flow take
    /// theirs by value, and are fired plainly.
    Lazy,
}

/// Through which hooks a fire goes.
#[derive(Clone, Debug)]
pub enum ScopeOf {
    Everyone,
    /// A scope made before, by number.
    Made(usize),
    /// What the handler was given, and a scope of that.
    Given(Plugins),
}

/// A handler to be registered.
#[derive(Clone, Debug)]
pub struct Wish {
    pub spot: Spot,
    /// Without one it is named for its place in the source.
    pub name: Option<&'static str>,
    pub plugin: Option<&'static str>,
    pub priority: Option<i32>,
    pub before: Vec<&'static str>,
    pub after: Vec<&'static str>,
    pub policy: Option<FailurePolicy>,
    /// In rounds: the clock of a case.
    pub limit: Option<u32>,
    pub target: Option<&'static str>,
    pub replace: bool,
    /// At a gating point.
    pub guard: bool,
    pub script: Arc<Script>,
}

impl Wish {
    /// With nothing asked for.
    pub fn at(spot: Spot, script: Arc<Script>) -> Self {
        Self {
            spot,
            name: None,
            plugin: None,
            priority: None,
            before: Vec::new(),
            after: Vec::new(),
            policy: None,
            limit: None,
            target: None,
            replace: false,
            guard: false,
            script,
        }
    }
}

/// The handlers of the plugin that [`Op::Install`] installs, as they are
/// written in `plugin.rs`.
pub fn handlers_of_east(scripts: &[Arc<Script>; 4]) -> [Wish; 4] {
    let [hears, amends, judges, prepares] = scripts;
    let of_east = |spot, name, script: &Arc<Script>| Wish {
        name: Some(name),
        plugin: Some("east"),
        ..Wish::at(spot, Arc::clone(script))
    };
    [
        Wish { priority: Some(1), ..of_east(Spot::Told, "hears", hears) },
        Wish { policy: Some(FailurePolicy::Closed), ..of_east(Spot::Amended, "amends", amends) },
        Wish { guard: true, ..of_east(Spot::Posted, "judges", judges) },
        Wish { after: vec!["west/*"], ..of_east(Spot::BeforeExecute, "prepares", prepares) },
    ]
}

/// The forms in which those are written.
pub const FORMS_OF_EAST: [Form; 4] =
    [Form::SyncContext, Form::Async, Form::AsyncContext, Form::Async];

/// What a handler does when it is called.
#[derive(Clone, Debug)]
pub struct Script {
    pub form: Form,
    /// How many rounds it waits; a synchronous one cannot.
    pub rounds: u32,
    /// What it does to the registry.
    pub acts: Vec<Op>,
    /// Whether it does so after it has waited.
    pub late: bool,
    /// What it asks of a flow.
    pub steers: Vec<Steer>,
    pub ending: Ending,
    pub answer: Answer,
}

/// How a handler is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Sync,
    SyncContext,
    Async,
    AsyncContext,
    /// An async function with a future of some kilobytes.
    Huge,
    /// A plain function that returns a boxed future.
    Boxed,
}

impl Form {
    pub fn waits(self) -> bool {
        !matches!(self, Self::Sync | Self::SyncContext)
    }

    pub fn has_context(self) -> bool {
        matches!(self, Self::SyncContext | Self::AsyncContext)
    }
}

/// How a handler, the validation or the operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Return,
    Error,
    PanicText,
    PanicString,
    PanicOther,
    /// A panic in the plain function, before there is a future.
    PanicEarly,
    /// A panic while its locals are dropped.
    PanicInDrop,
}

/// What a handler returns; what its model has no use for is no opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Nothing,
    Fields([Option<u8>; 3]),
    Claim(u32),
    Replace(u32),
    Reject,
}

/// What a handler asks of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    Skip,
    Abort,
    Respond(u32),
    Recover(u32),
    /// Changes the input, where there is one.
    Rewrite(u32),
    /// Changes the output, where there is one.
    Touch(u32),
}
