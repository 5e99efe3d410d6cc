//! Releases of flakeforge. Records and files of a newer format name the release that they require, so that older versions can
//! report which one to install.

use std::fmt;

/// A release: only the first two numbers of a version affect formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// the first number
    pub major: u16,
    /// the second number
    pub minor: u16,
}

impl Release {
    /// Parses text such as `1.4`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
