// Asks for JSON and a catalogue where a named type has no JSON.
use hooks_runtime::hook_points;

pub struct Place;

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    pub gating Moving(Place);
}

fn main() {}
