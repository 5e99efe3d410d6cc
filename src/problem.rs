//! An opened object, or why it could not be opened, in the form for JavaScript.

use flakeforge_core::refusal::Refusal;
use napi::bindgen_prelude::Either;
use napi_derive::napi;

/// Why there is no generator; what is absent is null, because JavaScript would inherit it from Object.prototype: `theirs` and `ours` differ, or `path` cannot be used because of `why`.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Default)]
pub struct Problem {
    /// the purpose of the existing one
    pub theirs: Option<String>,
    /// the requested purpose
    pub ours: Option<String>,
    /// a file
    pub path: Option<String>,
    /// what is wrong with it, and what to do
    pub why: Option<String>,
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Clash { theirs, ours } => Self { theirs: Some(theirs), ours: Some(ours), ..Self::default() },
            Refusal::Mismatch { path, theirs, ours } => {
                Self { theirs: Some(theirs), ours: Some(ours), path: Some(path), why: None }
            }
            Refusal::File { path, why } => Self { path: Some(path), why: Some(why), ..Self::default() },
            other => Self { why: Some(other.to_string()), ..Self::default() },
        }
    }
}

/// A result in the form for JavaScript. Signatures spell out `Either`, because napi copies their text into the types that
/// lib/ is checked against.
pub fn opened<T>(result: std::result::Result<T, Refusal>) -> Either<T, Problem> {
    result.map_or_else(|refusal| Either::B(refusal.into()), Either::A)
}
