//! Rejections whose reason has a type of the host's: the type arrives as it was
//! given, and people read its `Display` (L10, L15).

mod support;

use std::fmt;
use std::time::Duration;

use hooks_runtime::observe::{ObservedCall, Observer};
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{
    Gate, HookContext, HookPoint, HookRegistry, Judgement, Registration, Rejection, Verdict,
    handlers, hook_handler, hook_handlers, hook_points, on,
};
use support::{Log, keep_quiet};

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    path: String,
    admin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    Forbidden,
    Status(u16),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden => f.write_str("for admins\nonly"),
            Self::Status(status) => write!(f, "status {status}"),
        }
    }
}

impl From<u16> for Denied {
    fn from(status: u16) -> Self {
        Self::Status(status)
    }
}

/// All that a reason needs: no `Clone`, no `Debug`, no `PartialEq`.
pub struct Bare;

impl fmt::Display for Bare {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no text for you")
    }
}

hook_points! {
    /// May this request be served?
    pub gating Authorize(Request) -> Denied;
    /// The same, fail-open.
    #[hook(on_failure = "open")]
    pub gating Greet(Request) -> Denied;
    /// Its reasons cannot be printed.
    pub gating Enter(u32) -> Bare;
    /// Its reasons are text.
    pub gating Send(String);
}

fn request() -> Request {
    Request { path: "/Admin".into(), admin: false }
}

#[hook_handler(Authorize)]
fn normalise(request: &Request) -> Verdict<Request, Denied> {
    Verdict::Replace(Request { path: request.path.to_lowercase(), ..request.clone() })
}

#[hook_handler(Authorize, guard)]
fn admins_only(request: &Request) -> Judgement<Denied> {
    if request.admin || request.path != "/admin" {
        Judgement::Pass
    } else {
        Judgement::Reject(Denied::Forbidden)
    }
}

/// The reason of the rejection, after a look at by whom it is.
#[track_caller]
fn reason<P, R>(gate: Gate<P, R>, point: &str, handler: &str, owner: &str) -> R {
    let Gate::Rejected(rejection) = gate else { panic!("{handler} let it pass") };
    assert_eq!(rejection.point(), point);
    assert_eq!(rejection.handler(), handler);
    assert_eq!(rejection.owner().to_string(), owner);
    rejection.into_reason()
}

#[test]
fn l10_the_result_of_a_gating_point_is_the_type_of_its_reasons() {
    fn is<P: HookPoint<Result = R>, R>() {}
    is::<Authorize, Denied>();
    is::<Enter, Bare>();
    is::<Send, String>();
}

#[tokio::test]
async fn l10_annotated_rewriters_and_guards_reject_for_a_reason_of_the_points_type() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![admins_only, normalise]).unwrap();
    match hooks.fire_gating::<Authorize>(request()).await.unwrap() {
        Gate::Passed(request) => panic!("{request:?} is served"),
        Gate::Rejected(rejection) => assert_eq!(rejection.reason(), &Denied::Forbidden),
    }
    let admin = Request { admin: true, ..request() };
    let passed = hooks.fire_gating::<Authorize>(admin).await.unwrap();
    assert_eq!(passed, Gate::Passed(Request { path: "/admin".into(), admin: true }));
}

#[tokio::test]
async fn l10_handlers_of_every_form_reject_for_a_reason_of_the_points_type() {
    let status = |status: &u16, path: &str| Denied::Status(*status + u16::from(path == "/Admin"));
    let forms: [(&str, Registration); 14] = [
        ("sync", on::<Authorize>().handler(|_: &Request| Verdict::reject(405_u16))),
        (
            "sync with context",
            on::<Authorize>().handler(|_: &Request, _: &HookContext| Verdict::reject(405_u16)),
        ),
        (
            "async",
            on::<Authorize>().handler(async |_: &Request| {
                tokio::task::yield_now().await;
                Verdict::Reject(Denied::Status(405))
            }),
        ),
        (
            "async with context",
            on::<Authorize>().handler(async |_: &Request, _: &HookContext| {
                tokio::task::yield_now().await;
                Verdict::Reject(Denied::Status(405))
            }),
        ),
        (
            "with state",
            on::<Authorize>().handler_with(404, move |code: &u16, request: &Request| {
                Verdict::Reject(status(code, &request.path))
            }),
        ),
        (
            "async with state",
            on::<Authorize>().handler_with(404, async move |code: &u16, _: &Request| {
                tokio::task::yield_now().await;
                Verdict::Reject(Denied::Status(code + 1))
            }),
        ),
        (
            "a result",
            on::<Authorize>().handler(|_: &Request| -> Result<Verdict<Request, Denied>, String> {
                Ok(Verdict::reject(405_u16))
            }),
        ),
        ("a guard", on::<Authorize>().guard(|_: &Request| Judgement::reject(405_u16))),
        (
            "a guard with context",
            on::<Authorize>().guard(|_: &Request, _: &HookContext| Verdict::reject(405_u16)),
        ),
        (
            "an async guard",
            on::<Authorize>().guard(async |_: &Request| {
                tokio::task::yield_now().await;
                Judgement::Reject(Denied::Status(405))
            }),
        ),
        (
            "an async guard with context",
            on::<Authorize>().guard(async |_: &Request, _: &HookContext| {
                tokio::task::yield_now().await;
                Judgement::Reject(Denied::Status(405))
            }),
        ),
        (
            "a guard with state",
            on::<Authorize>().guard_with(404, move |code: &u16, request: &Request| {
                Judgement::Reject(status(code, &request.path))
            }),
        ),
        (
            "an async guard with state",
            on::<Authorize>().guard_with(404, async |code: &u16, _: &Request, _: &HookContext| {
                tokio::task::yield_now().await;
                Judgement::Reject(Denied::Status(code + 1))
            }),
        ),
        (
            "a guard's result",
            on::<Authorize>().guard(async |_: &Request| -> Result<Judgement<Denied>, String> {
                Ok(Judgement::reject(405_u16))
            }),
        ),
    ];
    for (form, registration) in forms {
        let hooks = HookRegistry::new();
        hooks.register(registration).unwrap();
        let gate = hooks.fire_gating::<Authorize>(request()).await.unwrap();
        let Gate::Rejected(rejection) = gate else { panic!("{form} let it pass") };
        assert_eq!(rejection.reason(), &Denied::Status(405), "{form}");
    }
}

#[tokio::test]
async fn l10_handlers_registered_by_their_model_reject_for_a_reason_of_the_points_type() {
    let hooks = HookRegistry::new();
    let passes = async |_: &Request| Verdict::Pass;
    let counts = async |code: &u16, _: &Request| {
        if *code == 0 { Judgement::Pass } else { Judgement::reject(*code) }
    };
    hooks.register_gating::<Authorize>(passes).unwrap();
    hooks.register_guard::<Authorize>(async |_: &Request| Judgement::Pass).unwrap();
    hooks.register_guard_with::<Authorize, _>(0, counts).unwrap();
    assert_eq!(hooks.fire_gating::<Authorize>(request()).await.unwrap(), Gate::Passed(request()));
    hooks.register_guard_with::<Authorize, _>(451, counts).unwrap();
    let rewrites = async |_: &(), _: &Request| Verdict::Replace(request());
    hooks.register_gating_with::<Authorize, _>((), rewrites).unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Authorize>(request()).await.unwrap() else {
        panic!("it passed")
    };
    assert_eq!(rejection.into_reason(), Denied::Status(451));
}

struct Site {
    closed: bool,
}

#[hook_handlers(plugin = "site")]
impl Site {
    #[hook_handler(Authorize)]
    async fn open(&self, _: &Request) -> Result<Verdict<Request, Denied>, fmt::Error> {
        if self.closed { Ok(Verdict::reject(503_u16)) } else { Ok(Verdict::Pass) }
    }

    #[hook_handler(Authorize, guard)]
    fn admins(&self, request: &Request, _: &HookContext) -> Judgement<Denied> {
        if request.admin { Judgement::Pass } else { Judgement::Reject(Denied::Forbidden) }
    }
}

#[tokio::test]
async fn l10_a_plugins_methods_reject_for_a_reason_of_the_points_type() {
    for (closed, by, expected) in
        [(true, "open", Denied::Status(503)), (false, "admins", Denied::Forbidden)]
    {
        let hooks = HookRegistry::new();
        hooks.install(Site { closed }).unwrap();
        let gate = hooks.fire_gating::<Authorize>(request()).await.unwrap();
        assert_eq!(reason(gate, "authorize", by, "plugin `site`"), expected);
    }
}

#[tokio::test]
async fn l10_an_error_is_no_rejection_and_a_rejection_is_no_error() {
    let hooks = HookRegistry::new();
    let fails = |_: &Request| Err::<Verdict<Request, Denied>, _>("cannot say");
    hooks.register(on::<Authorize>().name("fails").handler(fails)).unwrap();
    hooks.register(on::<Greet>().name("fails").handler(fails)).unwrap();
    let error = hooks.fire_gating::<Authorize>(request()).await.unwrap_err();
    assert_eq!(error.to_string(), "handler `fails` (built-in) at `authorize`: cannot say");
    let gate = hooks.fire_gating::<Greet>(request()).await.unwrap();
    assert_eq!(gate, Gate::Passed(request()));
    hooks.register(on::<Greet>().name("no").guard(|_: &Request| Judgement::reject(1))).unwrap();
    let gate = hooks.fire_gating::<Greet>(request()).await.unwrap();
    assert_eq!(reason(gate, "greet", "no", "built-in"), Denied::Status(1));
}

#[tokio::test]
async fn l15_every_fire_of_a_gate_returns_the_typed_reason() {
    let hooks = HookRegistry::new();
    let unmade = hooks.fire_gating_with::<Authorize>(|| panic!("it was made")).await.unwrap();
    assert_eq!(unmade, None::<Gate<Request, Denied>>);
    hooks.register(handlers![admins_only, normalise]).unwrap();

    let made = hooks.fire_gating_with::<Authorize>(request).await.unwrap().unwrap();
    let (reported, report) = hooks.fire_gating_reported::<Authorize>(request()).await;
    assert_eq!(made, reported.unwrap());
    let again = made.clone();
    assert_eq!(again, made);
    assert_eq!(reason(made, "authorize", "admins_only", "built-in"), Denied::Forbidden);
    let said = Contribution::Rejected("for admins\nonly".to_owned());
    assert_eq!(report.handlers()[1].status(), &HandlerStatus::Ran(said));

    // Equal is what the same handler rejected for the same reason.
    let first = on::<Authorize>().name("first").priority(-1);
    hooks.register(first.handler(|_: &Request| Verdict::reject(2))).unwrap();
    assert_ne!(again, hooks.fire_gating::<Authorize>(request()).await.unwrap());
}

/// Notes how calls end, as text.
#[derive(Debug)]
struct Notes(Log);

impl Observer for Notes {
    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.0.push(format!("{}: {status}", call.handler()));
    }
}

#[tokio::test]
async fn l10_people_read_the_display_of_a_reason_in_one_line() {
    let log = Log::new();
    let hooks = HookRegistry::builder().observer(Notes(log.clone())).build();
    hooks.register(handlers![admins_only, normalise]).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<Authorize>(request()).await;

    let Gate::Rejected(rejection) = outcome.unwrap() else { panic!("it passed") };
    let text = r"rejected at `authorize` by `admins_only` (built-in): for admins\nonly";
    assert_eq!(rejection.to_string(), text);
    let rows = report.to_string();
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.ends_with(r"  rejected: for admins\nonly"), "{rows}");
    assert_eq!(
        log.take(),
        ["normalise: replaced the payload", r"admins_only: rejected: for admins\nonly"]
    );
    // Programs read what it says.
    let row = &serde_json::to_value(&report).unwrap()["handlers"][1]["status"];
    assert_eq!(row["contribution"]["reason"], "for admins\nonly");
}

#[tokio::test]
async fn l10_a_reason_whose_text_panics_is_a_rejection_all_the_same() {
    keep_quiet(&["no text for you"]);
    const SHOWN: &str = "printing the reason panicked: no text for you";
    let log = Log::new();
    let hooks = HookRegistry::builder().observer(Notes(log.clone())).build();
    let handlers = [
        on::<Enter>().name("sync").guard(|_: &u32| Judgement::Reject(Bare)),
        on::<Enter>().name("after").guard(|_: &u32| -> Judgement<Bare> { panic!("it is called") }),
    ];
    hooks.register(handlers).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<Enter>(1).await;
    let Gate::Rejected(rejection) = outcome.unwrap() else { panic!("it passed") };
    let text = format!("rejected at `enter` by `sync` (built-in): {SHOWN}");
    assert_eq!(rejection.to_string(), text);
    let [first, after] = report.handlers() else { panic!("{report}") };
    let said = Contribution::Rejected(SHOWN.to_owned());
    assert_eq!(first.status(), &HandlerStatus::Ran(said));
    assert_eq!(after.status(), &HandlerStatus::Filtered(SkipReason::AfterRejection));
    assert_eq!(log.take(), [format!("sync: rejected: {SHOWN}")]);
    let Bare = rejection.into_reason();

    // Where nothing is recorded, nothing is printed.
    let quiet = HookRegistry::new();
    let refuses = async |_: &u32| {
        tokio::task::yield_now().await;
        Judgement::Reject(Bare)
    };
    quiet.register(on::<Enter>().name("async").guard(refuses)).unwrap();
    let gate = quiet.fire_gating::<Enter>(1).await.unwrap();
    let Bare = reason(gate, "enter", "async", "built-in");
}

#[tokio::test]
async fn l10_where_no_type_is_declared_the_reason_is_text() {
    let hooks = HookRegistry::new();
    let refuses = |text: &String| -> Judgement { Judgement::reject(format!("not {text}")) };
    hooks.register(on::<Send>().name("refuses").guard(refuses)).unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Send>("so".into()).await.unwrap() else {
        panic!("it passed")
    };
    let rejection: Rejection = rejection;
    match rejection.reason() {
        "not so" => {}
        other => panic!("{other}"),
    }
    let reason: fn(&Rejection) -> &str = Rejection::reason;
    assert_eq!(reason(&rejection), "not so");
    assert_eq!(rejection.reason(), format!("not {}", "so"));
    assert_eq!(rejection.to_string(), "rejected at `send` by `refuses` (built-in): not so");
    assert_eq!(rejection.into_reason(), String::from("not so"));
}

#[tokio::test]
async fn l10_a_gate_turns_into_a_result_whose_error_says_by_whom_and_why() {
    let hooks = HookRegistry::new();
    let forbid = |request: &Request| match request.admin {
        true => Judgement::Pass,
        false => Judgement::Reject(Denied::Forbidden),
    };
    hooks.register(on::<Authorize>().name("forbid").guard(forbid)).unwrap();
    let request = |admin| Request { path: "/".into(), admin };
    let fire = async |admin| {
        let gate = hooks.fire_gating::<Authorize>(request(admin)).await?;
        Ok::<_, Box<dyn std::error::Error>>(gate.into_result()?)
    };

    assert_eq!(fire(true).await.unwrap(), request(true));
    let error = fire(false).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r"rejected at `authorize` by `forbid` (built-in): for admins\nonly"
    );
    assert_eq!(error.downcast_ref::<Rejection<Denied>>().unwrap().reason(), &Denied::Forbidden);
}
