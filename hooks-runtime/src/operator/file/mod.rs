//! The operator's file, `hooks.toml`: the same settings as data.
//!
//! A file is read in steps, each of which goes on after a mistake so that all are found at
//! once: `source.rs` has the lines of the text, `parse.rs` the entries, `entry.rs` one of
//! them, `value.rs`, `table.rs` and `time.rs` its values. `plan.rs` checks the settings as the
//! operator's own calls are checked, compares them with those of the file before, and
//! publishes the difference at one instant. `follow.rs` does it again when the file changes.

mod entry;
mod error;
mod follow;
mod outcome;
mod parse;
mod plan;
mod problem;
mod source;
mod table;
mod time;
mod value;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use entry::FileSetting;
pub use error::{FileError, FileMistake};
pub use follow::Follow;
pub use outcome::{Loaded, Preview};
pub use problem::FileProblem;

use crate::observe::log;
use crate::operator::Operator;
use crate::operator::file::parse::Parsed;

/// A file of settings as it was read, with all that is wrong with its text.
///
/// The guide [Settings in a file](crate::guides::settings_in_a_file) has an example of each
/// setting, and what is said to each mistake.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::{Mode, SettingsFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let file = SettingsFile::parse(
///     r#"
///     [[setting]]
///     target = "sent:notify"
///     mode = "disable"
///     why = "no route"
///     "#,
/// );
/// assert_eq!(file.mistakes(), []);
/// assert_eq!(file.settings()[0].target(), "sent:notify");
/// hooks.operator().load(&file)?;
/// assert_eq!(hooks.handlers()[0].mode, Mode::Disable);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// Its path, where it has one.
    name: Option<String>,
    parsed: Parsed,
}

impl SettingsFile {
    /// Reads a text, or the bytes of one. Mistakes are kept: a
    /// [load](Operator::load) says them together with what only the registry knows, such
    /// as a target that names no handler.
    ///
    /// The example of [`SettingsFile`] parses one.
    pub fn parse(text: impl AsRef<[u8]>) -> Self {
        Self::of(None, text.as_ref())
    }

    /// Reads a file, of which messages then have the path. What cannot be read at all is an
    /// error here; mistakes in it are kept, as by [`parse`](Self::parse).
    ///
    /// ```
    /// use hooks_runtime::operator::{FileError, SettingsFile};
    ///
    /// let error = SettingsFile::read("no/hooks.toml").unwrap_err();
    /// assert!(matches!(error, FileError::Unreadable { .. }));
    /// assert!(error.to_string().starts_with("`no/hooks.toml` cannot be read: "));
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match bytes_of(path) {
            Ok(bytes) => Ok(Self::of(Some(&name), &bytes)),
            Err(error) => {
                let (kind, problem) = (error.kind(), error.to_string());
                Err(FileError::Unreadable { file: name, kind, problem })
            }
        }
    }

    fn of(name: Option<&str>, bytes: &[u8]) -> Self {
        Self { name: name.map(str::to_owned), parsed: parse::parse(bytes) }
    }

    /// What could be read of it, in the order of the file.
    ///
    /// The example of [`SettingsFile`] looks at one.
    pub fn settings(&self) -> &[FileSetting] {
        &self.parsed.settings
    }

    /// What is wrong with its text, which needs no registry to be seen.
    ///
    /// The example of [`SettingsFile`] has none.
    pub fn mistakes(&self) -> &[FileMistake] {
        &self.parsed.mistakes
    }
}

impl Operator {
    /// Puts the settings of a file in the place of those of the file before, at one
    /// instant: a fire has all of the new file, or all of the old one. With any mistake
    /// nothing is changed, and the error has all mistakes.
    ///
    /// A setting that is in both files stays the same setting: its number, what its rate
    /// limit and its breaker have counted, and its end. A [live](crate::operator::Layer)
    /// setting counts before any of a file, and is not touched. What was set with
    /// [`from_file`](crate::operator::NewSetting::from_file) is replaced as well.
    ///
    /// The example of [`SettingsFile`] loads one.
    pub fn load(&self, file: &SettingsFile) -> Result<Loaded, FileError> {
        self.inner.load_file(file).inspect_err(log::file_refused)
    }

    /// What a [load](Self::load) of that file would change, without changing it.
    ///
    /// The example of [`Preview`] prints one.
    pub fn preview(&self, file: &SettingsFile) -> Result<Preview, FileError> {
        self.inner.preview_file(file).map(Preview)
    }

    /// Loads a file, and again whenever it changes: a future that the host spawns.
    ///
    /// It looks at the file every two seconds on the registry's
    /// [`Timer`](crate::timer::Timer), or as often as [`every`](Follow::every) says, and
    /// compares the bytes. New bytes are loaded once they were the same at two looks a tenth
    /// of a second apart: a file that is being written, or that another is about to replace,
    /// is left alone until then. A mistake is said once, and leaves the old settings in
    /// force; so does a file that cannot be read any more.
    ///
    /// The file is read on the thread that polls the future, a megabyte at most. Where its
    /// disk may hang, give the future a thread of its own.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// # hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
    /// # let path = std::env::temp_dir().join(format!("hooks-{}.toml", std::process::id()));
    /// std::fs::write(&path, "[[setting]]\ntarget = 'sent:notify'\nmode = 'disable'\n")?;
    /// let (outcomes, mut loaded) = tokio::sync::mpsc::unbounded_channel();
    /// let follow = hooks.operator().follow(&path).every(Duration::from_secs(5));
    /// tokio::spawn(follow.run(move |outcome| {
    ///     match &outcome {
    ///         Ok(loaded) => println!("{loaded}"),
    ///         Err(error) => eprintln!("{error}"),
    ///     }
    ///     let _ = outcomes.send(outcome);
    /// }));
    /// let loaded = loaded.recv().await.unwrap()?;
    /// assert_eq!(loaded.to_string(), "+ line 3: disable sent:notify");
    /// # std::fs::remove_file(path)?;
    /// # Ok(()) }
    /// ```
    pub fn follow(&self, path: impl Into<PathBuf>) -> Follow {
        Follow::new(self.clone(), path.into())
    }
}

/// The bytes of a file, and one more than there can be where it is too long.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would be waited for, and a device has no end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(parse::LONGEST).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
