//! Releases of flakeforge, as records and files of a later format name the one that they need. So who cannot read them can say
//! what to install.

use std::fmt;

/// A release: whatever comes after its first two numbers changes no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// the first number
    pub major: u16,
    /// the second number
    pub minor: u16,
}

impl Release {
    /// Out of text, such as `1.4`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Out of a word, whose upper half is the first number.
    pub(crate) fn of_word(word: u32) -> Self {
        Self { major: (word >> 16) as u16, minor: word as u16 }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
