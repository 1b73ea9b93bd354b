//! A folder with everything below it: `ro:PATH` or `rw:PATH`, with `=GUEST-PATH` where the guest
//! knows it under another one.

use std::fmt;
use std::str::FromStr;

use super::GrantTextError;

/// What may be done in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FolderAccess {
    /// Nothing is changed.
    ReadOnly,
    /// Files are read, made, changed and removed.
    ReadWrite,
}

impl FolderAccess {
    /// As it is written in a grant.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "ro",
            Self::ReadWrite => "rw",
        }
    }
}

/// One folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderGrant {
    /// What may be done.
    pub access: FolderAccess,
    /// The folder of the host, relative to the project folder unless it is absolute.
    pub path: String,
    /// The path under which the guest knows it.
    pub guest_path: String,
}

impl FromStr for FolderGrant {
    type Err = GrantTextError;

    fn from_str(text: &str) -> Result<Self, GrantTextError> {
        let (access, rest) = match text.split_once(':') {
            Some(("ro", rest)) => (FolderAccess::ReadOnly, rest),
            Some(("rw", rest)) => (FolderAccess::ReadWrite, rest),
            _ => {
                let message = format!(
                    "`{text}` is not a folder with its access; write `ro:PATH` or `rw:PATH`, and \
                     `=GUEST-PATH` behind it to give it another name"
                );
                return Err(GrantTextError(message));
            }
        };
        let (path, guest_path) = rest.rsplit_once('=').unwrap_or((rest, rest));
        if path.is_empty() || guest_path.is_empty() {
            return Err(GrantTextError(format!("`{text}` names no folder")));
        }
        if guest_path.split('/').any(|part| part == "..") {
            let message = format!(
                "`{text}` leads upwards for the guest; write `=GUEST-PATH` behind it, for example \
                 `={}`",
                guest_path
                    .rsplit('/')
                    .find(|p| *p != "..")
                    .unwrap_or("data")
            );
            return Err(GrantTextError(message));
        }
        Ok(Self {
            access,
            path: path.to_owned(),
            guest_path: guest_path.to_owned(),
        })
    }
}

impl fmt::Display for FolderGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.access.as_str(), self.path)?;
        // A path that holds the sign itself needs it once more to be read back.
        if self.guest_path != self.path || self.path.contains('=') {
            write!(f, "={}", self.guest_path)?;
        }
        Ok(())
    }
}
