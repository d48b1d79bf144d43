//! Plugins whose type is forgotten, installed as one group (L18), and what a
//! registry says about them (L22).
// The bare statements below are how users write them.
#![deny(unused_must_use)]

mod support;

use std::sync::Arc;

use hooks_runtime::plugin::Installed;
use hooks_runtime::registry::Owner;
use hooks_runtime::{
    AnyPlugin, HookRegistry, Plugins, RegisterError, hook_handlers, hook_points, on,
};
use support::{Count, CountsDrop, Log};

hook_points! {
    /// A page was saved.
    pub void Saved { page: u32 }
    /// A page was read.
    pub void Read { page: u32 }
}

const SAVED: SavedPayload = SavedPayload { page: 1 };

const VERSION: &str = "0.3.1";

/// Keeps copies.
struct Backup {
    log: Log,
    _held: Option<CountsDrop>,
}

fn backup(log: &Log) -> Backup {
    Backup { log: log.clone(), _held: None }
}

/// Keeps a copy of every page.
///
/// In a folder of its own.
#[hook_handlers(plugin = "backup", version = VERSION)]
impl Backup {
    #[hook_handler(Saved)]
    fn store(&self, _: &SavedPayload) {
        self.log.push("backup");
    }
}

/// Notes who did what.
struct Audit(Log);

/// This comment is not for operators.
#[hook_handlers(plugin = "audit", version = "1.2.0", description = "Writes everything down.")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {
        self.0.push("audit");
    }

    #[hook_handler(Read)]
    fn read(&self, _: &ReadPayload) {}
}

/// The host's own.
struct Desk(Log);

#[hook_handlers]
impl Desk {
    #[hook_handler(Saved)]
    fn desk(&self, _: &SavedPayload) {
        self.0.push("desk");
    }
}

/// A handler that no point takes.
struct Clumsy(CountsDrop);

#[hook_handlers(plugin = "clumsy")]
impl Clumsy {
    #[hook_handler(Saved)]
    fn good(&self, _: &SavedPayload) {
        let _ = &self.0;
    }

    #[hook_handler(Saved, name = "a/b")]
    fn bad(&self, _: &SavedPayload) {}
}

fn all(log: &Log) -> Vec<Box<dyn AnyPlugin>> {
    vec![Box::new(backup(log)), Box::new(Desk(log.clone())), Box::new(Audit(log.clone()))]
}

fn ids(installed: &[Installed]) -> Vec<Option<&str>> {
    installed.iter().map(|installed| installed.id().map(|id| id.as_str())).collect()
}

#[tokio::test]
async fn l18_plugins_of_any_type_are_installed_as_one_group() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let plugins = all(&log);
    assert_eq!(
        format!("{:?}", plugins[0]),
        "AnyPlugin { id: Some(\"backup\"), version: Some(\"0.3.1\"), .. }"
    );
    let installed = hooks.install_all(plugins).unwrap();
    assert_eq!(ids(&installed), [Some("backup"), None, Some("audit")]);
    assert_eq!(installed.iter().map(|it| it.handles().len()).collect::<Vec<_>>(), [1, 1, 2]);
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    assert_eq!(log.take(), ["backup", "desk", "audit"]);
    // Each leaves by itself.
    for (installed, left) in installed.into_iter().zip([2, 1, 0]) {
        installed.uninstall().await.into_result().unwrap();
        hooks.fire_void::<Saved>(&SAVED).await.unwrap();
        assert_eq!(log.take().len(), left);
    }
    // One of them alone, boxed or not, and as a statement.
    hooks.install(Box::new(Audit(log.clone())) as Box<dyn AnyPlugin>).unwrap();
    hooks.install_or_replace(Box::new(Audit(log.clone())) as Box<dyn AnyPlugin>).unwrap();
    hooks.registrar("backup").unwrap().install(backup(&log)).unwrap();
    assert_eq!(hooks.handlers().len(), 3);
}

#[track_caller]
fn refused(installed: Result<Vec<Installed>, RegisterError>, expected: &str) {
    assert_eq!(installed.unwrap_err().to_string(), expected);
}

#[test]
fn l18_a_group_with_a_plugin_that_is_refused_is_not_installed_and_the_error_names_it() {
    let (hooks, log, dropped) = (HookRegistry::new(), Log::new(), Count::default());
    let mut plugins = all(&log);
    plugins.insert(1, Box::new(Clumsy(dropped.on_drop())));
    refused(
        hooks.install_all(plugins),
        "plugin `clumsy` cannot be installed: `a/b` cannot be a handler's name: it contains `/`, \
         which stands between a plugin and its handler; a name is 1 to 200 bytes of printable \
         text without `/`",
    );
    assert!(hooks.handlers().is_empty() && hooks.plugins().is_empty());
    assert_eq!(dropped.get(), 1, "and its value is dropped");

    let mut plugins = all(&log);
    plugins.push(Box::new(Audit(log.clone())));
    refused(
        hooks.install_all(plugins),
        "plugin `audit` is in the group twice: a registry has one plugin of an id; leave one out",
    );
    hooks.install(Audit(log.clone())).unwrap();
    refused(
        hooks.install_all(all(&log)),
        "plugin `audit` has handlers here already: remove them first with `uninstall` or \
         `unregister_plugin`, or use `install_or_replace`",
    );
    assert_eq!(hooks.plugins().len(), 1);

    // A block of built-in handlers is named by its type.
    let first = hooks.install(Desk(log.clone())).unwrap();
    let place = hooks.handlers_of("built-in")[0].location;
    refused(
        hooks.install_all([Desk(log.clone())]),
        &format!(
            "plugin `plugins_as_data::Desk` cannot be installed: `desk` (built-in) is registered \
             at `saved` already: give it another name, or say `replace`; the first is at {place}, \
             the second at {place}"
        ),
    );
    drop(first);
}

#[tokio::test]
async fn l19_an_installed_keeps_nothing_of_its_plugin_alive() {
    let (hooks, log, dropped) = (HookRegistry::new(), Log::new(), Count::default());
    let plugin = Backup { log: log.clone(), _held: Some(dropped.on_drop()) };
    let installed = hooks.install(plugin).unwrap();
    hooks.unregister_plugin("backup").await;
    assert_eq!(dropped.get(), 1);
    // The same where the registry goes.
    let plugin = Backup { log: log.clone(), _held: Some(dropped.on_drop()) };
    let other = hooks.install(plugin).unwrap();
    drop(hooks);
    assert_eq!(dropped.get(), 2);
    assert_eq!((installed.uninstall().removed(), other.uninstall().removed()), (0, 0));
    // An `Arc` is the host's.
    let (hooks, state) = (HookRegistry::new(), Arc::new(backup(&log)));
    hooks.install(Arc::clone(&state)).unwrap().uninstall().await;
    assert_eq!(Arc::strong_count(&state), 1);
}

#[test]
fn l22_a_registry_lists_its_plugins() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    assert!(hooks.plugins().is_empty());
    hooks.install_all(all(&log)).unwrap();
    let guest = on::<Read>().name("looks").plugin("guest").handler(|_: &ReadPayload| ());
    hooks.register(guest).unwrap();
    let plugins = hooks.plugins();
    let [audit, backup, guest] = &plugins[..] else { panic!("{plugins:?}") };
    assert_eq!(audit.id.as_str(), "audit");
    assert_eq!(audit.version, Some("1.2.0"));
    assert_eq!(audit.description, Some("Writes everything down."));
    assert_eq!((audit.handlers, &audit.points[..]), (2, &["read", "saved"][..]));
    assert_eq!((audit.has_start, audit.has_stop), (false, false));
    assert_eq!((backup.version, backup.handlers), (Some(VERSION), 1));
    assert_eq!(backup.description, Some("Keeps a copy of every page.\n\nIn a folder of its own."));
    assert_eq!((guest.id.as_str(), guest.version, guest.description), ("guest", None, None));
    assert_eq!(guest.points, ["read"]);
    assert!(backup.generation < audit.generation, "in the order of their installation");
    let wire = serde_json::to_value(guest).unwrap();
    assert_eq!(wire["id"], "guest");
    assert!(wire["age_ns"].is_u64());

    assert!(hooks.is_installed("audit") && hooks.is_installed(&guest.id));
    assert!(!hooks.is_installed("desk") && !hooks.is_installed("built-in"));
    let names = |owner: &str| {
        hooks.handlers_of(owner).iter().map(|it| it.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("audit"), ["read", "saved"]);
    assert_eq!(names("built-in"), ["desk"]);
    assert_eq!(hooks.handlers_of(Owner::BuiltIn).len(), 1);
    assert_eq!(names("nobody"), [""; 0]);

    // A plugin that comes again is another generation of it.
    let before = audit.generation;
    hooks.install_or_replace(Audit(log)).unwrap();
    assert!(hooks.plugins()[0].generation > before);
    hooks.unregister_plugin("audit");
    assert!(!hooks.is_installed("audit"));
}

#[tokio::test]
async fn l16_a_scope_can_leave_plugins_out_also_beside_ones_that_come_later() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let quiet = hooks.scope(Plugins::except(["audit", "guest"]));
    let fired = async |scope: &hooks_runtime::ScopedHooks| {
        scope.fire_void::<Saved>(&SAVED).await.unwrap();
        log.take()
    };
    hooks.install_all(all(&log)).unwrap();
    assert_eq!(fired(&quiet).await, ["backup", "desk"]);
    let guest = |id: &'static str| on::<Saved>().plugin(id).handler(log.note(id));
    hooks.register([guest("guest"), guest("late")]).unwrap();
    assert_eq!(fired(&quiet).await, ["backup", "desk", "late"]);
    assert_eq!(fired(&hooks).await, ["backup", "desk", "audit", "guest", "late"]);

    // A scope of a scope only narrows it.
    assert_eq!(fired(&quiet.scope(Plugins::All)).await, ["backup", "desk", "late"]);
    assert_eq!(fired(&quiet.scope(Plugins::BuiltIn)).await, ["desk"]);
    assert_eq!(fired(&quiet.scope(Plugins::only(["late", "audit"]))).await, ["desk", "late"]);
    let only = hooks.scope(Plugins::only(["late", "audit"]));
    assert_eq!(fired(&only.scope(Plugins::except(["audit"]))).await, ["desk", "late"]);
    assert_eq!(fired(&quiet.scope(Plugins::except(["late"]))).await, ["backup", "desk"]);
    let both = hooks.scope(Plugins::except(["late"])).scope(Plugins::except(["audit"]));
    assert_eq!(fired(&both).await, ["backup", "desk", "guest"]);
    assert_eq!(fired(&hooks.scope(Plugins::except([""; 0]))).await.len(), 5);
    // What is left out is so by scope, in the report.
    let (_, report) = quiet.fire_void_reported::<Saved>(&SAVED).await;
    log.take();
    assert_eq!(report.to_string().matches("not in scope").count(), 2, "{report}");
    // An id that no plugin ever had is in the audit.
    let _misspelt = hooks.scope(Plugins::except(["adit"]));
    let unknown = hooks.audit().unknown_plugins;
    assert!(unknown[0].to_string().contains("`adit`"), "{unknown:?}");
}

#[tokio::test]
async fn l17_one_handler_is_removed_by_owner_and_name() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let at_both = |plugin: &'static str| {
        [
            on::<Saved>().name("notes").plugin(plugin).handler(|_: &SavedPayload| ()),
            on::<Read>().name("notes").plugin(plugin).handler(|_: &ReadPayload| ()),
        ]
    };
    hooks.register(at_both("one").into_iter().chain(at_both("two"))).unwrap();
    hooks.install(Desk(log.clone())).unwrap();
    let left = || {
        let all = hooks.handlers();
        let name = |it: &hooks_runtime::registry::HandlerInfo| {
            format!("{}:{}/{}", it.point, it.owner.as_ref(), it.name)
        };
        all.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    // The names of others, and of nobody, stay.
    for name in ["notes", "one/desk", "two/none", "nobody/notes", "nobody/*", "", "/", "*"] {
        assert_eq!(hooks.unregister_handler(name).removed(), 0, "{name}");
    }
    assert_eq!(hooks.unregister_handler_at::<Read>("desk").removed(), 0);
    assert_eq!(hooks.unregister_handler_at::<Read>("one/notes").removed(), 1);
    assert_eq!(left(), "read:two/notes saved:one/notes saved:two/notes saved:built-in/desk");
    assert_eq!(hooks.unregister_handler("two/notes").removed(), 2);
    assert_eq!(left(), "saved:one/notes saved:built-in/desk");
    assert!(!hooks.is_installed("two"), "a plugin without handlers is gone");
    assert!(hooks.unregister_handler("desk").await.is_drained());
    assert_eq!(hooks.unregister_handler_at::<Saved>("one/*").removed(), 1);
    assert_eq!(left(), "");
}
