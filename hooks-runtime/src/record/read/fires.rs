//! The fires of a recording, each with the lines that belong to it.

use super::Reader;
use super::error::{Place, ReadError, Torn};
use crate::record::format::{CallLine, FireLine, Line, LineKind, StepLine};

/// A fire of a recording, with its calls and, of a run of a flow, its steps.
///
/// ```
/// use hooks_runtime::record::Reader;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("hooks-fires-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("day.jsonl");
/// # std::fs::write(&path, concat!(
/// #     r#"{"v":1,"run":"r1","seq":1,"generation":0,"at_ns":5,"kind":"fire","fire":9,"parent":null,"flow_run":null,"depth":0,"point":"sending","model":"gating","scope":{"kind":"all"},"targets":[],"payload":{"kind":"missing","why":{"kind":"policy"}},"outcome":"rejected","error":null,"took_ns":70,"calls":1,"steps":0}"#,
/// #     "\n", r#"{"v":1,"run":"r1","seq":2,"generation":0,"at_ns":6,"kind":"call","fire":9,"call":10,"place":0,"point":"sending","model":"gating","handler":"spam","plugin":"safety","mode":"enforce","policy":"closed","time_limit_ns":null,"settings":[],"status":"ran","decision":{"kind":"rejected","reason":"an advert"},"effect":{"kind":"rejected","reason":"an advert"},"failure":null,"skipped":null,"changed":null,"answer":{"kind":"missing","why":{"kind":"policy"}},"took_ns":40,"overrun_ns":null}"#, "\n",
/// # ))?;
/// for recorded in Reader::open(&path)?.fires() {
///     let recorded = recorded?;
///     assert_eq!((&*recorded.fire.point, &*recorded.fire.outcome), ("sending", "rejected"));
///     assert_eq!(recorded.calls[0].address(), "sending:safety/spam");
///     assert!(recorded.calls[0].effect == recorded.calls[0].decision); // not in shadow
/// }
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedFire {
    /// Where its first line stands.
    pub place: Place,
    /// The run of the program.
    pub run: String,
    /// The generation of settings that it began with.
    pub generation: u64,
    /// When it began: nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The fire itself.
    pub fire: FireLine,
    /// Its handlers, called or not, in the order in which it walked them.
    pub calls: Vec<CallLine>,
    /// Of a run of a flow, its validation and its operation.
    pub steps: Vec<StepLine>,
}

/// The fires of a recording, in the order in which they ended.
///
/// Lines of other kinds are passed over. A fire whose last lines are torn off is left out, as
/// those lines are: where none of them is in [`torn`](Self::torn), as the file was cut between
/// two, that is an error.
///
/// The example of [`RecordedFire`] reads some.
#[derive(Debug)]
pub struct Fires {
    reader: Reader,
    /// A line that was read where one of the fire before was expected.
    ahead: Option<(Place, Line)>,
}

impl Fires {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, ahead: None }
    }

    /// The last lines that have no end, of the files that were read so far.
    ///
    /// The example of [`Reader`] has one.
    pub fn torn(&self) -> &[Torn] {
        self.reader.torn()
    }

    fn next_line(&mut self) -> Option<Result<(Place, Line), ReadError>> {
        if let Some(ahead) = self.ahead.take() {
            return Some(Ok(ahead));
        }
        let line = match self.reader.next()? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let place = self.reader.place().cloned()?;
        Some(Ok((place, line)))
    }

    /// Reads the lines that belong to a fire. `false` where they are not all there, because
    /// the rest of the file is torn off, which is known.
    fn complete(&mut self, recorded: &mut RecordedFire) -> Result<bool, ReadError> {
        let FireLine { fire, calls, steps, .. } = recorded.fire;
        let expected = u64::from(calls) + u64::from(steps);
        for found in 0..expected {
            match self.next_line().transpose()? {
                Some((_, Line { kind: LineKind::Call(call), .. })) if call.fire == fire => {
                    recorded.calls.push(call);
                }
                Some((_, Line { kind: LineKind::Step(step), .. })) if step.fire == fire => {
                    recorded.steps.push(step);
                }
                other => {
                    self.ahead = other;
                    let place = recorded.place.clone();
                    if self.torn().iter().any(|torn| torn.place.file == place.file) {
                        return Ok(false);
                    }
                    return Err(ReadError::Incomplete { place, expected, found });
                }
            }
        }
        Ok(true)
    }
}

impl Iterator for Fires {
    type Item = Result<RecordedFire, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (place, line) = match self.next_line()? {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            let LineKind::Fire(fire) = line.kind else { continue };
            let mut recorded = RecordedFire {
                place,
                run: line.run,
                generation: line.generation,
                at_ns: line.at_ns,
                fire,
                calls: Vec::new(),
                steps: Vec::new(),
            };
            match self.complete(&mut recorded) {
                Ok(true) => return Some(Ok(recorded)),
                Ok(false) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
