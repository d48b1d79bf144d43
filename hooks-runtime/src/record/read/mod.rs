//! Reading a recording back.

mod error;
mod files;
mod fires;

pub use error::{Place, ReadError, Torn};
pub(super) use files::{numbered, numbered_path};
pub use fires::{Fires, RecordedFire};

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use super::format::Line;
use files::files_of;

/// A line that is longer than this is none of a recording.
const LONGEST: u64 = 256 * 1_024 * 1_024;

/// Reads the lines of a recording, file after file, in the order in which they were
/// written.
///
/// A last line of a file without its end is what a program leaves that was killed while it
/// wrote: it is not returned, and is [told](Reader::torn). Any other line that cannot be read
/// is an error that names its place, and the next call goes on behind it.
///
/// ```
/// use hooks_runtime::record::{LineKind, Reader};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("hooks-reader-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("day.jsonl");
/// # std::fs::write(&path, concat!(
/// #     r#"{"v":1,"run":"r1","seq":0,"generation":0,"at_ns":5,"kind":"header","format":"hooks-record","file":0,"points":[{"point":"sending","model":"gating","handlers":[{"handler":"spam","plugin":"safety","priority":0,"guard":true,"policy":"closed","time_limit_ns":null,"pure":true,"conditional":false,"once":false,"target":null,"location":"src/main.rs:7:1"}]}],"settings":[]}"#,
/// #     "\n", r#"{"v":1,"run":"r1","seq":1,"gener"#,
/// # ))?;
/// let mut reader = Reader::open(&path)?;
/// let first = reader.next().unwrap()?;
/// let LineKind::Header(header) = first.kind else { panic!("the first line is the header") };
/// assert_eq!(header.points[0].handlers[0].handler, "spam");
/// assert_eq!(reader.place().unwrap().line, 1);
/// assert!(reader.next().is_none());
/// assert!(reader.torn()[0].to_string().ends_with("day.jsonl:2: the last line, at byte 366, has no end: 32 bytes were left out"));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Reader {
    files: IntoIter<PathBuf>,
    current: Option<Current>,
    place: Option<Place>,
    torn: Vec<Torn>,
}

#[derive(Debug)]
struct Current {
    path: PathBuf,
    file: BufReader<File>,
    line: u64,
    offset: u64,
}

impl Reader {
    /// All files of the recording that was written to that path: the file itself, and those
    /// that followed it when it was full, `path.1`, `path.2` and so on. A path of one of
    /// these reads that file alone.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let files = files_of(path.as_ref())?;
        Ok(Self { files: files.into_iter(), current: None, place: None, torn: Vec::new() })
    }

    /// Where the line stands that was returned last.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The last lines that have no end, of the files that were read so far.
    pub fn torn(&self) -> &[Torn] {
        &self.torn
    }

    /// The fires of the recording, each with its calls.
    ///
    /// The example of [`RecordedFire`] reads some.
    pub fn fires(self) -> Fires {
        Fires::new(self)
    }

    /// The file that is read, or the next one.
    fn current(&mut self) -> Option<Result<&mut Current, ReadError>> {
        if self.current.is_none() {
            let path = self.files.next()?;
            match File::open(&path) {
                Ok(file) => {
                    let file = BufReader::new(file);
                    self.current = Some(Current { path, file, line: 0, offset: 0 });
                }
                Err(error) => return Some(Err(ReadError::open(&path, &error))),
            }
        }
        self.current.as_mut().map(Ok)
    }

    /// The next line that has an end, or `None` where there is no more file.
    fn next_text(&mut self) -> Option<Result<Vec<u8>, ReadError>> {
        loop {
            let current = match self.current()? {
                Ok(current) => current,
                Err(error) => return Some(Err(error)),
            };
            let place = Place {
                file: current.path.clone(),
                line: current.line + 1,
                offset: current.offset,
            };
            let mut text = Vec::new();
            let read = (&mut current.file).take(LONGEST).read_until(b'\n', &mut text);
            match read {
                Err(error) => {
                    self.current = None;
                    return Some(Err(ReadError::Io { place, problem: error.to_string() }));
                }
                Ok(0) => self.current = None,
                Ok(bytes) => {
                    let bytes = bytes as u64;
                    current.line += 1;
                    current.offset += bytes;
                    if text.pop_if(|last| *last == b'\n').is_some() {
                        self.place = Some(place);
                        return Some(Ok(text));
                    }
                    self.current = None;
                    if bytes == LONGEST {
                        return Some(Err(ReadError::too_long(place, LONGEST)));
                    }
                    self.torn.push(Torn { place, bytes });
                }
            }
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Line, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = match self.next_text()? {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        let place = self.place.clone()?;
        let line = match std::str::from_utf8(&text) {
            Ok(text) => {
                // What an editor may have put at the start of a file.
                let is_first = place.offset == 0;
                let text = text.strip_prefix('\u{feff}').filter(|_| is_first).unwrap_or(text);
                Line::parse(text).map_err(|error| ReadError::line(place, error))
            }
            Err(error) => Err(ReadError::not_text(place, error)),
        };
        Some(line)
    }
}
