//! What the lines so far have said of the state, for the header of the next file.

use std::collections::BTreeMap;

use crate::record::format::{Header, LineKind, PointHandlers, RecordedSetting, SettingChanged};

/// What the lines so far have said of the state.
pub(super) struct Known {
    points: BTreeMap<String, PointHandlers>,
    settings: Vec<RecordedSetting>,
}

impl Known {
    pub(super) fn new(header: Header) -> Self {
        let points = header.points.into_iter().map(|point| (point.point.clone(), point));
        Self { points: points.collect(), settings: header.settings }
    }

    pub(super) fn note(&mut self, kind: &LineKind) {
        match kind {
            LineKind::Handlers(point) if point.handlers.is_empty() => {
                self.points.remove(&point.point);
            }
            LineKind::Handlers(point) => {
                self.points.insert(point.point.clone(), point.clone());
            }
            LineKind::Setting(line) => {
                self.settings.retain(|known| known.id != line.setting.id);
                if !matches!(line.change, SettingChanged::Ended { .. }) {
                    self.settings.push(line.setting.clone());
                    // Of one layer the newest is the last, as where they are kept.
                    self.settings.sort_by_key(|setting| (setting.layer, setting.id));
                }
            }
            _ => {}
        }
    }

    /// The header of the file of that number.
    pub(super) fn header(&self, file: u32) -> Header {
        let header = Header::new(self.points.values().cloned().collect(), self.settings.clone());
        Header { file, ..header }
    }
}
