//! Static places, from which raw functions read what belongs to their environment. To ask Node-API for it, with
//! `napi_get_cb_info`, takes 3 to 4 of the 24 ns of an ID.
//!
//! A place is held by one environment at a time, and has a copy of each raw function: a load and a jump. When all places are
//! held, the functions of further environments ask Node-API.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use napi::sys;

/// A function that Node-API calls.
pub type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// What a raw function without arguments does.
pub trait Work {
    /// # Safety
    /// `env` must be the environment of the running call, and `data` what the function was created with.
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value;
}

/// One for each thread of most programs; `callbacks!` below has the same number.
const COUNT: usize = 16;

static PLACES: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// A place that is held, until it is dropped.
pub struct Place(usize);

impl Place {
    /// Takes a free place for the data of an environment; `None` if there is none.
    pub fn take(data: *const c_void) -> Option<Self> {
        let (free, data) = (ptr::null_mut(), data.cast_mut());
        (0..COUNT).find(|&at| PLACES[at].compare_exchange(free, data, Acquire, Relaxed).is_ok()).map(Self)
    }

    /// The raw function of this place for some work.
    fn callback<W: Work>(&self) -> Callback {
        macro_rules! callbacks {
            ($($at:literal)*) => { [$(run_at::<W, $at>),*] };
        }
        let callbacks: [Callback; COUNT] = callbacks!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        callbacks[self.0]
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        PLACES[self.0].store(ptr::null_mut(), Release);
    }
}

/// The raw function for some work. It is created with the data that the place holds, if any; then the place is held as long as
/// the function can be called.
pub fn callback<W: Work>(place: Option<&Place>) -> Callback {
    place.map_or(run::<W>, Place::callback::<W>)
}

/// Does some work with what a place holds.
///
/// # Safety
/// Only for calls by Node-API, of a function that was created as [`callback`] says.
unsafe extern "C" fn run_at<W: Work, const AT: usize>(
    env: sys::napi_env,
    _info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: `env` is that of the call in progress. By contract, the place holds the data of the function.
    unsafe { W::run(env, PLACES[AT].load(Relaxed)) }
}

/// Does some work with the data of the function that is being called.
///
/// # Safety
/// Only for calls by Node-API.
unsafe extern "C" fn run<W: Work>(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut data = ptr::null_mut();
    // SAFETY: both are those of the call in progress; null means that the other values are not wanted.
    unsafe {
        sys::napi_get_cb_info(env, info, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut data);
        W::run(env, data)
    }
}
