//! What threads share memory with: the standard library's, or loom's when the models of `core/loom` run.
//!
//! loom's name for its `cfg` is not used: somebody who models a program of their own would get its atomics here, too.

#[cfg(flakeforge_loom)]
pub(crate) use loom::sync::{Arc, atomic};
#[cfg(not(flakeforge_loom))]
pub(crate) use std::sync::{Arc, atomic};
