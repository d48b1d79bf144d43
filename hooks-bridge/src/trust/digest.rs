//! What a grant is known by.

use std::fmt;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::config::{Entry, HandlerKind};

/// The largest file that a grant covers.
const LARGEST: u64 = 64 << 20;

/// The digest of an entry: of its project, dialect, event, matcher and handler, and of the
/// bytes of the files that its command names.
///
/// ```
/// use hooks_bridge::trust::Digest;
///
/// let text = "0".repeat(64);
/// let digest: Digest = text.parse().unwrap();
/// assert_eq!(digest.to_string(), text);
/// assert!("0123".parse::<Digest>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of an entry, with its files as they are now.
    ///
    /// The example of [`Trust`](super::Trust) grants one.
    pub fn of(entry: &Entry, project: &Path) -> io::Result<Self> {
        let mut digest = Sha256::new();
        // Each part with its length and each list with its own, so that no two entries are
        // the same bytes.
        let mut part = |bytes: &[u8]| {
            digest.update(bytes.len().to_be_bytes());
            digest.update(bytes);
        };
        part(b"hooks-bridge grant 1");
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        part(project.as_os_str().as_encoded_bytes());
        part(entry.dialect.as_str().as_bytes());
        part(entry.event.as_bytes());
        part(entry.matcher.as_deref().unwrap_or_default().as_bytes());
        if let Some(handler) = &entry.handler {
            kind(&handler.kind, &mut part);
            part(handler.rule.as_deref().unwrap_or_default().as_bytes());
            part(handler.directory.as_deref().unwrap_or_default().as_bytes());
            part(&handler.environment.len().to_be_bytes());
            for (name, value) in &handler.environment {
                part(name.as_bytes());
                part(value.as_bytes());
            }
        }
        part(&entry.scripts.files.len().to_be_bytes());
        for file in &entry.scripts.files {
            let length = file.metadata()?.len();
            if length > LARGEST {
                return Err(io::Error::other("the file is too large to be covered by a grant"));
            }
            part(file.as_os_str().as_encoded_bytes());
            part(&std::fs::read(file)?);
        }
        for file in &entry.scripts.missing {
            // One that appears later is not what was granted.
            part(if file.exists() { b"there" } else { b"missing" });
        }
        Ok(Self(digest.finalize().into()))
    }
}

fn kind(kind: &HandlerKind, part: &mut impl FnMut(&[u8])) {
    match kind {
        HandlerKind::Shell { shell, line } => {
            [b"shell", shell.as_bytes(), line.as_bytes()].into_iter().for_each(part);
        }
        HandlerKind::Exec { program, arguments } => {
            part(b"exec");
            part(program.as_bytes());
            part(&arguments.len().to_be_bytes());
            for argument in arguments {
                part(argument.as_bytes());
            }
        }
        HandlerKind::Http { url, headers, variables } => {
            part(b"http");
            part(url.as_bytes());
            part(&headers.len().to_be_bytes());
            for (name, value) in headers {
                part(name.as_bytes());
                part(value.as_bytes());
            }
            part(&variables.len().to_be_bytes());
            for name in variables {
                part(name.as_bytes());
            }
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl std::str::FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a digest is 64 hexadecimal digits";
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong);
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong)?;
        }
        Ok(Self(bytes))
    }
}
