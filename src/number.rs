//! Values from JavaScript that have a form of their own: anything else is an error. Node-API itself would read NaN as 0, drop
//! a fraction, and wrap a number that does not fit 32 bits, so a mistake would become another, valid number.

#![allow(unsafe_code)]

use std::any::type_name;

use flakeforge_core::layout::timescale::NS_PER_MS;
use flakeforge_core::lease::messages::{Asked, Owner};
use napi::bindgen_prelude::{BigInt, Error, FromNapiValue, Result, Status, ToNapiValue};
use napi::sys;

/// The largest number below which floats have every whole number: 2^53.
const FLOATS_END: f64 = 9_007_199_254_740_992.0;

/// The whole number of a float, if it is one that floats tell from its neighbours.
pub fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the next line compares")]
    let near = number as i64;
    (near as f64 == number && number.abs() < FLOATS_END).then_some(near)
}

/// A whole number that fits `T`. Anything else is an error when JavaScript passes it. In the types it is a `number`: see
/// `dtsHeader` in package.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<T>(pub T);

impl<T: TryFrom<i64>> FromNapiValue for Whole<T> {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: as the caller promises.
        let number = unsafe { f64::from_napi_value(env, value)? };
        let fitting = whole(number).and_then(|number| T::try_from(number).ok());
        fitting.map(Self).ok_or_else(|| {
            Error::new(Status::InvalidArg, format!("{number} is not a whole number of the type {}", type_name::<T>()))
        })
    }
}

impl<T: TryInto<i64>> ToNapiValue for Whole<T> {
    unsafe fn to_napi_value(env: sys::napi_env, Self(number): Self) -> Result<sys::napi_value> {
        let number = number.try_into().map_err(|_| Error::from_reason("a number of more than 63 bits"))?;
        // SAFETY: as the caller promises.
        unsafe { i64::to_napi_value(env, number) }
    }
}

impl From<Whole<u32>> for u32 {
    fn from(Whole(number): Whole<u32>) -> Self {
        number
    }
}

impl From<Whole<i64>> for i64 {
    fn from(Whole(number): Whole<i64>) -> Self {
        number
    }
}

/// A bigint from 0 to 2^64 − 1; napi-rs would truncate a larger one, and drop the sign. Anything else is an error when
/// JavaScript passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Big(pub u64);

/// The value of a bigint, if it fits.
pub fn exact(number: &BigInt) -> Option<u64> {
    let (is_negative, value, is_lossless) = number.get_u64();
    (is_lossless && !is_negative).then_some(value)
}

impl FromNapiValue for Big {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: as the caller promises.
        let number = unsafe { BigInt::from_napi_value(env, value)? };
        let why = || Error::new(Status::InvalidArg, "a bigint is not from 0 to 2^64 - 1");
        exact(&number).map(Self).ok_or_else(why)
    }
}

impl From<Big> for u64 {
    fn from(Big(number): Big) -> Self {
        number
    }
}

/// A duration in ms, 0 or more and possibly infinite. Anything else is an error when JavaScript passes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Millis(pub f64);

impl Millis {
    /// Nanoseconds; the largest number if they do not fit.
    pub fn ns(self) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it saturates, and is not negative"
        )]
        {
            (self.0 * NS_PER_MS as f64) as u64
        }
    }
}

impl FromNapiValue for Millis {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: as the caller promises.
        let ms = unsafe { f64::from_napi_value(env, value)? };
        let why = || Error::new(Status::InvalidArg, format!("{ms} is not a duration: 0 or more milliseconds"));
        (ms >= 0.0).then_some(Self(ms)).ok_or_else(why)
    }
}

impl ToNapiValue for Millis {
    unsafe fn to_napi_value(env: sys::napi_env, Self(ms): Self) -> Result<sys::napi_value> {
        // SAFETY: as the caller promises.
        unsafe { f64::to_napi_value(env, ms) }
    }
}

/// 128 random bits, most of them an owner: 32 hex digits. Anything else is an error when JavaScript passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub Owner);

fn hex(owner: Owner) -> String {
    format!("{owner:032x}")
}

impl FromNapiValue for Token {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: as the caller promises.
        let text = unsafe { String::from_napi_value(env, value)? };
        let owner = Owner::from_str_radix(&text, 16).ok().filter(|owner| hex(*owner) == text);
        owner.map(Self).ok_or_else(|| Error::new(Status::InvalidArg, format!("{text:?} is not a token: 32 hex digits")))
    }
}

impl ToNapiValue for Token {
    unsafe fn to_napi_value(env: sys::napi_env, Self(owner): Self) -> Result<sys::napi_value> {
        // SAFETY: as the caller promises.
        unsafe { String::to_napi_value(env, hex(owner)) }
    }
}

impl From<Token> for Owner {
    fn from(Token(owner): Token) -> Self {
        owner
    }
}

impl From<Owner> for Token {
    fn from(owner: Owner) -> Self {
        Self(owner)
    }
}

/// A call to the store, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call(pub Asked);

impl FromNapiValue for Call {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: as the caller promises.
        let name = unsafe { String::from_napi_value(env, value)? };
        Ok(Self(match name.as_str() {
            "acquire" => Asked::Acquire,
            "renew" => Asked::Renew,
            "release" => Asked::Release,
            _ => return Err(Error::new(Status::InvalidArg, format!("{name:?} is not a call to the store"))),
        }))
    }
}

impl From<Call> for Asked {
    fn from(Call(asked): Call) -> Self {
        asked
    }
}
