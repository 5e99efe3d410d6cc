//! The memory of the WebAssembly module. All threads of a process run the module on one memory, each in a separate instance
//! that JavaScript creates, so this is the allocator for them and for JavaScript.
//!
//! The memory has a fixed size: if it grew, other threads would not know at once. It ends at `__heap_end`, because the stacks
//! of other threads follow. The system provides a page of it at its first use. A thread that is terminated during an
//! allocation would leave the lock locked.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use dlmalloc::{Allocator, Dlmalloc};

#[global_allocator]
static HEAP: Heap = Heap::new();

/// All memory of the module besides its own data, as one piece.
struct OwnMemory {
    is_given: AtomicBool,
}

unsafe extern "C" {
    static __heap_base: u8;
    static __heap_end: u8;
}

// SAFETY: the linker keeps the memory between these two symbols free, and it is given out once.
unsafe impl Allocator for OwnMemory {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let (base, end) = (&raw const __heap_base, &raw const __heap_end);
        let room = end.addr() - base.addr();
        if size > room || self.is_given.swap(true, Relaxed) {
            return (ptr::null_mut(), 0, 0);
        }
        (base.cast_mut(), room, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        64 << 10
    }
}

/// An allocator for one user at a time. It spins, because a browser's main thread cannot wait.
struct Heap {
    is_locked: AtomicBool,
    allocator: UnsafeCell<Dlmalloc<OwnMemory>>,
}

// SAFETY: only `with` touches the allocator, and only for one thread at a time.
unsafe impl Sync for Heap {}

impl Heap {
    const fn new() -> Self {
        let memory = OwnMemory { is_given: AtomicBool::new(false) };
        Self { is_locked: AtomicBool::new(false), allocator: UnsafeCell::new(Dlmalloc::new_with_allocator(memory)) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Dlmalloc<OwnMemory>) -> T) -> T {
        while self.is_locked.swap(true, Acquire) {
            spin_loop();
        }
        // SAFETY: we hold the lock, and `work` cannot return here: it only calls dlmalloc.
        let made = work(unsafe { &mut *self.allocator.get() });
        self.is_locked.store(false, Release);
        made
    }
}

// SAFETY: dlmalloc fulfils this contract; each function passes on what its caller has promised.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        self.with(|heap| unsafe { heap.free(at, layout.size(), layout.align()) });
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract.
        self.with(|heap| unsafe { heap.realloc(at, layout.size(), layout.align(), size) })
    }
}

// For emnapi, which is the Node-API of the module, for the JavaScript that starts it, and for the list of thread destructors,
// which Rust's standard library keeps with C functions.

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut u8 {
    // SAFETY: any size is allowed.
    HEAP.with(|heap| unsafe { heap.c_malloc(size) })
}

/// # Safety
/// `at` must come from `malloc` and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(at: *mut u8) {
    // SAFETY: by contract.
    HEAP.with(|heap| unsafe { heap.c_free(at) });
}

/// # Safety
/// As for `free`.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(at: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: by contract.
    HEAP.with(|heap| unsafe { heap.c_realloc(at, size) })
}
