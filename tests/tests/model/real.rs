//! The steps of a case, taken with the real registry.

use std::fmt::Display;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hooks_runtime::flow::FlowReport;
use hooks_runtime::plugin::{Quota, Removal};
use hooks_runtime::report::FireReport;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Claim, Finally, Gate,
    HookPoint, HookRegistry, OnError, ScopedHooks,
};

use crate::body::{Body, Boom, Wait, end};
use crate::event::{Audited, Event, Listed, Row, placeless};
use crate::plan::{Op, Run, ScopeOf, Script, Shot, Spot, Way, Wish, handlers_of_east};
use crate::plugin::East;
use crate::points::{
    Amended, AmendedResult, Made, Mailed, Posted, ROUND, Routed, Told, Vowed, registration,
};
use crate::world::World;

/// Takes one step; a handler that takes it was `given` hooks, or was not.
pub fn perform(world: &Arc<World>, op: &Op, given: Option<&ScopedHooks>) {
    let hooks = world.hooks();
    let (what, report) = match op {
        Op::Register { registrar, wishes } => (register(world, &hooks, *registrar, wishes), None),
        Op::Install { replace, scripts } => (install(world, &hooks, *replace, scripts), None),
        Op::Uninstall(number) => (uninstall(world, *number), None),
        Op::Unregister(number) => (unregister(world, *number), None),
        Op::UnregisterPlugin(id) => {
            let removal = hooks.unregister_plugin(id);
            let running: Vec<_> = removal.running().iter().map(|name| placeless(name)).collect();
            let drained = drained(&removal);
            (format!("removed {}, {running:?} run, {drained}", removal.removed()), None)
        }
        Op::Limit { plugin, most, priorities: (lowest, highest) } => {
            let limits = Quota::new().max_handlers(*most).priorities(*lowest..=*highest);
            (told(hooks.set_quota(plugin, limits), |()| "limited".into()), None)
        }
        Op::Scope { parent, plugins } => {
            let mut scopes = world.scopes.lock().unwrap();
            let parent = parent.and_then(|number| nth(&scopes, number).cloned());
            let of = parent.as_ref().unwrap_or(&hooks);
            let made = of.scope(plugins.clone());
            scopes.push(made);
            ("a scope".into(), None)
        }
        Op::Fire { shot, payload, scope, way, stop } => {
            let scoped = match scope {
                ScopeOf::Everyone => (*hooks).clone(),
                ScopeOf::Made(number) => {
                    let scopes = world.scopes.lock().unwrap();
                    nth(&scopes, *number).cloned().unwrap_or_else(|| (*hooks).clone())
                }
                ScopeOf::Given(plugins) => given.unwrap_or(&hooks).scope(plugins.clone()),
            };
            // The handlers may end the registry's last use but this one.
            drop(hooks);
            let fired = world.drive_to(*stop, fire(world, &scoped, shot, *payload, *way));
            fired.unwrap_or_else(|| ("dropped".into(), None))
        }
    };
    world.note(Event::Did { what, report: report.unwrap_or_default() });
}

/// The number counts round and round.
pub fn nth<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

fn told<T, E: Display>(outcome: Result<T, E>, tell: impl FnOnce(T) -> String) -> String {
    match outcome {
        Ok(value) => tell(value),
        Err(error) => placeless(&error.to_string()),
    }
}

fn body(world: &Arc<World>, script: &Arc<Script>, spot: Spot) -> Body {
    let (world, script) = (Arc::clone(world), Arc::clone(script));
    Body { tag: world.tag(), world, script, beside: spot.is_void() }
}

fn register(
    world: &Arc<World>,
    hooks: &HookRegistry,
    registrar: Option<&str>,
    wishes: &[Wish],
) -> String {
    let bodies: Vec<_> = wishes.iter().map(|wish| body(world, &wish.script, wish.spot)).collect();
    let tags: Vec<_> = bodies.iter().map(|body| body.tag).collect();
    let group = wishes.iter().zip(bodies).map(|(wish, body)| registration(wish, body));
    let registered = match registrar {
        None => hooks.register(group),
        Some(plugin) => hooks.registrar(plugin).expect("a good id").register(group),
    };
    told(registered, |handles| {
        for ((wish, tag), handle) in wishes.iter().zip(tags).zip(handles) {
            let name = handle.name().expect("it has just been registered");
            if wish.name.is_none() {
                world.names.lock().unwrap().insert(tag, name.to_string());
            }
            world.handles.lock().unwrap().push(handle);
        }
        "registered".into()
    })
}

fn install(
    world: &Arc<World>,
    hooks: &HookRegistry,
    replace: bool,
    scripts: &[Arc<Script>; 4],
) -> String {
    let wishes = handlers_of_east(scripts);
    let plugin = East(wishes.map(|wish| body(world, &wish.script, wish.spot)));
    let installed = if replace { hooks.install_or_replace(plugin) } else { hooks.install(plugin) };
    told(installed, |installed| {
        world.handles.lock().unwrap().extend(installed.handles().iter().cloned());
        world.installed.lock().unwrap().push(Some(installed));
        "installed".into()
    })
}

fn uninstall(world: &World, number: usize) -> String {
    let mut all = world.installed.lock().unwrap();
    let count = all.len();
    let Some(at) = number.checked_rem(count) else { return "nothing to uninstall".into() };
    let installed = all[at].take();
    drop(all);
    installed.map_or("gone".into(), |installed| drained(&installed.uninstall()))
}

fn unregister(world: &World, number: usize) -> String {
    let handle = nth(&world.handles.lock().unwrap(), number).cloned();
    handle.map_or("nothing to unregister".into(), |handle| {
        let removal = handle.unregister();
        format!("removed {}, {}", removal.removed(), drained(&removal))
    })
}

/// The result of one poll of a wait: the handlers that it waits for may be pending
/// outside.
fn drained(removal: &Removal) -> String {
    match removal.into_future().as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => "waits".into(),
        Poll::Ready(outcome) => told(outcome.into_result(), |()| "drained".into()),
    }
}

type Came = (String, Option<Vec<(String, Vec<Row>)>>);

async fn fire(
    world: &Arc<World>,
    hooks: &ScopedHooks,
    shot: &Shot,
    payload: u32,
    way: Way,
) -> Came {
    macro_rules! fired {
        ($fire:ident, $reported:ident, $lazy:expr, $point:ty, $payload:expr, $tell:expr) => {
            match way {
                Way::Reported => {
                    let (outcome, report) = hooks.$reported::<$point>($payload).await;
                    (told(outcome, $tell), Some(vec![rows(&report)]))
                }
                Way::Plain => (told(hooks.$fire::<$point>($payload).await, $tell), None),
                Way::Lazy => (told($lazy.await, $tell), None),
            }
        };
    }
    let built = || {
        world.note(Event::Built);
        payload
    };
    match shot {
        Shot::At(Spot::Told) => {
            fired!(
                fire_void,
                fire_void_reported,
                hooks.fire_void_with::<Told>(built),
                Told,
                &payload,
                |()| "notified".into()
            )
        }
        Shot::At(Spot::Vowed) => {
            fired!(
                fire_void,
                fire_void_reported,
                hooks.fire_void_with::<Vowed>(built),
                Vowed,
                &payload,
                |()| "notified".into()
            )
        }
        Shot::At(Spot::Amended) => {
            fired!(
                fire_modifying,
                fire_modifying_reported,
                hooks.fire_modifying_with::<Amended>(built),
                Amended,
                &payload,
                amended
            )
        }
        Shot::At(Spot::Routed) => {
            fired!(
                fire_claiming,
                fire_claiming_reported,
                hooks.fire_claiming_with::<Routed>(built),
                Routed,
                &payload,
                routed
            )
        }
        Shot::At(Spot::Posted) => {
            fired!(
                fire_gating,
                fire_gating_reported,
                hooks.fire_gating::<Posted>(payload),
                Posted,
                payload,
                gated
            )
        }
        Shot::At(Spot::Mailed) => {
            fired!(
                fire_gating,
                fire_gating_reported,
                hooks.fire_gating::<Mailed>(payload),
                Mailed,
                payload,
                gated
            )
        }
        Shot::At(stage) => unreachable!("{stage:?} is run by its flow"),
        Shot::Flow(run) => flow(world, hooks, run, payload, way).await,
    }
}

fn amended(AmendedResult { a, b, c }: AmendedResult) -> String {
    format!("amended {:?}", [a, b, c])
}

fn routed(claim: Claim<u32>) -> String {
    match claim {
        Claim::Claimed(value) => format!("claimed {value}"),
        Claim::Unclaimed => "unclaimed".into(),
    }
}

fn gated(gate: Gate<u32>) -> String {
    match gate {
        Gate::Passed(payload) => format!("passed {payload}"),
        Gate::Rejected(rejection) => placeless(&rejection.to_string()),
    }
}

async fn flow(world: &Arc<World>, hooks: &ScopedHooks, run: &Run, payload: u32, way: Way) -> Came {
    let mut flow = hooks.flow::<Made>();
    for target in &run.targets {
        flow = flow.target_named(*target);
    }
    if let Some(ending) = run.validation {
        flow = flow.validate(move |_: &u32| end(ending));
    }
    let operation = async |input: u32| -> Result<u32, Boom> {
        world.note(Event::Operated { input });
        let drive = world.drive();
        let mut running = OperationRunning { world, ended: false };
        Wait { until: drive.round() + run.rounds, drive }.await;
        running.ended = true;
        end(run.operation)?;
        Ok(input + 1)
    };
    let tell = |output: u32| format!("made {output}");
    if way == Way::Reported {
        let (outcome, report) = flow.run_reported(payload, operation).await;
        (told(outcome, tell), Some(stages(&report)))
    } else {
        (told(flow.run(payload, operation).await, tell), None)
    }
}

struct OperationRunning<'w> {
    world: &'w World,
    ended: bool,
}

impl Drop for OperationRunning<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.world.note(Event::OperationDropped);
        }
    }
}

fn stages(report: &FlowReport) -> Vec<(String, Vec<Row>)> {
    let mut stages: Vec<_> = report.stages().iter().map(rows).collect();
    // The steps of the run come last, each as a line without rows.
    let validation = report.validation().map(|step| format!("validation: {}", step.status()));
    let operation = format!("operation: {}", report.operation().status());
    let recovery = report.recovery().map(|recovery| placeless(&recovery.to_string()));
    let lines = validation.into_iter().chain([operation]).chain(recovery);
    stages.extend(lines.map(|line| (line, Vec::new())));
    stages
}

fn rows(report: &FireReport) -> (String, Vec<Row>) {
    let rows = report.handlers().iter().map(|row| Row {
        handler: placeless(row.handler()),
        owner: row.owner().to_string(),
        status: row.status().clone(),
        timed: row.elapsed().is_some(),
    });
    (report.point().to_owned(), rows.collect())
}

/// What introspection says of one point, in order.
pub fn listed(hooks: &HookRegistry, spot: Spot) -> Vec<Listed> {
    fn at<P: HookPoint>(hooks: &HookRegistry) -> Vec<Listed> {
        let listed: Vec<_> = hooks
            .handlers_at::<P>()
            .into_iter()
            .map(|info| Listed {
                name: info.name.to_string(),
                owner: info.owner.to_string(),
                priority: info.priority,
                guard: info.guard,
                policy: info.policy,
                limit: info.timeout.map(|limit| (limit.as_secs() / ROUND.as_secs()) as u32),
                target: info.target.map(|target| target.to_string()),
                calls: info.calls,
                failures: info.failures,
                filtered: info.skips.total(),
            })
            .collect();
        assert_eq!(hooks.has_handlers::<P>(), !listed.is_empty(), "{}", P::NAME);
        listed
    }
    match spot {
        Spot::Told => at::<Told>(hooks),
        Spot::Vowed => at::<Vowed>(hooks),
        Spot::Amended => at::<Amended>(hooks),
        Spot::Routed => at::<Routed>(hooks),
        Spot::Posted => at::<Posted>(hooks),
        Spot::Mailed => at::<Mailed>(hooks),
        Spot::BeforeValidation => at::<BeforeValidation<Made>>(hooks),
        Spot::AfterValidation => at::<AfterValidation<Made>>(hooks),
        Spot::BeforeExecute => at::<BeforeExecute<Made>>(hooks),
        Spot::AfterExecute => at::<AfterExecute<Made>>(hooks),
        Spot::OnError => at::<OnError<Made>>(hooks),
        Spot::Finally => at::<Finally<Made>>(hooks),
    }
}

/// What the audit says.
pub fn audited(hooks: &HookRegistry) -> Audited {
    let audit = hooks.audit();
    let mut never_fired: Vec<_> = audit.never_fired.iter().map(ToString::to_string).collect();
    let mut never_called: Vec<_> = audit
        .never_called
        .iter()
        .map(|row| format!("{} {} {} {:?}", row.point, row.owner, row.handler, row.why))
        .collect();
    let mut unknown_constraints: Vec<_> = audit
        .unknown_constraints
        .iter()
        .map(|row| format!("{} {} {} {}", row.point, row.owner, row.handler, row.name))
        .collect();
    let mut dropped: Vec<_> = audit.dropped.iter().map(ToString::to_string).collect();
    never_fired.sort();
    never_called.sort();
    unknown_constraints.sort();
    dropped.sort();
    Audited { never_fired, never_called, unknown_constraints, dropped }
}
