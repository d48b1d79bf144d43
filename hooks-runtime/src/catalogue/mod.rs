//! The declared points as data, for people and for programs.
//!
//! A block of points that asks for it gets a function that returns its
//! [`Catalogue`]: names, models, doc comments, types, policies, time limits and
//! where each point is declared. Nothing is written twice.
//!
//! ```
//! use hooks_runtime::hook_points;
//!
//! hook_points! {
//!     #![hook(catalogue = pub fn points)]
//!
//!     /// A drawer was opened.
//!     pub void Opened {
//!         /// Which one.
//!         drawer: u32,
//!     }
//!
//!     /// Before a label is printed.
//!     #[hook(timeout = "2s", on_failure = "closed")]
//!     pub modifying Labelling { text: String } -> { title: String }
//! }
//!
//! let catalogue = points();
//! let labelling = catalogue.get("labelling").unwrap();
//! assert_eq!(labelling.doc(), "Before a label is printed.");
//! assert_eq!(labelling.result().unwrap().name(), "LabellingResult");
//! assert!(catalogue.to_markdown().contains("A drawer was opened."));
//! ```
//!
//! The blocks of a program are put together with [`Catalogue::merge`], which
//! refuses two points of one name (L03). A host's tests can then say in one
//! line that no declared point was forgotten (L23):
//! [`catalogue.assert_all_fired(&hooks)`](Catalogue::assert_all_fired). What else
//! does not add up is in [`audit_with`](crate::HookRegistry::audit_with).
//!
//! With the feature `serde` a catalogue serialises. With the feature `schema`,
//! and `schema` beside `json` at the head of the block, it has a JSON Schema for
//! every payload and result. With the feature `json` its points can be fired and
//! handled by name: see the module `json`.

mod markdown;
pub(crate) mod optional;
mod point;
#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "serde")]
mod wire;

use std::collections::HashMap;
use std::fmt;

use thiserror::Error;

pub use point::{FieldInfo, PointInfo, TypeInfo};

use crate::error::NameClash;
use crate::point::PointDescriptor;
use crate::readable::readable_debug;
use crate::registry::HookRegistry;

/// Declared points as data. See the [module](self).
///
/// ```
/// # use hooks_runtime::hook_points;
/// hook_points! {
///     #![hook(catalogue = pub fn points)]
///     /// A build began.
///     pub void BuildStarted { target: String }
/// }
///
/// let catalogue = points();
/// assert_eq!(catalogue.points().len(), 1);
/// assert_eq!(catalogue.get("build_started").unwrap().doc(), "A build began.");
/// assert!(catalogue.get("BuildStarted").is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    points: Vec<PointInfo>,
    /// Every wire name, those of stages too, with the place of its point.
    names: HashMap<&'static str, (usize, &'static PointDescriptor)>,
}

/// Points of different declarations share wire names.
///
/// ```
/// # use hooks_runtime::catalogue::Catalogue;
/// # mod shop { hooks_runtime::hook_points! {
/// #     #![hook(catalogue = pub fn points)]
/// #     /// An order was placed.
/// #     pub void Ordered { item: String }
/// # } }
/// # mod kitchen { hooks_runtime::hook_points! {
/// #     #![hook(catalogue = pub fn points)]
/// #     /// A dish was ordered.
/// #     pub void Ordered { dish: String }
/// # } }
/// # fn main() {
/// // Both declare a point `ordered`.
/// let twice = Catalogue::merge([shop::points(), kitchen::points()]).unwrap_err();
/// assert_eq!(twice.clashes()[0].name, "ordered");
/// assert!(twice.to_string().ends_with(r#"rename one with `#[hook(name = "…")]`"#));
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
pub struct DuplicateNames(Vec<NameClash>);

impl Catalogue {
    pub(crate) fn new(points: Vec<PointInfo>) -> Self {
        let places = points.iter().enumerate();
        let names = places.flat_map(|(at, point)| {
            point.descriptors().map(move |named| (named.name(), (at, named)))
        });
        Self { names: names.collect(), points }
    }

    /// One catalogue of all these, in their order.
    ///
    /// Two points of one wire name are an error, which names all of them. The
    /// same point from two catalogues is one point.
    ///
    /// ```
    /// # use hooks_runtime::catalogue::Catalogue;
    /// mod shop {
    ///     hooks_runtime::hook_points! {
    ///         #![hook(catalogue = pub fn points)]
    ///         /// An order was placed.
    ///         pub void Ordered { item: String }
    ///     }
    /// }
    /// mod stock {
    ///     hooks_runtime::hook_points! {
    ///         #![hook(catalogue = pub fn points)]
    ///         /// A shelf is empty.
    ///         pub void Emptied { shelf: u32 }
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let all = Catalogue::merge([shop::points(), stock::points()])?;
    /// let names: Vec<_> = all.points().iter().map(|point| point.name()).collect();
    /// assert_eq!(names, ["ordered", "emptied"]);
    /// # Ok(()) }
    /// ```
    pub fn merge(catalogues: impl IntoIterator<Item = Self>) -> Result<Self, DuplicateNames> {
        let mut taken: HashMap<&'static str, &'static PointDescriptor> = HashMap::new();
        let mut clashes = Vec::new();
        let mut points = Vec::new();
        for point in catalogues.into_iter().flat_map(|catalogue| catalogue.points) {
            if taken.get(point.name()).is_some_and(|first| first.index() == point.index()) {
                continue;
            }
            for descriptor in point.descriptors() {
                match taken.get(descriptor.name()) {
                    None => drop(taken.insert(descriptor.name(), descriptor)),
                    Some(first) => clashes.push(NameClash {
                        name: descriptor.name(),
                        first: first.location(),
                        second: descriptor.location(),
                    }),
                }
            }
            points.push(point);
        }
        if clashes.is_empty() { Ok(Self::new(points)) } else { Err(DuplicateNames(clashes)) }
    }

    /// The points, in the order of their declaration.
    pub fn points(&self) -> &[PointInfo] {
        &self.points
    }

    /// The point of that wire name.
    pub fn get(&self, name: &str) -> Option<&PointInfo> {
        self.names.get(name).map(|&(at, _)| &self.points[at]).filter(|point| point.name() == name)
    }

    /// Every wire name, those of stages too.
    #[cfg(feature = "record")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.keys().copied()
    }

    /// What has that wire name, a point or a stage, with its point or flow.
    #[cfg(feature = "json")]
    pub(crate) fn named(&self, name: &str) -> Option<(&PointInfo, &'static PointDescriptor)> {
        self.names.get(name).map(|&(at, named)| (&self.points[at], named))
    }

    /// The declared points that this registry never fired.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! {
    /// #     #![hook(catalogue = pub fn points)]
    /// #     /// The door was opened.
    /// #     pub void Opened { door: u32 }
    /// #     /// The door was closed.
    /// #     pub void Closed { door: u32 }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.fire_void::<Opened>(&OpenedPayload { door: 1 }).await?;
    /// let catalogue = points();
    /// let forgotten: Vec<_> = catalogue.never_fired(&hooks).iter().map(|it| it.name()).collect();
    /// assert_eq!(forgotten, ["closed"]);
    /// # Ok(()) }
    /// ```
    pub fn never_fired<'c>(&'c self, hooks: &HookRegistry) -> Vec<&'c PointInfo> {
        let fired = |point: &PointInfo| hooks.inner.table.get(point.index()).was_fired();
        self.points.iter().filter(|point| !fired(point)).collect()
    }

    /// For a host's tests: every declared point was fired.
    ///
    /// # Panics
    /// If one was not. The message lists them all, and where each is declared.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! {
    /// #     #![hook(catalogue = pub fn points)]
    /// #     /// A request came in.
    /// #     pub void Requested { path: String }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// // At the end of a test that exercises the whole host:
    /// hooks.fire_void::<Requested>(&RequestedPayload { path: "/".into() }).await?;
    /// points().assert_all_fired(&hooks);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn assert_all_fired(&self, hooks: &HookRegistry) {
        let forgotten = self.never_fired(hooks);
        if forgotten.is_empty() {
            return;
        }
        let width = forgotten.iter().map(|point| point.name().len()).max().unwrap_or(0);
        let lines = forgotten
            .iter()
            .map(|point| format!("\n  {:width$}  declared at {}", point.name(), point.location()));
        panic!(
            "{} of {} declared hook points are never fired:{}",
            forgotten.len(),
            self.points.len(),
            lines.collect::<String>()
        );
    }
}

impl DuplicateNames {
    /// Every clash.
    pub fn clashes(&self) -> &[NameClash] {
        &self.0
    }
}

impl fmt::Display for DuplicateNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

readable_debug! { struct DuplicateNames(clashes) }
