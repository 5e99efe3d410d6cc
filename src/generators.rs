//! What the generators of one load of the module share: the raw functions, and the table behind them.
//!
//! This file must never be freed while its code may run: see [`Generators::new`].

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use flakeforge_core::open::process;
use napi::bindgen_prelude::{Env, Object, Result, Uint8Array};
use napi_derive::napi;

use crate::hot::Hot;
use crate::tallies::Totals;

/// The generators of one load of the module.
#[napi]
pub struct Generators {
    /// the raw functions and the table
    pub(crate) hot: Rc<Hot>,
}

#[napi]
impl Generators {
    /// `scratch`: the array of `lib/native/hot.ts`, which `lib/native/hot.ts` must never give away.
    #[napi(constructor)]
    pub fn new(scratch: Uint8Array) -> Result<Self> {
        // Node unloads an addon that only a worker had loaded when the worker ends, and Windows allows that. Then the
        // process's registry would be gone, and the code of the thread that looks after the files. Nobody unloads
        // WebAssembly.
        #[cfg(not(target_family = "wasm"))]
        napi::bindgen_prelude::retain_current_module_for_unload_safety();
        Ok(Self { hot: Rc::new(Hot::new(scratch)?) })
    }

    /// The raw functions. They find their generator through the scratch array.
    #[napi]
    pub fn functions<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.hot.functions(env)
    }

    /// What all generators of this load of the module have done, for each layout and group.
    #[napi]
    pub fn totals(&self) -> Vec<Totals> {
        self.hot.table.totals()
    }
}

/// What this process has warned of, in any thread.
static WARNED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Whether nobody in this process has warned of this yet. Whoever asks first should.
#[napi]
pub fn is_first_to_warn(of: String) -> bool {
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    warned.get_or_insert_default().insert(of)
}

/// A name of this copy of the addon within the process. Copies with different names have different registries.
#[napi]
pub fn registry_name() -> String {
    process::name()
}
