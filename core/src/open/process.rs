//! The registry of this process. All copies of the library that are loaded as addons share the table of the first one.

use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use crate::files::key_file::KeyFile;
use crate::generator::entry::{Table, Visit, Visitor, answer};
use crate::generator::registry::Registry;

/// The entries, if this copy of the library is the first one in the process.
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

static PROCESS: OnceLock<Registry<KeyFile>> = OnceLock::new();

/// The registry.
pub fn registry() -> &'static Registry<KeyFile> {
    PROCESS.get_or_init(Registry::default)
}

/// Makes the registry use the table of another copy of the library, or of this one; `visit` gives access to its entries. Has
/// an effect only before the registry is first used.
pub fn share(visit: Visit) {
    _ = PROCESS.set(Registry::shared_by(visit));
}

/// Calls `visitor` with the entry of a key in this copy's table, for a [`Visit`].
///
/// # Safety
///
/// As [`answer`] demands.
#[allow(unsafe_code)]
pub unsafe fn visit(key: (*const u8, usize), visitor: (Visitor, *mut c_void)) {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as the caller promises.
    unsafe { answer(|key| table.entry(key), key, visitor) };
}
