//! What a host hands to a plugin: a registrar bound to its id (L16), and
//! limits that hold however it registers (L18).

mod support;

use hooks_runtime::plugin::{Quota, Refusal};
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::Owner;
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, PluginId, RegisterError, Registration, Verdict,
    handlers, hook_handler, hook_handlers, hook_points, on,
};
use support::Log;

hook_points! {
    /// A bell rings.
    pub void Ring { n: u32 }
    /// Which song.
    pub modifying Sing { n: u32 } -> { song: String }
    /// Who answers.
    pub claiming Answer { n: u32 } -> u32;
    /// What may be said.
    pub gating Say(String);
    /// A concert.
    #[hook(name = "stage:concert")]
    pub flow Concert(u32) -> u32;
}

const RING: RingPayload = RingPayload { n: 1 };

/// Names no owner: built-in when the host registers it.
#[hook_handler(Ring)]
fn plain(_: &RingPayload) {}

#[hook_handler(Ring, plugin = "tower")]
fn towers(_: &RingPayload) {}

fn owner(id: &str) -> Owner {
    Owner::Plugin(PluginId::new(id).unwrap())
}

#[track_caller]
fn refused(result: Result<impl std::fmt::Debug, RegisterError>, text: &str) {
    assert_eq!(result.unwrap_err().to_string(), text);
}

fn rings(name: &'static str) -> Registration {
    on::<Ring>().name(name).handler(|_: &RingPayload| ())
}

#[test]
fn l16_a_registrar_registers_for_its_plugin_and_no_other_owner() {
    let hooks = HookRegistry::new();
    let gate = hooks.registrar("gate").unwrap();
    assert_eq!(gate.plugin().as_str(), "gate");
    refused(
        gate.register(handlers![plain, towers]),
        "`towers` names plugin `tower`, but this registrar is bound to plugin `gate`; leave the \
         name out",
    );
    let anonymous = on::<Ring>().plugin("Gate").handler(|_: &RingPayload| ());
    let place = format!("{}:{}:{}", file!(), line!() - 1, 21);
    // Ids are the same only to the letter.
    refused(
        gate.register(anonymous),
        &format!(
            "`{place}` names plugin `Gate`, but this registrar is bound to plugin `gate`; \
                  leave the name out"
        ),
    );
    assert!(!hooks.has_handlers::<Ring>(), "whole or not at all");

    gate.register(handlers![plain]).unwrap();
    hooks.registrar("tower").unwrap().register(handlers![plain, towers]).unwrap();
    let owners: Vec<_> =
        hooks.handlers_at::<Ring>().iter().map(|info| info.owner.clone()).collect();
    assert_eq!(owners, [owner("gate"), owner("tower"), owner("tower")]);
    assert_eq!(hooks.handlers_of(Owner::BuiltIn).len(), 0);
}

#[tokio::test]
async fn l16_a_registrar_can_replace_remove_and_fire_and_only_its_own() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let (gate, tower) = (hooks.registrar("gate").unwrap(), hooks.registrar("tower").unwrap());
    let creak = |what| on::<Ring>().name("creak").replace().handler(log.note(what));
    hooks.register(on::<Ring>().name("creak").handler(log.note("host"))).unwrap();
    gate.register(creak("gate")).unwrap();
    tower.register(creak("tower")).unwrap();
    tower.register(creak("tower again")).unwrap();
    gate.hooks().fire_void::<Ring>(&RING).await.unwrap();
    assert_eq!(log.take(), ["host", "gate", "tower again"]);
    assert_eq!(tower.unregister().removed(), 1);
    assert_eq!(tower.unregister().removed(), 0, "removing twice is harmless");
    gate.hooks().fire_void::<Ring>(&RING).await.unwrap();
    assert_eq!(log.take(), ["host", "gate"]);
    // A copy is bound as the original is.
    refused(
        gate.clone().register(handlers![towers]),
        "`towers` names plugin `tower`, but this registrar is bound to plugin `gate`; leave the \
         name out",
    );
}

#[test]
fn l16_a_registrar_needs_an_id() {
    let hooks = HookRegistry::new();
    assert_eq!(
        hooks.registrar("built-in").unwrap_err().to_string(),
        "`built-in` cannot be a plugin id: it reads like `built-in`, which is reserved for the \
         host; an id is 1 to 64 ASCII letters, digits, `-`, `_` or `.`, and starts and ends with \
         a letter or digit"
    );
    assert_eq!(
        hooks.set_quota("a b", Quota::new()).unwrap_err().to_string(),
        "`a b` cannot be a plugin id: it has a character that is not allowed; an id is 1 to 64 ASCII \
         letters, digits, `-`, `_` or `.`, and starts and ends with a letter or digit"
    );
}

/// One handler at each kind of place.
fn one_of_each() -> [(&'static str, ModelKind, Registration); 5] {
    [
        ("ring", ModelKind::Void, on::<Ring>().name("h").handler(|_: &RingPayload| ())),
        (
            "sing",
            ModelKind::Modifying,
            on::<Sing>().name("h").handler(|_: &SingPayload| -> Option<SingResult> { None }),
        ),
        (
            "answer",
            ModelKind::Claiming,
            on::<Answer>().name("h").handler(|_: &AnswerPayload| -> Option<u32> { None }),
        ),
        ("say", ModelKind::Gating, on::<Say>().name("h").guard(|_: &String| Verdict::Pass)),
        (
            "stage:concert/beforeExecute",
            ModelKind::Stage,
            on::<BeforeExecute<Concert>>().name("h").handler(|_: &mut FlowContext<Concert>| ()),
        ),
    ]
}

/// A registry that allows `limits` to the plugin `gate`.
fn limited(limits: Quota) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.set_quota("gate", limits).unwrap();
    hooks
}

#[test]
fn l16_a_model_that_is_kept_back_is_refused() {
    for kept in 0..5 {
        let (point, model, _) = &one_of_each()[kept];
        let hooks = limited(Quota::new().without(*model));
        let gate = hooks.registrar("gate").unwrap();
        let all = || one_of_each().into_iter().map(|(_, _, handler)| handler);
        refused(
            gate.register(all()),
            &format!(
                "`h` of plugin `gate` is refused at `{point}`: it may not use {model} \
                      points; the host allows more with `set_quota`"
            ),
        );
        assert_eq!(hooks.handlers().len(), 0, "whole or not at all");
        let others = all().enumerate().filter(|(index, _)| *index != kept);
        assert_eq!(gate.register(others.map(|(_, handler)| handler)).unwrap().len(), 4);
        // The limit is this plugin's alone.
        assert_eq!(hooks.registrar("tower").unwrap().register(all()).unwrap().len(), 5);
        assert_eq!(hooks.register(all()).unwrap().len(), 5);
    }
}

/// A flow has handlers only at its stages, so keeping flows back must keep
/// those back, or it keeps back nothing.
#[test]
fn l16_keeping_flows_back_keeps_their_stages_back() {
    let gate = limited(Quota::new().without(ModelKind::Flow)).registrar("gate").unwrap();
    let [.., (_, _, stage)] = one_of_each();
    let Err(RegisterError::Refused { refusal, .. }) = gate.register(stage) else {
        panic!("a handler came into a flow");
    };
    assert!(matches!(refusal, Refusal::Model { .. }), "{refusal:?}");
}

#[test]
fn l16_only_the_points_on_the_list() {
    let gate = limited(Quota::new().points(["ring", "stage:concert"])).registrar("gate").unwrap();
    for (point, _, handler) in one_of_each() {
        let registered = gate.register(handler);
        if ["ring", "stage:concert/beforeExecute"].contains(&point) {
            // The flow's name stands for its stages.
            registered.unwrap();
        } else {
            let text = format!(
                "`h` of plugin `gate` is refused at `{point}`: it may use only these points: \
                 ring, stage:concert; the host allows more with `set_quota`"
            );
            refused(registered, &text);
        }
    }
    // One stage is not the flow.
    let gate = limited(Quota::new().points(["stage:concert/finally"])).registrar("gate").unwrap();
    let [.., (_, _, stage)] = one_of_each();
    refused(
        gate.register(stage),
        "`h` of plugin `gate` is refused at `stage:concert/beforeExecute`: it may use only these \
         points: stage:concert/finally; the host allows more with `set_quota`",
    );
}

#[test]
fn l16_only_priorities_in_the_range() {
    let gate = limited(Quota::new().priorities(-5..=10)).registrar("gate").unwrap();
    let with = |priority: i32| {
        gate.register(
            on::<Ring>().name("h").replace().priority(priority).handler(|_: &RingPayload| ()),
        )
    };
    for priority in [-5, 0, 10] {
        with(priority).unwrap();
    }
    for priority in [i32::MIN, -6, 11, i32::MAX] {
        let text = format!(
            "`h` of plugin `gate` is refused at `ring`: priority {priority} is not between -5 \
             and 10; the host allows more with `set_quota`"
        );
        refused(with(priority), &text);
    }
}

const FULL: &str = "`third` of plugin `gate` is refused at `ring`: it may have at most 2 \
                    handlers; the host allows more with `set_quota`";

#[test]
fn l16_only_so_many_handlers_at_all_points_together() {
    let hooks = limited(Quota::new().max_handlers(2));
    let gate = hooks.registrar("gate").unwrap();
    refused(gate.register([rings("first"), rings("second"), rings("third")]), FULL);
    assert_eq!(hooks.handlers().len(), 0, "whole or not at all");
    let [_, (_, _, sings), ..] = one_of_each();
    let handles = gate.register([rings("first"), sings]).unwrap();
    refused(gate.register(rings("third")), FULL);
    // The host's own registration for the plugin is held to the same.
    let owned = on::<Ring>().name("third").plugin("gate").handler(|_: &RingPayload| ());
    refused(hooks.register(owned), FULL);
    // A removal makes room; a replacement needs none.
    handles[1].unregister();
    gate.register(rings("second")).unwrap();
    gate.register(on::<Ring>().name("second").replace().handler(|_: &RingPayload| ())).unwrap();
    refused(gate.register(rings("third")), FULL);
}

/// A replacement does not count against the quota, also where several replace at
/// once.
#[test]
fn l16_a_full_plugin_may_replace_all_of_its_handlers_together() {
    let gate = limited(Quota::new().max_handlers(2)).registrar("gate").unwrap();
    gate.register([rings("first"), rings("second")]).unwrap();
    let anew = |name| on::<Ring>().name(name).replace().handler(|_: &RingPayload| ());
    gate.register([anew("first"), anew("second")]).unwrap();
}

#[test]
fn l16_limits_hold_from_then_on_and_the_last_ones_count() {
    let hooks = limited(Quota::new().max_handlers(2));
    let gate = hooks.registrar("gate").unwrap();
    gate.register([rings("first"), rings("second")]).unwrap();
    hooks.set_quota("gate", Quota::new().max_handlers(0)).unwrap();
    assert_eq!(hooks.handlers().len(), 2, "what is registered stays");
    gate.register(rings("third")).unwrap_err();
    hooks.set_quota("gate", Quota::new()).unwrap();
    gate.register(rings("third")).unwrap();
}

/// Breaks a limit with its last handler only.
struct Choir;

#[hook_handlers(plugin = "gate")]
impl Choir {
    #[hook_handler(Ring)]
    fn hum(&self, _: &RingPayload) {}

    #[hook_handler(Answer, priority = 3)]
    fn solo(&self, _: &AnswerPayload) -> Option<u32> {
        None
    }
}

#[tokio::test]
async fn l16_limits_hold_for_install_and_leave_nothing_behind() {
    let of_solo = |why: &str| {
        format!(
            "`solo` of plugin `gate` is refused at `answer`: {why}; \
                                       the host allows more with `set_quota`"
        )
    };
    for (limits, why) in [
        (Quota::new().max_handlers(1), "it may have at most 1 handler"),
        (Quota::new().without(ModelKind::Claiming), "it may not use claiming points"),
        (Quota::new().points(["ring", "sing"]), "it may use only these points: ring, sing"),
        (Quota::new().priorities(0..=2), "priority 3 is not between 0 and 2"),
    ] {
        let hooks = limited(limits.clone());
        refused(hooks.install(Choir), &of_solo(why));
        refused(hooks.install_or_replace(Choir), &of_solo(why));
        assert_eq!(hooks.handlers().len(), 0);
        // And where there is a version already, it stays.
        hooks.set_quota("gate", Quota::new()).unwrap();
        let choir = hooks.install(Choir).unwrap();
        hooks.set_quota("gate", limits).unwrap();
        refused(hooks.install_or_replace(Choir), &of_solo(why));
        assert_eq!(hooks.handlers().len(), 2);
        choir.uninstall().await.into_result().unwrap();
    }
    // A new version takes the room of the old one.
    let hooks = limited(Quota::new().max_handlers(2));
    let _first = hooks.install(Choir).unwrap();
    let _second = hooks.install_or_replace(Choir).unwrap();
    assert_eq!(hooks.handlers().len(), 2);
}
