//! The atomics: the standard library's, or loom's for the models in `core/loom`.
//!
//! loom's own `cfg` name is not used: users who model their own program would get loom's atomics here, too.

#[cfg(flakeforge_loom)]
pub(crate) use loom::sync::{Arc, atomic};
#[cfg(not(flakeforge_loom))]
pub(crate) use std::sync::{Arc, atomic};
