// Blocks with a catalogue, under strict lints and without a prelude.
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub, unused_results)]
#![deny(clippy::pedantic)]
//! A crate with documentation.

/// Points.
pub mod points {
    #![no_implicit_prelude]

    use ::hooks_runtime::hook_points;

    /// A place.
    #[derive(Debug, Clone, ::serde::Serialize, ::serde::Deserialize)]
    pub struct Place;

    hook_points! {
        #![hook(json = "camelCase", catalogue = pub fn catalogue, timeout = "5s")]
        #![cfg_attr(any(), hook(schema))]

        /// A drawer was opened.
        pub void Opened {
            /// Which one.
            r#type: u32,
            /// Never.
            #[cfg(any())]
            missing: Missing,
        }
        /// Never.
        #[cfg(any())]
        pub void Never(Missing);
        /// The old way.
        #[deprecated(note = "listen at `Opened`")]
        pub gating Moved(Place);
        /// Where to.
        pub modifying Moving { n: u32 } -> { to: u32 }
        /// Who takes it.
        pub claiming Taken(u32) -> Place;
        #[doc = concat!("One ", "move.")]
        pub flow Move(u32) -> u32;
    }
}

mod own {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub(super) fn points)]
        // Without JSON a payload may be anything.
        pub(super) void Told(std::time::Instant);
    }
}

mod empty {
    hooks_runtime::hook_points! {
        #![hook(catalogue = pub(super) fn points)]
    }
}

fn main() {
    let points = points::catalogue();
    let names: Vec<_> = points.points().iter().map(|point| point.name()).collect();
    assert_eq!(names, ["opened", "moved", "moving", "taken", "move"]);
    let opened = points.get("opened").unwrap();
    assert_eq!(opened.payload().fields().len(), 1);
    assert_eq!(opened.payload().fields()[0].name, "type");
    assert_eq!(points.get("moved").unwrap().deprecated(), Some("listen at `Opened`"));
    assert_eq!(points.get("move").unwrap().doc().trim(), "One move.");
    assert_eq!(own::points().points()[0].payload().name(), "std::time::Instant");
    assert!(empty::points().points().is_empty());
    let _ = (points::Opened, own::Told);
}
