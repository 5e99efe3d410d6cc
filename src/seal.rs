//! Seals for JavaScript: IDs encrypted as other 64 bits, many per call. One ID takes a raw function of `hot.rs`. `lib/layout/seal.ts` validates the input.
//! Errors name the length of a key, never its bytes.

#![allow(unsafe_code)]

use std::rc::Rc;

use flakeforge_core::layout::seal::{self, KEY_BYTES, MOST_TWEAK_BYTES};
use napi::bindgen_prelude::{Error, Result, Uint8ArraySlice};
use napi_derive::napi;

use crate::generators::Generators;
use crate::hot::Hot;

/// A key and a tweak.
#[napi]
pub struct Seal {
    core: Rc<seal::Seal>,
    hot: Rc<Hot>,
    index: usize,
}

/// JavaScript has no object left that knows the index.
impl Drop for Seal {
    fn drop(&mut self) {
        self.hot.seals.borrow_mut().remove(self.index);
    }
}

/// The limits of a seal.
#[napi(object, object_from_js = false)]
pub struct SealBounds {
    /// valid key lengths in bytes
    pub key_bytes: Vec<f64>,
    /// the maximum length of a tweak in bytes
    pub most_tweak_bytes: f64,
}

/// The limits of a seal.
#[napi(catch_unwind)]
pub fn seal_bounds() -> SealBounds {
    let key_bytes = KEY_BYTES.map(|bytes| bytes as f64).into();
    SealBounds { key_bytes, most_tweak_bytes: MOST_TWEAK_BYTES as f64 }
}

#[napi]
impl Seal {
    /// A seal with this key and tweak, for the raw functions of these generators. It keeps neither array.
    #[napi(constructor, catch_unwind)]
    pub fn new(generators: &Generators, key: Uint8ArraySlice, tweak: Uint8ArraySlice) -> Result<Self> {
        let core = seal::Seal::new(&key, &tweak)
            .map_err(|why| Error::from_reason(format!("lib/layout/seal.ts should have refused this: {why}")))?;
        let (core, hot) = (Rc::new(core), generators.hot.clone());
        let index = hot.seals.borrow_mut().insert(core.clone());
        Ok(Self { core, hot, index })
    }

    /// What the raw functions `seal()` and `open()` find this seal by, while it lives. One of their calls takes 20 ns more than
    /// the seal itself, where a method with an array takes 400.
    #[napi(getter, catch_unwind)]
    pub fn index(&self) -> Result<u32> {
        u32::try_from(self.index).map_err(|_| Error::from_reason("this process has 2^32 seals"))
    }

    /// Seals IDs in place, 8 bytes each, big-endian.
    #[napi(catch_unwind)]
    pub fn seal(&self, ids: Uint8ArraySlice) {
        in_place(ids, |id| self.core.seal(u64::from_be_bytes(id)).to_be_bytes());
    }

    /// Opens IDs in place, 8 bytes each, big-endian.
    #[napi(catch_unwind)]
    pub fn open(&self, ids: Uint8ArraySlice) {
        in_place(ids, |id| self.core.open(u64::from_be_bytes(id)).to_be_bytes());
    }

    /// Replaces sealed IDs by their codes in place, 8 bytes each, big-endian.
    #[napi(catch_unwind)]
    pub fn check(&self, ids: Uint8ArraySlice) {
        in_place(ids, |id| self.core.check(u64::from_be_bytes(id)).to_be_bytes());
    }

    /// Seals IDs in place, each a number in the byte order of this machine.
    #[napi(catch_unwind)]
    pub fn seal_numbers(&self, ids: Uint8ArraySlice) {
        in_place(ids, |id| self.core.seal(u64::from_ne_bytes(id)).to_ne_bytes());
    }

    /// Opens IDs in place, each a number in the byte order of this machine.
    #[napi(catch_unwind)]
    pub fn open_numbers(&self, ids: Uint8ArraySlice) {
        in_place(ids, |id| self.core.open(u64::from_ne_bytes(id)).to_ne_bytes());
    }
}

/// Changes each ID of an array.
fn in_place(mut ids: Uint8ArraySlice, change: impl Fn([u8; 8]) -> [u8; 8]) {
    // SAFETY: lib/layout/seal.ts passes only arrays that it has created and not shared, so no other thread has them, and no
    // JavaScript of this thread runs before this function returns.
    let bytes = unsafe { ids.as_mut() };
    for id in bytes.as_chunks_mut::<8>().0 {
        *id = change(*id);
    }
}
