//! Something that was opened, or why it could not be opened, in the form that JavaScript gets.

use flakeforge_core::files::error::FileError;
use flakeforge_core::files::process_registry::NotShared;
use flakeforge_core::generator::registry::Clash;
use napi::bindgen_prelude::Either;
use napi_derive::napi;

/// Why there is no generator: `theirs` and `ours` differ, or `path` cannot be used because of `why`.
#[napi(object)]
#[derive(Default)]
pub struct Problem {
    /// what the other one is made for
    pub theirs: Option<String>,
    /// what was asked for
    pub ours: Option<String>,
    /// a file
    pub path: Option<String>,
    /// what is wrong with it, and what to do
    pub why: Option<String>,
}

impl From<Clash> for Problem {
    fn from(Clash { theirs, ours }: Clash) -> Self {
        Self { theirs: Some(theirs), ours: Some(ours), ..Self::default() }
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Mismatch { path, theirs, ours } => {
                Self { theirs: Some(theirs), ours: Some(ours), path: Some(path), why: None }
            }
            FileError::File { path, why } => Self { path: Some(path), why: Some(why), ..Self::default() },
        }
    }
}

impl From<NotShared> for Problem {
    fn from(error: NotShared) -> Self {
        match error {
            NotShared::Clash(clash) => clash.into(),
            NotShared::File(error) => error.into(),
        }
    }
}

/// A result in the form that JavaScript gets. Signatures write `Either` in full, because napi copies their text into the
/// types that lib/ is checked against.
pub fn opened<T, E: Into<Problem>>(result: std::result::Result<T, E>) -> Either<T, Problem> {
    result.map_or_else(|error| Either::B(error.into()), Either::A)
}
