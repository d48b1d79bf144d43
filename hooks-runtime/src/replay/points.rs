//! The points of a replay.

use crate::catalogue::{Catalogue, PointInfo};
use crate::plugin::scope::ScopedHooks;
use crate::point::PointDescriptor;

/// The points that a replay knows, in catalogues that may have two of one name.
#[derive(Clone, Debug)]
pub(super) struct Points {
    catalogues: Vec<Catalogue>,
    /// Those that the registry uses.
    used: Vec<&'static PointDescriptor>,
}

impl Points {
    pub(super) fn new(catalogues: Vec<Catalogue>, hooks: &ScopedHooks) -> Self {
        Self { catalogues, used: hooks.inner.store().used_points().collect() }
    }

    /// The point itself, where it is in a catalogue.
    pub(super) fn info(&self, point: &PointDescriptor) -> Option<&PointInfo> {
        let named = self.catalogues.iter().filter_map(|it| it.named(point.name()));
        named.into_iter().find(|(_, found)| std::ptr::eq(*found, point)).map(|(info, _)| info)
    }

    /// The catalogue that has the point of that name: of two, the one that is used.
    pub(super) fn of(&self, point: &str) -> Result<&Catalogue, String> {
        let used = self.used.iter().find(|used| used.name() == point);
        let has = |catalogue: &&Catalogue| {
            let found = catalogue.named(point);
            found.is_some_and(|(_, found)| used.is_none_or(|used| std::ptr::eq(*used, found)))
        };
        let found = self.catalogues.iter().find(has);
        found.ok_or_else(|| {
            format!(
                "`{point}` is in no catalogue that the replay was given; `Recorded::catalogue` gives one"
            )
        })
    }
}
