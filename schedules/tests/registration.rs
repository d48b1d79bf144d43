//! Handlers that come and go one by one or in groups, while others fire.
#![cfg(schedules)]

use hooks_runtime::handler::On;
use hooks_runtime::{HookRegistry, RegisterError, Registration, hook_points, on};
use hooks_schedules::{Log, delay, explore};
use shuttle::future::block_on;
use shuttle::thread;

hook_points! {
    void Notified(Log);
    void NotifiedNext(Log);
}

fn notified(name: &'static str) -> Registration {
    note(on::<Notified>().name(name), name)
}

fn note(terms: On<Notified>, what: &'static str) -> Registration {
    terms.handler(move |log: &Log| log.note(what))
}

fn fire(hooks: &HookRegistry) -> Vec<&'static str> {
    let log = Log::default();
    block_on(hooks.fire_void::<Notified>(&log)).unwrap();
    log.seen()
}

#[test]
fn l24_no_registration_is_lost() {
    explore("three threads register, and each is heard from then on", || {
        let hooks = HookRegistry::new();
        let others = ["a", "b"].map(|name| {
            let hooks = hooks.clone();
            thread::spawn(move || {
                delay();
                hooks.register(notified(name)).unwrap();
                assert!(fire(&hooks).contains(&name), "`{name}` is registered");
            })
        });
        delay();
        hooks.register(notified("c")).unwrap();
        assert!(fire(&hooks).contains(&"c"), "`c` is registered");
        others.into_iter().for_each(|other| other.join().unwrap());
        let listed: Vec<_> = hooks.handlers_at::<Notified>().into_iter().map(|h| h.name).collect();
        assert_eq!(fire(&hooks), listed.iter().map(|name| &**name).collect::<Vec<_>>());
        assert_eq!(listed.len(), 3);
        assert!(hooks.has_handlers::<Notified>());
    });
}

#[test]
fn l24_the_first_fire_and_the_first_registration() {
    explore("a first fire beside a first registration, which every later fire sees", || {
        let hooks = HookRegistry::new();
        let firing = hooks.clone();
        let fires = thread::spawn(move || {
            delay();
            (fire(&firing), fire(&firing))
        });
        delay();
        let handle = hooks.register(notified("a")).unwrap();
        assert_eq!(fire(&hooks), ["a"]);
        let (first, second) = fires.join().unwrap();
        assert!(first.is_empty() || second == ["a"], "{first:?}, then {second:?}");
        assert_eq!(handle.unregister().removed(), 1);
        assert!(!hooks.has_handlers::<Notified>());
        assert!(hooks.audit().never_fired.is_empty());
    });
}

#[test]
fn l17_removing_twice_removes_once() {
    explore("two threads unregister one handler, and one of them has", || {
        let hooks = HookRegistry::new();
        let handle = hooks.register(notified("a")).unwrap();
        let (other, firing) = (handle.clone(), hooks.clone());
        let other = thread::spawn(move || {
            delay();
            let removed = other.unregister().removed();
            assert!(fire(&firing).is_empty(), "it is gone, whichever removed it");
            removed
        });
        delay();
        let here = handle.unregister().removed();
        assert!(fire(&hooks).is_empty(), "it is gone, whichever removed it");
        assert_eq!(here + other.join().unwrap(), 1);
        hooks.register(notified("a")).unwrap();
        let removed = handle.unregister().removed();
        assert_eq!(removed, 0, "a stale handle removes no other handler");
        assert_eq!(fire(&hooks), ["a"]);
    });
}

#[test]
fn l18_one_of_two_gets_a_name() {
    explore("two threads register one name, and one of them does", || {
        let hooks = HookRegistry::new();
        let registering = hooks.clone();
        let other = thread::spawn(move || {
            delay();
            registering.register(notified("a")).map(drop)
        });
        delay();
        let here = hooks.register(notified("a")).map(drop);
        let there = other.join().unwrap();
        let refused = [here, there].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(matches!(refused[..], [RegisterError::Duplicate { .. }]), "{refused:?}");
        assert_eq!(fire(&hooks), ["a"]);
    });
}

#[test]
fn l18_a_replacement_takes_over_at_one_instant() {
    explore("a fire calls the handler that is replaced or its replacement", || {
        let hooks = HookRegistry::new();
        hooks
            .register([notified("a"), note(on::<Notified>().name("b"), "old"), notified("c")])
            .unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || (fire(&firing), fire(&firing)));
        delay();
        hooks.register(note(on::<Notified>().name("b").replace(), "new")).unwrap();
        assert_eq!(fire(&hooks), ["a", "new", "c"]);
        let (first, second) = fires.join().unwrap();
        for seen in [&first, &second] {
            assert!(*seen == ["a", "old", "c"] || *seen == ["a", "new", "c"], "{seen:?}");
        }
        assert!(first[1] == "old" || second[1] == "new", "{first:?}, then {second:?}");
    });
}

#[test]
fn l18_a_group_comes_and_goes_whole() {
    explore(
        "a fire sees all of a group or nothing when it comes, its beginning when it goes",
        || {
            let hooks = HookRegistry::new();
            let log = Log::default();
            let next = on::<NotifiedNext>().name("d").handler(|log: &Log| log.note("d"));
            let (firing, heard) = (hooks.clone(), log.clone());
            let comes = thread::spawn(move || {
                block_on(firing.fire_void::<Notified>(&heard)).unwrap();
                block_on(firing.fire_void::<NotifiedNext>(&heard)).unwrap();
            });
            delay();
            let group =
                hooks.register([next, notified("a"), notified("b"), notified("c")]).unwrap();
            comes.join().unwrap();
            let seen: [&[&str]; 3] = [&[], &["d"], &["a", "b", "c", "d"]];
            assert!(seen.contains(&&log.seen()[..]), "{log:?}");
            let firing = hooks.clone();
            let goes = thread::spawn(move || fire(&firing));
            delay();
            assert_eq!(group.unregister().removed(), 4);
            assert!(fire(&hooks).is_empty());
            let seen = goes.join().unwrap();
            assert!(["a", "b", "c"].starts_with(&seen), "{seen:?}");
        },
    );
}

#[test]
fn l24_the_registry_is_dropped_under_a_fire() {
    explore("the registry is dropped while others fire and unregister", || {
        let hooks = HookRegistry::new();
        let handle = hooks.register(notified("a")).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || {
            delay();
            fire(&firing)
        });
        let removes = thread::spawn(move || {
            delay();
            handle.unregister().removed()
        });
        delay();
        drop(hooks);
        let (seen, removed) = (fires.join().unwrap(), removes.join().unwrap());
        assert!(removed == 1 || seen == ["a"], "{seen:?}");
    });
}
