//! Mapped pages that survive the loss of what is behind them.
//!
//! The system sends SIGBUS to a process that touches a mapped page which it cannot provide: the file was truncated or made
//! immutable, the disk failed, or a copy-on-write file system has no room for the copy. By default, that ends the process.
//! Here a spare page replaces the lost one: its cursor is retired, so no number comes from it. Code that used the page checks
//! afterwards whether it was lost.

#![allow(unsafe_code)]

#[cfg(any(not(target_os = "linux"), miri))] // Miri knows no signals
pub(crate) use elsewhere::Place;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use linux::Place;

// Only Linux can replace a page in one step. Elsewhere the process ends. The signal handler uses nothing but atomics and
// system calls, and forwards signals that are meant for other handlers.
#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::mem::{offset_of, transmute, zeroed};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    };

    use crate::files::file_format::{CursorPage, SIZE};
    use crate::generator::cursor::Cursor;

    /// The place of a watched page. Places are reused but never freed, because the handler walks along them.
    #[derive(Debug)]
    pub(crate) struct Place {
        /// the page's address, or [`FREE`] or [`TAKEN`]
        start: AtomicUsize,
        is_lost: AtomicBool,
        next: Option<&'static Place>,
    }

    const FREE: usize = 0;
    const TAKEN: usize = 1;

    static PLACES: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

    /// The previous handler of the signal.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    fn places() -> impl Iterator<Item = &'static Place> {
        // SAFETY: null, or a place that `watch` leaked.
        std::iter::successors(unsafe { PLACES.load(Acquire).as_ref() }, |place| place.next)
    }

    impl Place {
        /// Watches the page at this address until [`leave`](Self::leave). The page stays mapped until then.
        pub(crate) fn watch(page: *const u8) -> &'static Self {
            handle_signals();
            let take = |place: &&Self| place.start.compare_exchange(FREE, TAKEN, AcqRel, Relaxed).is_ok();
            let place = places().find(take).unwrap_or_else(Self::add);
            place.is_lost.store(false, Relaxed);
            place.start.store(page.addr(), Release);
            place
        }

        fn add() -> &'static Self {
            let place = Self { start: AtomicUsize::new(TAKEN), is_lost: AtomicBool::new(false), next: None };
            let place = Box::into_raw(Box::new(place));
            let mut first = PLACES.load(Acquire);
            loop {
                // SAFETY: no other thread knows the new place yet; `first` is null or a place that was leaked here.
                unsafe { (*place).next = first.as_ref() };
                match PLACES.compare_exchange_weak(first, place, AcqRel, Acquire) {
                    // SAFETY: from here on, it is only written through its atomics, and it is never freed.
                    Ok(_) => return unsafe { &*place },
                    Err(now) => first = now,
                }
            }
        }

        pub(crate) fn leave(&self) {
            self.start.store(FREE, Release);
        }

        /// Whether the spare page is in place. Check this after reading: the data may come from the spare page.
        pub(crate) fn is_lost(&self) -> bool {
            self.is_lost.load(SeqCst)
        }
    }

    fn handle_signals() {
        BEFORE.get_or_init(|| {
            // SAFETY: `sigaction` is plain data, for which zeros are a value. The calls get valid pointers, and the handler
            // has the type that SA_SIGINFO asks for.
            unsafe {
                let (mut before, mut ours): (libc::sigaction, libc::sigaction) = (zeroed(), zeroed());
                libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before);
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
                ours.sa_sigaction = handler as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut());
                before
            }
        });
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: with SA_SIGINFO, the system gives every handler a valid `info`.
        let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr().addr()) };
        let page = address & !(SIZE - 1);
        if is_fault && let Some(place) = places().find(|place| place.start.load(Acquire) == page) {
            place.is_lost.store(true, SeqCst); // before any thread can read the spare page
            if put_spare_page(page) {
                return;
            }
        }
        pass_on(signal, info, context, is_fault);
    }

    /// Replaces a page with another in one step; returns whether that worked.
    fn put_spare_page(place: usize) -> bool {
        const NEXT_AT: usize = offset_of!(CursorPage, words.cursor) + Cursor::NEXT_AT;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the first call allocates SIZE bytes that only this code knows, and NEXT_AT is within them, at a multiple of
        // 8. The second call moves that memory to `place`, where a page of this size is mapped: its owner calls `leave`
        // before it unmaps it.
        unsafe {
            let spare = libc::mmap(ptr::null_mut(), SIZE, access, kind, -1, 0);
            if spare == libc::MAP_FAILED {
                return false;
            }
            spare.byte_add(NEXT_AT).cast::<u64>().write(u64::MAX); // retired
            let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            libc::mremap(spare, SIZE, SIZE, how, ptr::without_provenance_mut::<c_void>(place)) != libc::MAP_FAILED
        }
    }

    /// Forwards the signal to the previous handler.
    fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_fault: bool) {
        let Some(before) = BEFORE.get() else { return }; // it comes again
        match before.sa_sigaction {
            libc::SIG_IGN if !is_fault => {}
            // SAFETY: `sigaction` is plain data, for which zeros are a value: the default. It is valid to pass.
            libc::SIG_DFL | libc::SIG_IGN => unsafe {
                libc::sigaction(signal, &zeroed(), ptr::null_mut());
                libc::raise(signal); // delivered when this handler returns
            },
            // SAFETY: the code that set this handler declared this type.
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
                transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(handler)(
                    signal, info, context,
                );
            },
            // SAFETY: the code that set this handler declared this type.
            handler => unsafe { transmute::<usize, extern "C" fn(c_int)>(handler)(signal) },
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod elsewhere {
    /// The place of a page that is not watched.
    #[derive(Debug)]
    pub(crate) struct Place;

    impl Place {
        pub(crate) fn watch(_page: *const u8) -> &'static Self {
            &Self
        }

        pub(crate) fn leave(&self) {}

        pub(crate) fn is_lost(&self) -> bool {
            false
        }
    }
}
