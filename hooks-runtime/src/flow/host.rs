//! The host's code in a run: its validation and its operation, contained, and
//! timed where the run is reported or observed.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::engine::containment::{contained, shown};
use crate::flow::operation::{Attempt, Convert};
use crate::flow::validation::Uncalled;
use crate::flow::{FlowError, FlowPoint, FlowStep, StepReport, StepStatus, Validation};
use crate::observe::recorder::Recorder;
use crate::observe::{ObservedStep, log};

/// The result of a step, and its part of the report where the run is recorded.
pub(super) type Stepped<T> = (Result<T, FlowError>, Option<StepReport>);

/// Calls the validation; a panic in it refuses the input.
pub(super) async fn validate<F: FlowPoint, V: Validation<F>>(
    validation: V,
    input: &F::Payload,
    recorder: Option<&Recorder<'_>>,
) -> Stepped<()> {
    let future = pin!(Some(validation.judge(input)));
    let mut running = Running::start(FlowStep::Validation, future, recorder);
    let judged = poll_fn(|task| running.poll(task)).await;
    let step = &mut running.step;
    let (error, status) = match judged {
        Ok(Ok(())) => return (Ok(()), step.end(|| StepStatus::Ran)),
        Ok(Err(error)) => {
            let status = step.end(|| StepStatus::error(shown(&error)));
            (error, status)
        }
        Err(message) => {
            let status = step.end(|| StepStatus::panic(&message));
            (format!("the validation panicked: {message}").into(), status)
        }
    };
    (Err(FlowError::Invalid { flow: F::NAME, error }), status)
}

/// Calls the operation; a panic in it is the flow's error.
pub(super) async fn operate<F, O>(
    mut operation: Uncalled<O>,
    convert: Convert<O::Error>,
    input: F::Payload,
    recorder: Option<&Recorder<'_>>,
) -> Stepped<F::Result>
where
    F: FlowPoint,
    O: Attempt<F::Payload, F::Result>,
{
    // The conversion of its error is the host's code as well.
    let call =
        operation.take().map(|operation| async move { operation(input).await.map_err(convert) });
    let future = pin!(call);
    let mut running = Running::start(FlowStep::Operation, future, recorder);
    let outcome = poll_fn(|task| running.poll(task)).await;
    let step = &mut running.step;
    match outcome {
        Ok(Ok(output)) => {
            #[cfg(feature = "record")]
            if let Some(recorder) = recorder {
                recorder.operated(&output);
            }
            (Ok(output), step.end(|| StepStatus::Ran))
        }
        Ok(Err(error)) => {
            let report = step.end(|| StepStatus::error(shown(&error)));
            (Err(FlowError::Operation(error)), report)
        }
        Err(message) => {
            let report = step.end(|| StepStatus::panic(&message));
            (Err(FlowError::Panicked { flow: F::NAME, message }), report)
        }
    }
}

/// The validation or the operation under way.
struct Running<'o, Fut> {
    /// `None` once it has ended.
    future: Pin<&'o mut Option<Fut>>,
    step: Step<'o>,
}

impl<'o, Fut: Future> Running<'o, Fut> {
    fn start(
        which: FlowStep,
        future: Pin<&'o mut Option<Fut>>,
        recorder: Option<&'o Recorder<'_>>,
    ) -> Self {
        Self { future, step: Step::start(which, recorder) }
    }

    /// Polls it; a panic in it is returned as its message.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Fut::Output, String>> {
        let Self { future, step } = self;
        let polled = step.poll(|| {
            contained(|| {
                let Some(running) = future.as_mut().as_pin_mut() else { return Poll::Pending };
                let polled = running.poll(task);
                if polled.is_ready() {
                    future.set(None);
                }
                polled
            })
        });
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(outcome)) => Poll::Ready(Ok(outcome)),
            Err(message) => Poll::Ready(Err(message)),
        }
    }
}

/// The future is dropped before its step ends, which it does with this.
impl<Fut> Drop for Running<'_, Fut> {
    fn drop(&mut self) {
        let Self { future, step } = self;
        if future.is_some()
            && let Err(message) = step.poll(|| contained(|| future.set(None)))
        {
            log::drop_panicked(step.which.of_a_flow(), &message);
        }
    }
}

/// A step that has started. Its end is recorded once: by `end`, or, when the run
/// is dropped, by dropping this. Without a recorder there is nothing to record and
/// nothing to time.
struct Step<'w> {
    which: FlowStep,
    recorder: Option<&'w Recorder<'w>>,
    id: u64,
    /// When its first poll began.
    since: Option<Instant>,
    /// How long it had taken at the end of its last poll.
    took: Duration,
}

impl<'w> Step<'w> {
    fn start(which: FlowStep, recorder: Option<&'w Recorder<'_>>) -> Self {
        let id = recorder.map_or(0, |recorder| recorder.step_started(which));
        Self { which, recorder, id, since: None, took: Duration::ZERO }
    }

    /// Runs code of the step, which does not unwind. The clock is read right
    /// beside it, so that the time of an observer is not counted.
    fn poll<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let Some(recorder) = self.recorder else { return poll() };
        let step = ObservedStep::new(self.id, recorder.fire(), self.which);
        recorder.notify(|observer| observer.step_poll_started(&step));
        let since = *self.since.get_or_insert_with(Instant::now);
        let polled = poll();
        self.took = since.elapsed();
        recorder.notify(|observer| observer.step_poll_ended(&step));
        polled
    }

    /// The end of the step, and its part of the report. Only the first counts.
    fn end(&mut self, status: impl FnOnce() -> StepStatus) -> Option<StepReport> {
        let recorder = self.recorder.take()?;
        let status = status();
        let step = ObservedStep::new(self.id, recorder.fire(), self.which);
        recorder.step_ended(&step, &status, self.took);
        Some(StepReport::ended(status, self.took))
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.end(|| StepStatus::Cancelled);
    }
}
