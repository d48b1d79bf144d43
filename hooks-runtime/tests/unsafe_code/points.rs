//! A point that pretends to be another: safe code can write one, and it must
//! not lead a handler to a payload of another type.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use hooks_runtime::model::Void;
use hooks_runtime::point::PointDescriptor;
use hooks_runtime::{HookPoint, HookRegistry, on};

use crate::driving::{finish, quietly};
use crate::shapes::{Payload, Told};

/// Has the descriptor of `Told`, and a payload of its own.
pub struct Pretender;

impl HookPoint for Pretender {
    type Payload = u8;
    type Result = ();
    type Model = Void;
    const NAME: &'static str = Told::NAME;

    fn descriptor() -> &'static PointDescriptor {
        Told::descriptor()
    }
}

#[test]
fn l02_a_fire_of_a_point_that_pretends_to_be_another_calls_no_handler() {
    quietly(|| {
        let hooks = HookRegistry::new();
        let called = |_: &Payload| -> () { panic!("it was called") };
        hooks.register(on::<Told>().handler(called)).unwrap();
        let fire = || finish(pin!(hooks.fire_void::<Pretender>(&1))).0;
        let panic = catch_unwind(AssertUnwindSafe(fire)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "the handlers of another point");
    });
}

#[test]
fn l02_a_handler_of_a_point_that_pretends_to_be_another_is_not_registered() {
    quietly(|| {
        let hooks = HookRegistry::new();
        hooks.register(on::<Told>().handler(|_: &Payload| ())).unwrap();
        let register = || hooks.register(on::<Pretender>().handler(|_: &u8| ()));
        assert!(catch_unwind(AssertUnwindSafe(register)).is_err());
        let payload = Payload::new();
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
    });
}
