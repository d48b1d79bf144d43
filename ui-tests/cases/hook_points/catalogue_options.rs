// Asks for a catalogue and for schemas in ways that do not exist.
use hooks_runtime::hook_points;

mod quoted {
    super::hook_points! {
        #![hook(catalogue = "points")]
        pub void SessionStart { session_id: String }
    }
}

mod without_json {
    super::hook_points! {
        #![hook(schema)]
        pub void SessionStart { session_id: String }
    }
}

mod conditional {
    super::hook_points! {
        #![cfg_attr(feature = "json", hook(json = "camelCase"))]
        pub void SessionStart { session_id: String }
    }
}

fn main() {}
