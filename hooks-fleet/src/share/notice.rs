//! What is noticed of processes that are there.

use std::sync::Arc;

use super::{Required, ShareState};
use crate::error::quoted;
use crate::fleet::Caller;
use crate::presence::excerpt;
use crate::wire::{AnnouncedHandler, Announcement};

/// So many handlers are named where one is missing.
const NAMED: usize = 8;

impl ShareState {
    /// Notices those that are there and are not let in, or not with all that is expected of
    /// them.
    pub(crate) fn note_strangers(&self, caller: &Caller, present: &[Arc<Announcement>]) {
        for announcement in present {
            let note = |why: &str| {
                caller.strangers.note(&announcement.service, &announcement.instance, why);
            };
            if self.admits(&announcement.service) {
                self.unfit(announcement).iter().for_each(|why| note(why));
                self.missing(announcement, present).iter().for_each(|why| note(why));
            } else if let Some(at) = self.shared_with(announcement).next() {
                let point = &at.point;
                note(&format!("at `{point}` its service is not named by `from` or `require`"));
            }
        }
    }

    /// The handlers of a process at points that are shared here.
    fn shared_with<'a>(
        &'a self,
        announcement: &'a Announcement,
    ) -> impl Iterator<Item = &'a AnnouncedHandler> {
        announcement.handlers.iter().filter(|it| self.own.contains_key(&*it.point))
    }

    /// Why handlers of a process are not called, which are there. A call says so when it is made;
    /// what is stored waits, and says nothing.
    fn unfit(&self, announcement: &Announcement) -> Vec<String> {
        let process = (announcement.service.clone(), announcement.instance.clone());
        let fits = self.fits().get(&process).map(|(_, points)| Arc::clone(points));
        let Some(fits) = fits else { return Vec::new() };
        let mut points: Vec<_> = self.shared_with(announcement).map(|it| &*it.point).collect();
        points.dedup();
        let why = |point: &&str| {
            let why = fits.get(*point)?.as_ref().err()?;
            Some(if self.own.get(*point)?.1.durable {
                format!(
                    "what is stored for it at `{point}` does not fit it: {why}; it waits for a \
                     process that it fits"
                )
            } else {
                format!("its handlers at `{point}` do not fit: {why}")
            })
        };
        points.iter().filter_map(why).collect()
    }

    /// The handlers that are required of its service, and that no process of it has: a name that
    /// is misspelt, or one of another version.
    fn missing(&self, announcement: &Announcement, present: &[Arc<Announcement>]) -> Vec<String> {
        let of_service = |it: &&Arc<Announcement>| it.service == announcement.service;
        let is_missing = |Required { point, handler, .. }: &&Required| {
            let mut served = present.iter().filter(of_service).flat_map(|it| &it.handlers);
            !served.any(|it| it.point == *point && it.handler == *handler)
        };
        let why = |Required { point, handler, .. }: &Required| {
            let here = announcement.handlers.iter().filter(|it| it.point == *point);
            let here: Vec<_> = here.take(NAMED).map(|it| excerpt(&it.handler)).collect();
            let serves = if here.is_empty() { "nothing".to_owned() } else { quoted(here) };
            format!(
                "it does not serve `{handler}` at `{point}`, which is required; it serves {serves}"
            )
        };
        let required = self.required.iter().filter(|it| it.service == announcement.service);
        required.filter(is_missing).map(why).collect()
    }
}
