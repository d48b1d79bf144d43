//! Why a recording does not begin.

use std::path::PathBuf;

use thiserror::Error;

use crate::escape::{escaped, escaped_display};
use crate::readable::readable_debug;

/// Why a recording cannot begin.
///
/// ```
/// use hooks_runtime::HookRegistry;
/// use hooks_runtime::record::{CapturePolicy, Recorder};
///
/// let hooks = HookRegistry::new();
/// let (_recording, _writer) = Recorder::into_writer(std::io::sink()).start(&hooks).unwrap();
/// let second = Recorder::into_writer(std::io::sink()).start(&hooks).unwrap_err();
/// assert_eq!(second.to_string(), "this registry is being recorded already: close that recording first");
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The registry is being recorded already.
    #[error("this registry is being recorded already: close that recording first")]
    Recording,
    /// No point has that name, in the catalogues of the recorder or in the registry.
    #[error(
        "no hook point is `{}`{}",
        escaped(.point),
        match .nearest {
            Some(nearest) => format!("; did you mean `{}`?", escaped(nearest)),
            None => ": it has no handlers, was never fired, and is not in a catalogue of \
                     the recorder".to_owned(),
        }
    )]
    NoPoint {
        /// The name, or the pattern.
        point: String,
        /// The name that was most likely meant.
        nearest: Option<String>,
    },
    /// Values were asked for, and no catalogue of the recorder has such a point with JSON.
    #[error(
        "nothing could be captured at `{}`: no catalogue with JSON has it; \
         `Recorder::catalogue` gives one",
        escaped(.point),
    )]
    NoCatalogue {
        /// The name, or the pattern.
        point: String,
    },
    /// A limit would leave nothing to record.
    #[error("`{limit}` cannot be 0: nothing could be recorded")]
    Nothing {
        /// The method that sets it.
        limit: &'static str,
    },
    /// The first file cannot be begun.
    #[error(
        "cannot record to {}: {}",
        path.as_ref().map_or("the writer".to_owned(), |path| {
            format!("`{}`", escaped_display(&path.display()))
        }),
        escaped(problem)
    )]
    Io {
        /// The file, where it is one.
        path: Option<PathBuf>,
        /// What the system said.
        problem: String,
    },
}

readable_debug! {
    enum RecordError {
        Recording,
        NoPoint { point, nearest },
        NoCatalogue { point },
        Nothing { limit },
        Io { path, problem },
    }
}
