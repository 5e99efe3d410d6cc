//! Bytes of any length as text, and text back to the 64 bits of an ID.

use flakeforge_core::layout::format::{self, Base};
use napi::bindgen_prelude::{BigInt, Uint8ArraySlice};
use napi_derive::napi;

/// The names of the bases, in the order in which the raw functions count them.
#[napi]
pub fn bases() -> Vec<String> {
    Base::NAMES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// How many characters an ID's text must have in this base; null if leading zeros may be left out or added.
#[napi]
pub fn text_width(base: String) -> Option<u32> {
    Base::named(&base)?.text_width().map(|width| width as u32)
}

/// A number of any length, big-endian, as text; null if there is no such base.
#[napi]
pub fn digits(bytes: Uint8ArraySlice, base: String) -> Option<String> {
    Base::named(&base).map(|base| format::digits(&bytes, base))
}

/// The ID that a text spells; null for anything else.
#[napi]
pub fn parse(text: String, base: String) -> Option<BigInt> {
    format::parse(&text, Base::named(&base)?).map(BigInt::from)
}
