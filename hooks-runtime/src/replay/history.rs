//! The fires of a recording, and what it knows of their handlers.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::error::ReplayError;
use super::timeline::{Timeline, full_name};
use crate::record::{CallLine, LineKind, Reader, RecordedFire};

/// All fires of a recording, those of a run in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) fires: Vec<RecordedFire>,
    /// The fires that are nested in one, by its place here, in the order in which they began.
    children: HashMap<usize, Vec<usize>>,
    /// The stages of a run of a flow, by its place here, in the order in which they began.
    stages: HashMap<usize, Vec<usize>>,
    /// The handlers that a run had at a point at any time.
    known: HashMap<(String, String), HashSet<String>>,
    /// What of the recording could not be read.
    pub(super) unread: Vec<String>,
}

impl History {
    pub(super) fn read(path: &Path) -> Result<Self, ReplayError> {
        let (mut fires, mut unread) = (Vec::new(), Vec::new());
        let mut all = Reader::open(path)?.fires();
        for fire in &mut all {
            match fire {
                Ok(fire) => fires.push(fire),
                Err(error) => unread.push(error.to_string()),
            }
        }
        unread.extend(all.torn().iter().map(ToString::to_string));
        let mut history = Self::new(fires, unread);
        // What cannot be read was noted above.
        for line in Reader::open(path)?.flatten() {
            let points = match line.kind {
                LineKind::Header(header) => header.points,
                LineKind::Handlers(point) => vec![point],
                _ => continue,
            };
            for point in points {
                let known = history.known.entry((line.run.clone(), point.point)).or_default();
                let handlers = point.handlers.iter();
                known.extend(handlers.map(|it| full_name(it.plugin.as_deref(), &it.handler)));
            }
        }
        Ok(history)
    }

    fn new(mut fires: Vec<RecordedFire>, unread: Vec<String>) -> Self {
        let mut runs = HashMap::new();
        for fire in &fires {
            let next = runs.len();
            runs.entry(fire.run.clone()).or_insert(next);
        }
        // Recorded when they ended, and numbered when they began.
        fires.sort_by_key(|fire| (runs[&fire.run], fire.fire.fire));
        let mut history = Self { unread, ..Self::default() };
        let places = fires.iter().enumerate();
        let places: HashMap<_, _> =
            places.map(|(at, fire)| ((&*fire.run, fire.fire.fire), at)).collect();
        for (at, fire) in fires.iter().enumerate() {
            let place = |number: Option<u64>| places.get(&(&*fire.run, number?)).copied();
            if let Some(run) = place(fire.fire.flow_run) {
                history.stages.entry(run).or_default().push(at);
            } else if let Some(parent) = place(fire.fire.parent) {
                history.children.entry(parent).or_default().push(at);
            }
            let point = (fire.run.clone(), fire.fire.point.clone());
            history.known.entry(point).or_default().extend(fire.calls.iter().map(name));
        }
        Self { fires, ..history }
    }

    /// The fires at a point that were nested in one.
    pub(super) fn nested<'h>(
        &'h self,
        parent: usize,
        point: &'h str,
    ) -> impl Iterator<Item = usize> + 'h {
        let children = self.children.get(&parent).into_iter().flatten().copied();
        children.filter(move |child| self.fires[*child].fire.point == point)
    }

    /// The stages of a run of a flow.
    pub(super) fn stages(&self, run: usize) -> &[usize] {
        self.stages.get(&run).map_or(&[], |stages| stages)
    }

    /// The stage of that name of a run.
    pub(super) fn stage(&self, run: usize, point: &str) -> Option<usize> {
        self.stages(run).iter().copied().find(|at| self.fires[*at].fire.point == point)
    }

    /// What was recorded of a fire; of a run of a flow with the rows of its stages.
    pub(super) fn timeline(&self, at: usize) -> Timeline {
        let mut timeline = Timeline::recorded(&self.fires[at]);
        for stage in self.stages(at) {
            let stage = &self.fires[*stage];
            let rows = Timeline::recorded(stage).rows;
            timeline.rows.extend(rows.into_iter().map(|row| row.in_stage(&stage.fire.point)));
        }
        timeline
    }

    /// The handlers that its run has at the point at another time, and this fire has not: they
    /// were not registered then.
    pub(super) fn absent(&self, at: usize) -> impl Iterator<Item = &str> {
        let here: HashSet<_> = self.fires[at].calls.iter().map(name).collect();
        let known = self.known_at(at).into_iter().flatten();
        known.filter(move |handler| !here.contains(*handler)).map(String::as_str)
    }

    /// The handlers that its run has at another point at any time.
    pub(super) fn known_in_run(&self, at: usize, point: &str) -> impl Iterator<Item = &str> {
        let known = self.known.get(&(self.fires[at].run.clone(), point.to_owned()));
        known.into_iter().flatten().map(String::as_str)
    }

    /// Whether its run has the handler at the point at any time.
    pub(super) fn knows(&self, at: usize, handler: &str) -> bool {
        self.known_at(at).is_some_and(|known| known.contains(handler))
    }

    /// Whether any run has the handler at that point.
    pub(super) fn has(&self, point: &str, handler: &str) -> bool {
        self.known.iter().any(|((_, of), known)| of == point && known.contains(handler))
    }

    fn known_at(&self, at: usize) -> Option<&HashSet<String>> {
        let RecordedFire { run, fire, .. } = &self.fires[at];
        self.known.get(&(run.clone(), fire.point.clone()))
    }

    /// What was recorded of a handler in a fire.
    pub(super) fn call(&self, at: usize, handler: &str) -> Option<&CallLine> {
        self.fires[at].calls.iter().find(|call| name(call) == handler)
    }
}

/// `plugin/handler`, or the name alone.
pub(super) fn name(call: &CallLine) -> String {
    full_name(call.plugin.as_deref(), &call.handler)
}
