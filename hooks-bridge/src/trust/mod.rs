//! Trust: nothing from a project's folder runs without a grant.

mod bytes;
mod digest;
mod grants;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use digest::Digest;
pub use grants::{Grants, GrantsError};

pub(crate) use bytes::Bytes;

use crate::config::Entry;
use crate::runner::{Cause, Failure};

/// What of a project may run.
///
/// A grant covers the event, the matcher, the command and the bytes of the files that the
/// command names. Where one of them changes, the entry is not run until it is granted
/// again; that is asked before each run, not only when the files are read, and once more where
/// the run had to wait for others. What has become a pipe or a device has changed. A command that
/// works out at run time what it runs is covered by its text only, which
/// [`Preview`](crate::Preview) says.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::trust::{Grants, Trust};
/// use hooks_bridge::{Bridge, Dialect};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// let text = r#"{ "version": 1, "hooks": { "stop": [ { "command": "true" } ] } }"#;
/// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::Project);
/// let plan = Plan::read_text(&source, text, project);
///
/// let mut grants = Grants::default();
/// assert_eq!(Bridge::new(project, plan.clone()).skipped().count(), 1);
/// grants.add(&plan.entries[0], project)?; // after the operator has seen it
/// let bridge = Bridge::new(project, plan).trust(Trust::granted(grants));
/// assert_eq!(bridge.skipped().count(), 0);
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trust(Given);

#[derive(Clone, Debug)]
enum Given {
    Grants(Arc<Grants>),
    Everything,
}

impl Default for Given {
    fn default() -> Self {
        Self::Grants(Arc::default())
    }
}

impl Trust {
    /// What was granted may run.
    ///
    /// The example of [`Trust`] has grants.
    pub fn granted(grants: Grants) -> Self {
        Self(Given::Grants(Arc::new(grants)))
    }

    /// Everything may run, whatever the project says: for a host that has asked already, or
    /// for a project of the operator alone.
    ///
    /// ```
    /// use hooks_bridge::Bridge;
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::trust::Trust;
    ///
    /// let bridge = Bridge::new("/srv/shop", Plan::default()).trust(Trust::everything());
    /// # drop(bridge);
    /// ```
    pub const fn everything() -> Self {
        Self(Given::Everything)
    }

    /// Whether an entry may run, as its files are now.
    pub(crate) fn covers(&self, entry: &Entry, project: &Path) -> bool {
        match &self.0 {
            Given::Everything => true,
            Given::Grants(_) if !needs_grant(entry, project) => true,
            // A project may name very many large files: without a grant none is read.
            Given::Grants(grants) if grants.is_empty() => false,
            Given::Grants(grants) => {
                Digest::of(entry, project).is_ok_and(|digest| grants.contains(&digest))
            }
        }
    }

    /// Right before a run: the files may have changed since they were read.
    pub(crate) fn check(
        &self,
        entry: &Entry,
        project: &Path,
        granted: &Bytes,
    ) -> Result<(), Failure> {
        if self.covers(entry, project) {
            return Ok(());
        }
        let appeared = entry.scripts.appeared().map(PathBuf::as_path).next();
        let changed = appeared.or_else(|| granted.changed()).unwrap_or(&entry.place.file);
        Err(Failure::new(Cause::Changed(changed.to_owned())))
    }

    /// The files of an entry that runs by a grant, as they are now.
    pub(crate) fn bytes(&self, entry: &Entry, project: &Path) -> Bytes {
        match &self.0 {
            Given::Grants(_) if needs_grant(entry, project) => Bytes::of(entry),
            Given::Grants(_) | Given::Everything => Bytes::default(),
        }
    }

    /// Whether there is a grant for the command of an entry, of whatever bytes.
    pub(crate) fn names(&self, entry: &Entry) -> bool {
        matches!(&self.0, Given::Grants(grants) if grants.names(entry))
    }

    /// Why an entry may not run, if it may not.
    pub(crate) fn refusal(&self, entry: &Entry, project: &Path) -> Option<&'static str> {
        match &self.0 {
            _ if self.covers(entry, project) => None,
            Given::Grants(grants) if grants.names(entry) => {
                Some("it is not what was granted: it has changed since, or is of another project")
            }
            Given::Grants(_) | Given::Everything => Some("it is not trusted"),
        }
    }
}

/// Whether an entry runs only where it was granted: it comes with the project, or runs a
/// file that does, or one that a link of the project leads to.
pub(crate) fn needs_grant(entry: &Entry, project: &Path) -> bool {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let inside = |file: &PathBuf| leads_through(file, &project);
    let scripts = &entry.scripts;
    let mut files = scripts.files.iter().chain(&scripts.missing).chain(scripts.appeared());
    entry.origin.needs_trust() || files.any(inside)
}

/// Whether a path leads into a folder, or by way of one of its links: where that leads to, is
/// said in the folder.
fn leads_through(file: &Path, folder: &Path) -> bool {
    let below = |path: &Path| path != folder && path.starts_with(folder);
    let link = |path: &Path| Some(resolved(path.parent()?).join(path.file_name()?));
    below(&resolved(file)) || file.ancestors().filter_map(link).any(|path| below(&path))
}

/// Where a file is or would be: the part of its path that exists, and the rest as it is
/// written.
fn resolved(file: &Path) -> PathBuf {
    let mut ancestors = file.ancestors().skip(1);
    file.canonicalize()
        .ok()
        .or_else(|| {
            ancestors.find_map(|folder| {
                let rest = file.strip_prefix(folder).ok()?;
                Some(folder.canonicalize().ok()?.join(rest))
            })
        })
        .unwrap_or_else(|| file.to_owned())
}
