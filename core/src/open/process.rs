//! The registry of this process, for every thread that loaded this copy of the library.

use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::generator::registry::Registry;

#[cfg(feature = "files")]
type Elsewhere = crate::files::key_file::KeyFile;
#[cfg(not(feature = "files"))]
type Elsewhere = std::convert::Infallible;

static PROCESS: LazyLock<Mutex<Registry<Elsewhere>>> = LazyLock::new(Mutex::default);

/// The registry.
pub fn registry() -> MutexGuard<'static, Registry<Elsewhere>> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random, and not the registry's address: two copies have the same one in WebAssembly, each in a memory of its own.
static NAME: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

/// A name of this copy of the library within the process: another copy has another registry and another name.
pub fn name() -> String {
    format!("{:016x}", *NAME)
}

/// Bits that nobody had before.
#[cfg(any(feature = "files", feature = "lease"))]
pub(super) fn random() -> u128 {
    let [high, low] = [(); 2].map(|()| u128::from(RandomState::new().hash_one(())));
    high << 64 | low
}

#[cfg(test)]
mod tests;
