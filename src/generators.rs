//! What the generators of one load of the module share: the raw functions, and the table behind them.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use napi::bindgen_prelude::{Env, Object, Result, Unknown};
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
    /// `scratch`: the array of `lib/native/hot.ts`, over shared memory.
    #[napi(constructor, catch_unwind)]
    pub fn new(#[napi(ts_arg_type = "Uint8Array")] scratch: Unknown) -> Result<Self> {
        Ok(Self { hot: Rc::new(Hot::new(scratch)?) })
    }

    /// The raw functions. They find their generator through the scratch array.
    #[napi(catch_unwind)]
    pub fn functions<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.hot.functions(env)
    }

    /// What all generators of this load of the module have done, per layout and group.
    #[napi(catch_unwind)]
    pub fn totals(&self) -> Vec<Totals> {
        self.hot.table.totals()
    }
}

/// The warnings of this process, in any thread.
static WARNED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Whether this process has not issued this warning yet. The first caller should issue it.
#[napi(catch_unwind)]
pub fn is_first_to_warn(of: String) -> bool {
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    warned.get_or_insert_default().insert(of)
}

/// The release of flakeforge that this addon belongs to.
#[napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
