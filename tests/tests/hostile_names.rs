//! Names that are meant to deceive: refused at the door, and safe in every
//! message (L16).

use hooks_runtime::handler::Target;
use hooks_runtime::registry::Owner;
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, PluginId, Plugins, RegisterError, hook_points, on,
};
use proptest::prelude::*;

hook_points! {
    /// A bell rings.
    pub void Ring(u32);
    /// A bell is cast.
    pub flow Cast(u32) -> u32;
}

/// Texts that pass for others, reach elsewhere, or do not stay on their line.
const NASTY: [&str; 32] = [
    "",
    " ",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\windows",
    "a/b",
    "~",
    "a\0b",
    "a\nb",
    "a\rb",
    "a\tb",
    "\u{1b}[31mred",
    "a\u{7f}b",
    "a\u{85}b",
    "a\u{ad}b",
    "a\u{61c}b",
    "a\u{180e}b",
    "a\u{200b}b",
    "a\u{200f}b",
    "a\u{2028}b",
    "a\u{202e}b",
    "a\u{2066}b",
    "a\u{3164}b",
    "a\u{fe0f}b",
    "\u{feff}a",
    "a\u{fff9}b",
    "a\u{e0041}b",
    "built\u{2010}in",
    "\u{432}uilt-in",
    "buıltin",
    "ｂｕｉｌｔ-in",
];

/// Spellings of the host's own word.
const FOR_THE_HOST: [&str; 14] = [
    "built-in",
    "builtin",
    "BUILT-IN",
    "Built.In",
    "built_in",
    "bui1t-in",
    "bu1lt-1n",
    "buiIt-In",
    "8uilt-in",
    "bvilt-in",
    "buil7-in",
    "b-u-i-l-t-i-n",
    "bullt-ln",
    "B.U.I.L.T.I.N",
];

/// One line of plain characters, not much longer than its parts.
#[track_caller]
fn assert_safe(text: &str) {
    assert!(text.len() < 600, "{} bytes", text.len());
    let plain = |c: char| c.escape_debug().count() == 1 || "\\'\"".contains(c);
    assert!(text.chars().all(plain), "{text:?}");
}

/// Every way in refuses the id, with one safe message.
#[track_caller]
fn assert_no_id(id: &str) {
    let hooks = HookRegistry::new();
    let text = PluginId::new(id).unwrap_err().to_string();
    assert_safe(&text);
    let owned = on::<Ring>().plugin(id).handler(|_: &u32| ());
    assert_eq!(hooks.register(owned).unwrap_err().to_string(), text);
    assert_eq!(hooks.registrar(id).unwrap_err().to_string(), text);
    assert_eq!(
        hooks.set_quota(id, hooks_runtime::plugin::Quota::new()).unwrap_err().to_string(),
        text
    );
    assert_eq!(hooks.unregister_plugin(id).removed(), 0);
    // A scope of it admits no plugin, and built-in handlers as always.
    hooks.register(on::<Ring>().name("own").handler(|_: &u32| ())).unwrap();
    hooks.register(on::<Ring>().plugin("guest").handler(|_: &u32| ())).unwrap();
    let scope = hooks.scope(Plugins::only([id]));
    futures::executor::block_on(scope.fire_void::<Ring>(&1)).unwrap();
    let calls: Vec<_> = hooks.handlers_at::<Ring>().iter().map(|info| info.calls).collect();
    assert_eq!(calls, [1, 0], "{id:?}");
}

#[test]
fn l16_nasty_ids_are_refused_at_every_door() {
    let huge = "x".repeat(1 << 20);
    for id in NASTY.into_iter().chain([&*huge]) {
        assert_no_id(id);
    }
}

#[test]
fn l16_no_plugin_passes_for_the_host() {
    for id in FOR_THE_HOST {
        assert_no_id(id);
    }
    // A name is not an id: a handler may be called so, its owner differs.
    let hooks = HookRegistry::new();
    let posing = on::<Ring>().name("built-in").plugin("guest").handler(|_: &u32| ());
    hooks.register(posing).unwrap();
    assert_eq!(hooks.handlers_of(Owner::BuiltIn).len(), 0);
}

/// What can be an id but never a name, and the other way round, aside.
fn is_fine_as_a_name(text: &str) -> bool {
    ["..", "C:\\windows", "~"].contains(&text)
        || ["built\u{2010}in", "\u{432}uilt-in", "buıltin", "ｂｕｉｌｔ-in"].contains(&text)
}

#[test]
fn l16_nasty_names_are_refused_wherever_a_name_is_asked_for() {
    let huge = "x".repeat(1 << 20);
    for name in NASTY.into_iter().chain([&*huge]).filter(|name| !is_fine_as_a_name(name)) {
        let hooks = HookRegistry::new();
        let tower = hooks.registrar("tower").unwrap();
        let named = || on::<Ring>().name(name).handler(|_: &u32| ());
        let text = hooks.register(named()).unwrap_err().to_string();
        assert_safe(&text);
        assert_eq!(tower.register(named()).unwrap_err().to_string(), text);
        // In a constraint a `/` stands between a plugin and its handler.
        for wish in [on::<Ring>().before(name), on::<Ring>().after(name)] {
            let wish = wish.name("bell").handler(|_: &u32| ());
            if !name.contains('/') {
                assert_eq!(hooks.register(wish).unwrap_err().to_string(), text, "{name:?}");
            }
        }
        // What is not looked at yet is not printed as it is either.
        let theirs = on::<Ring>().name(name).plugin(name).handler(|_: &u32| ());
        assert_safe(&tower.register(theirs).unwrap_err().to_string());
        assert!(hooks.handlers().is_empty());
    }
}

#[test]
fn l16_what_a_handler_is_bound_to_is_printed_with_care() {
    let bound = |name: &str| {
        on::<BeforeExecute<Cast>>().target_named(name).handler(|_: &mut FlowContext<Cast>| ())
    };
    let huge = "x".repeat(1 << 20);
    for name in NASTY.into_iter().chain([&*huge]) {
        let hooks = HookRegistry::new();
        if let Err(error) = hooks.register(bound(name)) {
            let RegisterError::BadTarget { problem, .. } = &error else { panic!("{error}") };
            assert_safe(&error.to_string());
            assert!(!problem.is_empty() && hooks.handlers().is_empty());
            continue;
        }
        assert!(is_fine_as_a_name(name) || name.contains('/'), "{name:?}");
        let target = hooks.handlers()[0].target.clone().unwrap();
        assert_safe(&target.to_string());
        assert_safe(&format!("{target:?}"));
        assert_eq!(hooks.handlers_for(&Target::named(name)).len(), 1);
    }
}

#[test]
fn l16_the_name_of_a_target_is_checked_and_the_error_says_what_is_wrong() {
    for (name, text) in [
        (
            "",
            "`` cannot be the name of a target: it is empty; such a name is 1 to 200 bytes of \
              printable text",
        ),
        (
            "a\0b",
            "`a\\u{0}b` cannot be the name of a target: it has control or invisible characters; \
             such a name is 1 to 200 bytes of printable text",
        ),
        (
            "\u{1b}[31mred",
            "`\\u{1b}[31mred` cannot be the name of a target: it has control or invisible \
             characters; such a name is 1 to 200 bytes of printable text",
        ),
        (
            " red",
            "` red` cannot be the name of a target: it starts or ends with white space; \
                  such a name is 1 to 200 bytes of printable text",
        ),
        (
            &"x".repeat(1 << 20),
            "`xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` cannot be the name of a target: it is \
             longer than 200 bytes; such a name is 1 to 200 bytes of printable text",
        ),
    ] {
        let hooks = HookRegistry::new();
        let bound = on::<BeforeExecute<Cast>>().target_named(name);
        let bound = bound.handler(|_: &mut FlowContext<Cast>| ());
        assert_eq!(hooks.register(bound).unwrap_err().to_string(), text);
    }
}

#[test]
fn l16_what_has_a_meaning_in_constraints_is_no_name() {
    for (name, text) in [
        (
            "a/b",
            "`a/b` cannot be a handler's name: it contains `/`, which stands between a plugin \
             and its handler; a name is 1 to 200 bytes of printable text without `/`",
        ),
        (
            "*",
            "`*` cannot be a handler's name: `*` stands for all handlers of a plugin; a name \
               is 1 to 200 bytes of printable text without `/`",
        ),
    ] {
        let named = on::<Ring>().name(name).handler(|_: &u32| ());
        assert_eq!(HookRegistry::new().register(named).unwrap_err().to_string(), text);
    }
}

/// The rule of ids, once more and in other words.
fn may_be_an_id(id: &str) -> bool {
    let parts: Vec<_> = id.split('.').collect();
    let letters = id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let edges = id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.ends_with(|c: char| c.is_ascii_alphanumeric());
    letters && edges && id.len() <= 64 && parts.iter().all(|part| !part.is_empty())
}

/// Any text, and texts that are nearly an id.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z0-9._-]{0,70}",
        "[bB8][uUvV][iIlL1][lLiI1][tT7][-_.]?[iIlL1][nN]",
        "[ -~]{1,20}[\u{80}-\u{10ffff}]?",
    ]
}

#[test]
fn l16_any_text_is_an_id_by_the_rule_or_refused_safely() {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = asked.unwrap_or(2_000);
    let config = ProptestConfig { cases, failure_persistence: None, ..Default::default() };
    let tried = proptest::test_runner::TestRunner::new(config).run(&texts(), |text| {
        match PluginId::new(&text) {
            Ok(id) => {
                prop_assert!(may_be_an_id(&text), "{text:?}");
                prop_assert_eq!(id.as_str(), &*text);
            }
            Err(error) => {
                assert_safe(&error.to_string());
                // What the rule would let pass reads like the host's word.
                let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
                prop_assert!(!may_be_an_id(&text) || letters.len() == "builtin".len(), "{text:?}");
            }
        }
        let named = on::<Ring>().name(&*text).handler(|_: &u32| ());
        match HookRegistry::new().register(named) {
            Ok(_) => assert_safe(&format!("{text:.200}")),
            Err(error) => assert_safe(&error.to_string()),
        }
        Ok(())
    });
    tried.unwrap();
    println!(
        "\nproof: names: {cases} texts, each an id by the rule or refused with a safe message"
    );
}
