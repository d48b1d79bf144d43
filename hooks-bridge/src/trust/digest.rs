//! What a grant is known by.

use std::fmt;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::config::{Entry, HandlerKind};
use crate::files;

/// The largest file that a grant covers.
pub(super) const LARGEST: u64 = 64 << 20;

/// The digest of an entry: of its project, dialect, event, matcher and handler, and of the
/// bytes of the files that its command names.
///
/// It is the SHA-256 of these parts, in this order. A part is its length in bytes, as eight
/// bytes with the highest first, and the bytes; a number is a part of eight bytes. So no two
/// entries have the same bytes.
///
/// | parts | what |
/// |---|---|
/// | 1 | `hooks-bridge grant 1` |
/// | 4 | the folder of the project without links, the dialect, the event, the matcher (empty without one) |
/// | 3 | of a line: `shell`, the shell, the line |
/// | 3 + n | of a program: `exec`, the program, how many arguments, each of them |
/// | 4 + 2n + m | of an address: `http`, the address, how many headers, name and value of each, how many variables, each of them |
/// | 3 + 2n | the rule of `if`, the folder (each empty without one), how many variables are set, name and value of each |
/// | 1 + 2n | how many files it names that are there, path and bytes of each |
/// | 1 + 2n | how many it names that are not there, path of each and `missing`; `there` where it has come since |
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
        let mut part = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_be_bytes());
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
            part(&count(&handler.environment));
            for (name, value) in &handler.environment {
                part(name.as_bytes());
                part(value.as_bytes());
            }
        }
        part(&count(&entry.scripts.files));
        for file in &entry.scripts.files {
            part(file.as_os_str().as_encoded_bytes());
            part(&files::read(file, LARGEST)?);
        }
        part(&count(&entry.scripts.absent));
        for file in &entry.scripts.absent {
            part(file.as_os_str().as_encoded_bytes());
            // One that appears later is not what was granted.
            part(if file.is_file() { b"there" } else { b"missing" });
        }
        Ok(Self(digest.finalize().into()))
    }
}

fn count<T>(list: &[T]) -> [u8; 8] {
    (list.len() as u64).to_be_bytes()
}

fn kind(kind: &HandlerKind, part: &mut impl FnMut(&[u8])) {
    match kind {
        HandlerKind::Shell { shell, line } => {
            [b"shell", shell.as_bytes(), line.as_bytes()].into_iter().for_each(part);
        }
        HandlerKind::Exec { program, arguments } => {
            part(b"exec");
            part(program.as_bytes());
            part(&count(arguments));
            for argument in arguments {
                part(argument.as_bytes());
            }
        }
        HandlerKind::Http { url, headers, variables } => {
            part(b"http");
            part(url.as_bytes());
            part(&count(headers));
            for (name, value) in headers {
                part(name.as_bytes());
                part(value.as_bytes());
            }
            part(&count(variables));
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
        // A sign would be read as part of a number.
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
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
