//! Bytes of any length as text.

use flakeforge_core::layout::format::Base;
use napi::bindgen_prelude::{Env, Result, Uint8ArraySlice};
use napi_derive::napi;
use num_bigint::BigUint;

/// The names of the bases, in the order of their indexes in the raw functions.
#[napi(catch_unwind)]
pub fn bases() -> Vec<String> {
    Base::NAMES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// The maximum number of bytes whose digits fit a JavaScript string in every base: a string has at most 2^29 characters, or
/// 2^28 on a 32-bit system, and a byte has up to 8 digits. More would exhaust the memory of a small system, which ends the
/// process. `format()` takes far fewer; `flakeforge/biguint-format` takes as many as that package.
const MOST_BYTES: usize = if cfg!(target_pointer_width = "32") { 1 << 25 } else { 1 << 26 };

/// A big-endian number of any length as text; null if there is no such base.
#[napi(catch_unwind)]
pub fn digits(env: &Env, bytes: Uint8ArraySlice, base: String) -> Result<Option<String>> {
    if bytes.len() > MOST_BYTES {
        let why = format!("{} bytes are too many to format: the maximum is {MOST_BYTES}", bytes.len());
        env.throw_type_error(&why, Some("ERR_FLAKE_ID"))?;
        return Ok(None);
    }
    Ok(Base::named(&base).map(|base| in_base(&bytes, base)))
}

fn in_base(bytes: &[u8], base: Base) -> String {
    let digits = BigUint::from_bytes_be(bytes).to_radix_be(base.radix());
    let padding = base.width(bytes.len()).saturating_sub(digits.len());
    let letter = |digit: u8| char::from(base.alphabet()[usize::from(digit)]);
    std::iter::repeat_n(0, padding).chain(digits).map(letter).collect()
}
