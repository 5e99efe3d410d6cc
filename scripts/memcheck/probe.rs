//! An addon for `npm run memcheck` only: on each load it makes one memory error, so that the command can show that it detects
//! such errors, or lets the sanitizer report the memory in use. The variable MEMCHECK_PROBE chooses. It is compiled with the
//! flags of the addon and is not part of the package.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::sync::Mutex;

static KEPT: Mutex<Vec<Box<[u8; 64]>>> = Mutex::new(Vec::new());

unsafe extern "C" {
    /// of the sanitizer: the percentage of the memory, and the maximum number of allocation sites to list
    fn __sanitizer_print_memory_profile(top_percent: usize, most_places: usize);
    fn napi_get_typedarray_info(
        env: *mut c_void,
        array: *mut c_void,
        kind: *mut i32,
        length: *mut usize,
        data: *mut *mut c_void,
        buffer: *mut *mut c_void,
        offset: *mut usize,
    ) -> i32;
}

/// Node calls this on each load, with the `exports` of the module: a Uint8Array.
#[unsafe(no_mangle)]
pub extern "C" fn napi_register_module_v1(env: *mut c_void, exports: *mut c_void) -> *mut c_void {
    match std::env::var("MEMCHECK_PROBE").as_deref() {
        Ok("heap-overflow") => heap_overflow(),
        Ok("use-after-free") => use_after_free(),
        Ok("array-overflow") => array_overflow(env, exports),
        Ok("leak") => leak(),
        Ok("growth") => KEPT.lock().unwrap().push(Box::new([1; 64])),
        // SAFETY: the sanitizer is loaded, or this library would not be.
        Ok("profile") => unsafe { __sanitizer_print_memory_profile(100, usize::MAX >> 1) },
        other => panic!("MEMCHECK_PROBE names no probe: {other:?}"),
    }
    exports
}

/// Writes one element past the end of a vector.
fn heap_overflow() {
    let mut numbers = black_box(vec![0_u64; 8]);
    let behind = black_box(numbers.len());
    unsafe { numbers.as_mut_ptr().add(behind).write(1) };
    black_box(numbers);
}

/// Reads a freed box.
fn use_after_free() {
    let gone = Box::into_raw(Box::new(5_u64));
    drop(unsafe { Box::from_raw(black_box(gone)) });
    black_box(unsafe { black_box(gone).read() });
}

/// Leaks many boxes: the address of a single one might stay on a stack or in a register, and then it would not count as a leak.
fn leak() {
    for _ in 0..100 {
        std::mem::forget(black_box(Box::new([1_u8; 64])));
    }
}

/// Writes one byte past the end of a JavaScript array, like a batch of IDs that is too long.
fn array_overflow(env: *mut c_void, array: *mut c_void) {
    let (mut length, mut data) = (0, ptr::null_mut());
    let (kind, buffer, offset) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let status = unsafe { napi_get_typedarray_info(env, array, kind, &mut length, &mut data, buffer, offset) };
    assert_eq!(status, 0, "exports is no typed array");
    unsafe { data.cast::<u8>().add(black_box(length)).write(1) };
}
