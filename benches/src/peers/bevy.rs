//! `bevy_ecs` observers of one event.

use bevy_ecs::event::Event;
use bevy_ecs::observer::On;
use bevy_ecs::world::World;

use crate::points::work;

#[derive(Event)]
struct Told {
    n: u64,
}

/// A world with so many observers.
pub(crate) struct Observers(World);

impl Observers {
    pub(crate) fn new(count: usize) -> Self {
        let mut world = World::new();
        for _ in 0..count {
            world.add_observer(|told: On<Told>| work(told.n));
        }
        world.flush();
        Self(world)
    }

    pub(crate) fn tell(&mut self, n: u64) {
        self.0.trigger(Told { n });
    }
}
