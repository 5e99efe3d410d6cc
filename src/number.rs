//! Whole numbers from JavaScript, where every number is a float. Node-API itself would read NaN as 0, drop a fraction, and
//! wrap a number that does not fit 32 bits, so a mistake would become another, valid number.

#![allow(unsafe_code)]

use std::any::type_name;

use flakeforge_core::layout::timescale::NS_PER_MS;
use napi::bindgen_prelude::{Error, FromNapiValue, Result, Status, ToNapiValue};
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
