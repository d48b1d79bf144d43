//! The fires of a recording, and what it knows of their handlers.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::error::ReplayError;
use super::played::Made;
use super::timeline::{Timeline, full, full_name, in_stage};
use crate::record::{CallLine, Decision, FireLine, LineKind, Reader, RecordedFire};
use crate::sync::OnceLock;

/// All fires of a recording, those of a run in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) fires: Vec<RecordedFire>,
    /// The fires that are nested in one, by its place here, in the order in which they began.
    children: HashMap<usize, Vec<usize>>,
    /// The stages of a run of a flow, by its place here, in the order in which they began.
    stages: HashMap<usize, Vec<usize>>,
    /// The run of a flow that each stage is part of, by their places here.
    runs_of_stages: HashMap<usize, usize>,
    /// The run that each fire is part of, in the order of the fires.
    runs: Vec<Run>,
    /// The handlers that a run had at a point at any time.
    known: HashMap<(Run, String), HashSet<String>>,
    /// Where each handler is among the calls of a fire, of those that are replayed.
    calls: Vec<OnceLock<HashMap<String, usize>>>,
    /// What of the recording could not be read.
    pub(super) unread: Vec<String>,
}

/// A run of the program: its name, and which it is in the recording, as programs that run after
/// each other may give theirs the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    name: String,
    number: usize,
}

impl History {
    pub(super) fn read(path: &Path) -> Result<Self, ReplayError> {
        let mut history = Self::default();
        let (mut order, mut starts): (HashMap<PathBuf, usize>, Vec<_>) = Default::default();
        let mut lines = Reader::open(path)?;
        while let Some(line) = lines.next() {
            // What cannot be read is noted below.
            let (Ok(line), Some(place)) = (line, lines.place()) else { continue };
            let next = order.len();
            let nth = *order.entry(place.file.clone()).or_insert(next);
            let points = match line.kind {
                LineKind::Header(header) => {
                    if header.file == 0 {
                        starts.push((nth, place.line));
                    }
                    header.points
                }
                LineKind::Handlers(point) => vec![point],
                _ => continue,
            };
            let run = Run { name: line.run, number: starts.len() };
            for point in points {
                let known = history.known.entry((run.clone(), point.point)).or_default();
                let handlers = point.handlers.iter();
                known.extend(handlers.map(|it| full_name(it.plugin.as_deref(), &it.handler)));
            }
        }
        let (mut fires, mut all) = (Vec::new(), Reader::open(path)?.fires());
        for fire in &mut all {
            match fire {
                Ok(fire) => {
                    let nth = order.get(&fire.place.file).copied().unwrap_or(usize::MAX);
                    let place = (nth, fire.place.line);
                    let number = starts.partition_point(|start| *start <= place);
                    fires.push((Run { name: fire.run.clone(), number }, fire));
                }
                Err(error) => history.unread.push(error.to_string()),
            }
        }
        history.unread.extend(all.torn().iter().map(ToString::to_string));
        history.take(fires);
        Ok(history)
    }

    fn take(&mut self, mut fires: Vec<(Run, RecordedFire)>) {
        let mut runs = HashMap::new();
        for (run, _) in &fires {
            let next = runs.len();
            runs.entry(run.clone()).or_insert(next);
        }
        // Recorded when they ended, and numbered when they began.
        fires.sort_by_key(|(run, fire)| (runs[run], fire.fire.fire));
        let places = fires.iter().enumerate();
        let places: HashMap<_, _> =
            places.map(|(at, (run, fire))| ((run, fire.fire.fire), at)).collect();
        for (at, (run, fire)) in fires.iter().enumerate() {
            let place = |number: Option<u64>| places.get(&(run, number?)).copied();
            if let Some(run) = place(fire.fire.flow_run) {
                self.stages.entry(run).or_default().push(at);
                self.runs_of_stages.insert(at, run);
            } else if let Some(parent) = place(fire.fire.parent) {
                self.children.entry(parent).or_default().push(at);
            }
            let point = (run.clone(), fire.fire.point.clone());
            self.known.entry(point).or_default().extend(fire.calls.iter().map(name));
        }
        self.calls.resize_with(fires.len(), OnceLock::new);
        (self.runs, self.fires) = fires.into_iter().unzip();
    }

    /// The fires that were nested in one.
    pub(super) fn children(&self, parent: usize) -> &[usize] {
        self.children.get(&parent).map_or(&[], |children| children)
    }

    /// The next fire at a point that was nested in one, behind so many that were; how many are
    /// behind that.
    pub(super) fn nested(&self, parent: usize, point: &str, done: usize) -> Option<(usize, usize)> {
        let mut children = self.children(parent).iter().enumerate().skip(done);
        let next = children.find(|(_, child)| self.fires[**child].fire.point == point);
        next.map(|(place, child)| (*child, place + 1))
    }

    /// The fires that handlers of one made, and of a run those of its stages, in the order in
    /// which they began; `None` where who made them is not recorded.
    pub(super) fn made(&self, at: usize) -> Option<Vec<Made>> {
        let mut within: Vec<_> = std::iter::once(&at).chain(self.stages(at)).copied().collect();
        within.dedup();
        let mut made = Vec::new();
        for around in within {
            let FireLine { point, flow_run, .. } = &self.fires[around].fire;
            let calls = self.fires[around].calls.iter().rev();
            let calls: HashMap<_, _> = calls.map(|call| (call.call, call)).collect();
            for child in self.children(around) {
                let child = &self.fires[*child].fire;
                let maker = name(calls.get(&Some(child.parent_call?))?);
                let maker = if flow_run.is_some() { in_stage(&maker, point) } else { maker };
                let (point, payload) = (child.point.clone(), full(&child.payload).cloned());
                made.push((child.fire, Made { maker, point, payload, is_known: true }));
            }
        }
        made.sort_by_key(|(number, _)| *number);
        Some(made.into_iter().map(|(_, made)| made).collect())
    }

    /// The run of a flow that a stage is part of.
    pub(super) fn run(&self, stage: usize) -> Option<usize> {
        self.runs_of_stages.get(&stage).copied()
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
        let known = self.known.get(&(self.runs[at].clone(), point.to_owned()));
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
        self.known.get(&(self.runs[at].clone(), self.fires[at].fire.point.clone()))
    }

    /// What was recorded of a handler in a fire.
    pub(super) fn call(&self, at: usize, handler: &str) -> Option<&CallLine> {
        let calls = &self.fires[at].calls;
        // Of two of one name, which only an edited recording has, the first one counts.
        let places = || calls.iter().enumerate().rev().map(|(at, call)| (name(call), at)).collect();
        let places = self.calls[at].get_or_init(places);
        places.get(handler).map(|place| &calls[*place])
    }

    /// Why it is not known whether a handler answered the same, which decided the same.
    pub(super) fn unknown_answer(&self, at: usize, replayed: &Timeline) -> Option<String> {
        let rows: HashMap<_, _> =
            replayed.rows.iter().rev().map(|row| (row.handler.as_str(), row)).collect();
        self.fires[at].calls.iter().find_map(|call| {
            let why = call.answer.as_ref()?.missing()?;
            let row = rows.get(&*name(call))?;
            let has_value = matches!(
                (&call.decision, &row.decision),
                (Some(Decision::Claimed), Some(Decision::Claimed))
                    | (Some(Decision::Replaced), Some(Decision::Replaced))
                    | (Some(Decision::Rejected { .. }), Some(Decision::Rejected { .. }))
                    | (Some(Decision::Fields { .. }), Some(Decision::Fields { .. }))
                    | (Some(Decision::Answered), Some(Decision::Answered))
                    | (Some(Decision::Recovered), Some(Decision::Recovered))
            );
            has_value.then(|| format!("what `{}` answered is {why}", row.handler))
        })
    }
}

/// `plugin/handler`, or the name alone.
pub(super) fn name(call: &CallLine) -> String {
    full_name(call.plugin.as_deref(), &call.handler)
}
