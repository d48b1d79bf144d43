//! What is said of settings: in the log, to observers, in every report.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::observe::{ObservedHandler, Observer, log, notify};
use crate::operator::breaker::Transition;
use crate::operator::setting::{Setting, SettingEnd};
use crate::operator::target::address;
use crate::point::PointDescriptor;
#[cfg(feature = "record")]
use crate::record::SettingChanged;
use crate::registry::Inner;
use crate::registry::entry::Entry;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};

/// A setting begins to hold.
pub(super) fn began(setting: &Setting, inner: &Inner) {
    log::setting(setting, "begins");
    notify(&inner.config.observers, |observer| observer.setting_began(setting));
    #[cfg(feature = "record")]
    inner.record_setting(setting, SettingChanged::Began);
}

/// A setting has ended.
pub(super) fn ended(setting: &Setting, end: SettingEnd, inner: &Inner) {
    let event = match end {
        SettingEnd::Passed => "has ended",
        SettingEnd::Cleared => "was cleared",
        SettingEnd::LeftFile => "left the file",
    };
    log::setting(setting, event);
    notify(&inner.config.observers, |observer| observer.setting_ended(setting, end));
    #[cfg(feature = "record")]
    inner.record_setting(setting, SettingChanged::Ended { end });
}

/// A setting does not apply to a handler that came later.
pub(crate) fn withheld(setting: &Setting, entry: &Entry, inner: &Inner) {
    log::setting_withheld(setting, &address(entry));
    let handler = ObservedHandler::new(entry);
    notify(&inner.config.observers, |observer| observer.setting_withheld(setting, &handler));
    #[cfg(feature = "record")]
    inner.record_setting(setting, SettingChanged::Withheld { handler: address(entry) });
}

/// The breaker of a handler has changed, which may only count.
pub(crate) fn breaker_changed(
    entry: &Entry,
    transition: Transition,
    is_shadow: bool,
    inner: &Inner,
) {
    log::breaker(entry, transition, is_shadow);
    let handler = ObservedHandler::new(entry);
    notify(&inner.config.observers, |observer| {
        if is_shadow {
            observer.shadow_breaker_changed(&handler, transition);
        } else {
            observer.breaker_changed(&handler, transition);
        }
    });
    #[cfg(feature = "record")]
    inner.record_breaker(entry, transition, is_shadow);
}

/// No handler of the point that has a breaker is called any more.
pub(crate) fn all_breakers_open(point: &PointDescriptor, observers: &[Arc<dyn Observer>]) {
    log::all_breakers_open(point);
    notify(observers, |observer| observer.all_breakers_open(point.name()));
}

/// The break-glass settings that hold, for every report.
#[derive(Debug, Default)]
pub(crate) struct BreakGlass {
    /// Whether there are any: most reports ask no more.
    any: AtomicBool,
    settings: Mutex<Arc<[Setting]>>,
}

impl BreakGlass {
    pub(crate) fn set(&self, settings: &[Setting]) {
        let settings = settings.iter().filter(|setting| setting.is_break_glass());
        let settings: Arc<[Setting]> = settings.cloned().collect();
        let any = !settings.is_empty();
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
        self.any.store(any, Ordering::Release);
    }

    /// Those that hold now, and whether one has ended that is still here.
    pub(crate) fn holding(&self, now: impl FnOnce() -> Instant) -> (Vec<Setting>, bool) {
        if !self.any.load(Ordering::Acquire) {
            return (Vec::new(), false);
        }
        let now = now();
        let settings = Arc::clone(&self.settings.lock().unwrap_or_else(PoisonError::into_inner));
        let holding = settings.iter().filter(|setting| setting.holds_at(now));
        let holding: Vec<_> = holding.cloned().collect();
        let is_any_over = holding.len() < settings.len();
        (holding, is_any_over)
    }
}
