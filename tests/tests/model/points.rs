//! The points of the cases, and handlers at them in every form.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::handler::On;
use hooks_runtime::model::{Gating, Stage, Void};
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    HookContext, HookPoint, OnError, Registration, ScopedHooks, Verdict, hook_points, on,
};

use crate::body::{Body, Boom, Case};
use crate::plan::{Answer, Form, Spot, Steer, Wish};

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn catalogue)]
    /// Void, fail-open.
    pub void Told(u32);
    /// Void, fail-closed.
    #[hook(on_failure = "closed")]
    pub void Vowed(u32);
    /// Modifying, fail-open.
    pub modifying Amended(u32) -> { a: u8, b: u8, c: u8 }
    /// Claiming, fail-open.
    pub claiming Routed(u32) -> u32;
    /// Gating, fail-closed.
    pub gating Posted(u32);
    /// Gating, fail-open.
    #[hook(on_failure = "open")]
    pub gating Mailed(u32);
    /// A flow.
    pub flow Made(u32) -> u32;
}

/// One hour of a handler's limit is one round of the case.
pub const ROUND: Duration = Duration::from_secs(3600);

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a handler with a context says of it.
fn known(cx: Option<&HookContext>) -> String {
    let Some(cx) = cx else { return String::new() };
    format!(" at {} as {}", cx.point(), cx.owner())
}

pub struct Telling;
impl Case for Telling {
    type Input<'a> = &'a u32;
    type Output = ();

    fn saw(payload: &mut &u32, cx: Option<&HookContext>) -> String {
        format!("{payload}{}", known(cx))
    }

    fn hooks(_: &&u32, cx: Option<&HookContext>) -> Option<ScopedHooks> {
        cx.map(|cx| cx.hooks().clone())
    }

    fn answer(_: &Body, _: &u32) {}
}

pub struct Amending;
impl Case for Amending {
    type Input<'a> = &'a u32;
    type Output = Option<AmendedResult>;

    fn saw(payload: &mut &u32, cx: Option<&HookContext>) -> String {
        let merged = cx.map(|cx| {
            let AmendedResult { a, b, c } = cx.merged::<Amended>().expect("it is being merged");
            format!(" after {:?}", [a, b, c])
        });
        format!("{payload}{}{}", known(cx), merged.unwrap_or_default())
    }

    fn hooks(_: &&u32, cx: Option<&HookContext>) -> Option<ScopedHooks> {
        cx.map(|cx| cx.hooks().clone())
    }

    fn answer(body: &Body, _: &u32) -> Option<AmendedResult> {
        match body.script.answer {
            Answer::Fields([a, b, c]) => Some(AmendedResult { a, b, c }),
            _ => None,
        }
    }
}

pub struct Routing;
impl Case for Routing {
    type Input<'a> = &'a u32;
    type Output = Option<u32>;

    fn saw(payload: &mut &u32, cx: Option<&HookContext>) -> String {
        format!("{payload}{}", known(cx))
    }

    fn hooks(_: &&u32, cx: Option<&HookContext>) -> Option<ScopedHooks> {
        cx.map(|cx| cx.hooks().clone())
    }

    fn answer(body: &Body, _: &u32) -> Option<u32> {
        match body.script.answer {
            Answer::Claim(value) => Some(value),
            _ => None,
        }
    }
}

pub struct Rewriting;
impl Case for Rewriting {
    type Input<'a> = &'a u32;
    type Output = Verdict<u32>;

    fn saw(payload: &mut &u32, cx: Option<&HookContext>) -> String {
        format!("{payload}{}", known(cx))
    }

    fn hooks(_: &&u32, cx: Option<&HookContext>) -> Option<ScopedHooks> {
        cx.map(|cx| cx.hooks().clone())
    }

    fn answer(body: &Body, _: &u32) -> Verdict<u32> {
        match body.script.answer {
            Answer::Replace(value) => Verdict::Replace(value),
            Answer::Reject => Verdict::reject("no"),
            _ => Verdict::Pass,
        }
    }
}

pub struct Guarding;
impl Case for Guarding {
    type Input<'a> = &'a u32;
    type Output = Verdict;

    fn saw(payload: &mut &u32, cx: Option<&HookContext>) -> String {
        format!("{payload}{}", known(cx))
    }

    fn hooks(_: &&u32, cx: Option<&HookContext>) -> Option<ScopedHooks> {
        cx.map(|cx| cx.hooks().clone())
    }

    fn answer(body: &Body, _: &u32) -> Verdict {
        match body.script.answer {
            Answer::Reject => Verdict::reject("no"),
            _ => Verdict::Pass,
        }
    }
}

/// How many handlers of a run came before, kept in its state.
struct Before(u32);

pub struct Staging;
impl Case for Staging {
    type Input<'a> = &'a mut FlowContext<Made>;
    type Output = ();

    fn saw(flow: &mut &mut FlowContext<Made>, cx: Option<&HookContext>) -> String {
        let before = flow.state_mut().remove::<Before>().map_or(0, |Before(count)| count);
        flow.state_mut().insert(Before(before + 1));
        format!(
            "{} {:?} {:?} {:?} {} {before}{}",
            flow.stage(),
            flow.input(),
            flow.output(),
            flow.error().map(|error| crate::event::placeless(&error.to_string())),
            flow.is_recovered(),
            known(cx),
        )
    }

    fn hooks(flow: &&mut FlowContext<Made>, _: Option<&HookContext>) -> Option<ScopedHooks> {
        Some(flow.hooks().clone())
    }

    fn answer(body: &Body, flow: &mut FlowContext<Made>) {
        for steer in &body.script.steers {
            match *steer {
                Steer::Skip => flow.skip(),
                Steer::Abort => flow.abort(Boom),
                Steer::Respond(value) => body.steered(flow.respond(value)),
                Steer::Recover(value) => body.steered(flow.recover(value)),
                Steer::Rewrite(value) => {
                    body.steered(flow.input_mut().map(|input| *input = value).is_some());
                }
                Steer::Touch(value) => {
                    body.steered(flow.output_mut().map(|output| *output = value).is_some());
                }
            }
        }
    }
}

/// A registration of `$body` in the form that its script asks for.
macro_rules! in_its_form {
    ($on:expr, $body:expr, $case:ty, [$($mutable:tt)?] $input:ty) => {{
        type Ended = Result<<$case as Case>::Output, Boom>;
        async fn plain(body: &Body, input: &$($mutable)? $input) -> Ended {
            body.run::<$case>(input, None).await
        }
        async fn context(body: &Body, input: &$($mutable)? $input, cx: &HookContext) -> Ended {
            body.run::<$case>(input, Some(cx)).await
        }
        async fn huge(body: &Body, input: &$($mutable)? $input) -> Ended {
            let ballast = [body.tag; 1024];
            let ended = body.run::<$case>(input, None).await;
            assert_eq!(ballast, [body.tag; 1024], "nothing wrote into its future");
            ended
        }
        fn boxed<'a>(body: &'a Body, input: &'a $($mutable)? $input) -> BoxFuture<'a, Ended> {
            let input = body.before_the_future::<$case>(input);
            Box::pin(body.run::<$case>(input, None))
        }
        let body = $body;
        match body.script.form {
            Form::Sync => $on.handler_with(body, |body: &Body, input: &$($mutable)? $input| {
                body.run_now::<$case>(input, None)
            }),
            Form::SyncContext => $on.handler_with(
                body,
                |body: &Body, input: &$($mutable)? $input, cx: &HookContext| {
                    body.run_now::<$case>(input, Some(cx))
                },
            ),
            Form::Async => $on.handler_with(body, plain),
            Form::AsyncContext => $on.handler_with(body, context),
            Form::Huge => $on.handler_with(body, huge),
            Form::Boxed => $on.handler_with(body, boxed),
        }
    }};
}

/// Lets the compiler see that a closure takes any lifetime.
fn ranked<F>(closure: F) -> F
where
    F: for<'a> Fn(&'a u32) -> BoxFuture<'a, Result<Verdict, Boom>>,
{
    closure
}

fn guard<P>(on: On<P>, body: Body) -> Registration
where
    P: HookPoint<Payload = u32, Result = String, Model = Gating>,
{
    match body.script.form {
        Form::Sync => on.guard(move |payload: &u32| body.run_now::<Guarding>(payload, None)),
        Form::SyncContext => on.guard(move |payload: &u32, cx: &HookContext| {
            body.run_now::<Guarding>(payload, Some(cx))
        }),
        // A guard has no state of its own kind, so an async one is boxed.
        _ => {
            let body = Arc::new(body);
            on.guard(ranked(move |payload| {
                let payload = body.before_the_future::<Guarding>(payload);
                let body = Arc::clone(&body);
                Box::pin(async move { body.run::<Guarding>(payload, None).await })
            }))
        }
    }
}

fn void<P: HookPoint<Payload = u32, Model = Void>>(wish: &Wish, body: Body) -> Registration {
    in_its_form!(options::<P>(wish), body, Telling, [] u32)
}

fn gating<P>(wish: &Wish, body: Body) -> Registration
where
    P: HookPoint<Payload = u32, Result = String, Model = Gating>,
{
    if wish.guard {
        return guard(options::<P>(wish), body);
    }
    in_its_form!(options::<P>(wish), body, Rewriting, [] u32)
}

fn stage<P>(wish: &Wish, body: Body) -> Registration
where
    P: HookPoint<Payload = FlowContext<Made>, Model = Stage>,
{
    in_its_form!(options::<P>(wish), body, Staging, [mut] FlowContext<Made>)
}

/// The options of a wish.
fn options<P: HookPoint>(wish: &Wish) -> On<P> {
    let mut on = on::<P>();
    if let Some(name) = wish.name {
        on = on.name(name);
    }
    if let Some(plugin) = wish.plugin {
        on = on.plugin(plugin);
    }
    if let Some(priority) = wish.priority {
        on = on.priority(priority);
    }
    if let Some(policy) = wish.policy {
        on = on.on_failure(policy);
    }
    if let Some(limit) = wish.limit {
        on = on.timeout(ROUND * limit);
    }
    if let Some(target) = wish.target {
        on = on.target_named(target);
    }
    if wish.replace {
        on = on.replace();
    }
    on = wish.before.iter().fold(on, |on, name| on.before(*name));
    wish.after.iter().fold(on, |on, name| on.after(*name))
}

/// The registration that a wish asks for.
pub fn registration(wish: &Wish, body: Body) -> Registration {
    match wish.spot {
        Spot::Told => void::<Told>(wish, body),
        Spot::Vowed => void::<Vowed>(wish, body),
        Spot::Amended => in_its_form!(options::<Amended>(wish), body, Amending, [] u32),
        Spot::Routed => in_its_form!(options::<Routed>(wish), body, Routing, [] u32),
        Spot::Posted => gating::<Posted>(wish, body),
        Spot::Mailed => gating::<Mailed>(wish, body),
        Spot::BeforeValidation => stage::<BeforeValidation<Made>>(wish, body),
        Spot::AfterValidation => stage::<AfterValidation<Made>>(wish, body),
        Spot::BeforeExecute => stage::<BeforeExecute<Made>>(wish, body),
        Spot::AfterExecute => stage::<AfterExecute<Made>>(wish, body),
        Spot::OnError => stage::<OnError<Made>>(wish, body),
        Spot::Finally => stage::<Finally<Made>>(wish, body),
    }
}
