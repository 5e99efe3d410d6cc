//! IDs, one per call or a batch, through raw N-API functions.
//!
//! While a generator is borrowed, no function here calls JavaScript or creates a value, because a garbage collection may run
//! finalizers there. No function should panic; if one does, `answered` makes an exception of it.

#![allow(unsafe_code)]

use std::cell::{OnceCell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::mem::{align_of, size_of};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use flakeforge_core::generator::Generator;
use flakeforge_core::layout::format::{Base, Text, id_digits};
use flakeforge_core::layout::seal::Seal;
use flakeforge_core::layout::timescale::{NS_PER_MS, Timescale};
use flakeforge_core::refusal::Refusal;
use napi::bindgen_prelude::{
    Env, FromNapiValue, JsObjectValue, Object, Result, Status as NodeStatus, Uint8Array, Unknown, panic_to_error,
};
use napi::{JsError, check_status, sys};
use slab::Slab;

use crate::number::whole;
use crate::places::{self, Callback, Place, Work};
use crate::table::Table;

/// The content of the scratch array; `lib/native/hot.ts` has the same list. JavaScript writes here between calls. Accesses
/// are as narrow as JavaScript's, because a wide load after a narrow store would stall.
///
/// A `#[napi]` method that returns a Buffer costs 830 ns and more; a bare function with a data pointer costs 16. So all
/// generators of an environment share a few bare functions, which exchange everything through a *scratch* array: JavaScript
/// writes the generator's index there, native code writes the ID back, and JavaScript creates the Buffer or the BigInt. The
/// index goes through the array because an argument costs 6 ns. One function for all generators keeps the call site
/// monomorphic.
#[repr(C)]
struct Scratch {
    /// in and out: an ID, big-endian
    bytes: Word,
    /// out: the ID as a number in this machine's byte order; in and out, for a seal
    id: Word,
    /// in: the index of the generator or seal
    index: AtomicU32,
    /// in: the base, as an index into `Base::NAMES`
    base: AtomicU32,
    /// in, for a generator whose caller sets the time: Unix ms, and the nanoseconds beyond them if the clock counts these;
    /// NaN if it counts milliseconds
    now_ms: Word,
    now_ns: Word,
    /// out, if refused: see `Refusal`
    retry_after_ms: Word,
    behind_ms: Word,
    timestamp_ms: Word,
    /// in and out, for a batch: how many of its IDs are already generated, or written as text
    made: Word,
    /// in, for a batch: its number of IDs
    wanted: Word,
    /// out: an ID that is exact as a float
    float: Word,
}

/// Eight bytes of the scratch array. The array is shared memory, so another thread might write to it, if someone gave it one:
/// that may spoil numbers, but nothing else. A relaxed atomic is as fast as a plain access.
#[repr(transparent)]
struct Word(AtomicU64);

impl Word {
    #[inline]
    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    fn set(&self, word: u64) {
        self.0.store(word, Relaxed);
    }

    #[inline]
    fn float(&self) -> f64 {
        f64::from_bits(self.get())
    }

    #[inline]
    fn set_float(&self, float: f64) {
        self.set(float.to_bits());
    }
}

/// Why a call gave no ID, as a number for JavaScript; `lib/native/hot.ts` has the same list.
#[repr(u32)]
pub enum Status {
    Overflow = 1,
    ClockBackwards = 2,
    TimeRange = 3,
    /// no generator has this index: a bug in flakeforge
    NoGenerator = 4,
    /// a lease's window has ended
    WindowEnd = 6,
    /// the file of the cursor has failed
    File = 7,
    /// the layout's IDs exceed what floats hold, or will soon
    NotExact = 8,
    /// the layout's IDs have outgrown floats
    NoLongerExact = 9,
}

/// The generators of an environment, and the scratch array for calling them.
pub struct Hot {
    /// the generators
    pub table: Table,
    /// the seals, by index
    pub seals: RefCell<Slab<Rc<Seal>>>,
    scratch: NonNull<Scratch>,
    /// where the raw functions find this; `None` if there was no free place
    place: OnceCell<Option<Place>>,
    /// keeps the array alive, and with it the memory behind `scratch`
    _owner: Uint8Array,
}

impl Hot {
    /// An empty table over a scratch array, whose memory nothing can free: it is shared memory, which JavaScript cannot
    /// transfer to another owner and which does not move. In WebAssembly it is a part of the module's own memory.
    pub fn new(array: Unknown) -> Result<Self> {
        let is_lasting = is_lasting(&array)?;
        let mut owner = Uint8Array::from_unknown(array)?;
        // SAFETY: the slice lives only in this statement, in which no other code of this thread runs, and only its address is
        // used. The pointer that remains may write, like the slice.
        let scratch = NonNull::from(unsafe { owner.as_mut() }).cast::<Scratch>();
        let fits = owner.len() == size_of::<Scratch>() && scratch.addr().get() % align_of::<Scratch>() == 0;
        if !fits || !is_lasting {
            let size = size_of::<Scratch>();
            let why = format!("the scratch array needs {size} aligned bytes of a SharedArrayBuffer");
            return Err(napi::Error::new(NodeStatus::InvalidArg, why));
        }
        Ok(Self { table: Table::default(), seals: RefCell::default(), scratch, place: OnceCell::new(), _owner: owner })
    }

    #[inline]
    fn scratch(&self) -> &Scratch {
        // SAFETY: `new` checked size and alignment, and that nothing can take the memory away while `_owner` keeps it alive.
        // Every bit pattern is valid, and all accesses are atomic.
        unsafe { self.scratch.as_ref() }
    }

    /// Calls `f` with the generator of the index in the scratch array, after setting its time if the caller does that; `None`
    /// if there is no such generator.
    #[inline]
    fn with_generator<T>(&self, f: impl FnOnce(&mut Generator) -> T) -> Option<T> {
        let scratch = self.scratch();
        self.table.with(scratch.index.load(Relaxed) as usize, |generator| {
            if generator.clock().is_given() {
                generator.set_time(scratch.now(generator.clock().scale()));
            }
            f(generator)
        })
    }

    /// Takes an ID from the generator of the index in the scratch array, and writes it there.
    #[inline]
    fn claim(&self) -> std::result::Result<(), Status> {
        let scratch = self.scratch();
        let made = self.with_generator(Generator::next_id);
        match made {
            Some(Ok(id)) => {
                scratch.bytes.set(id.to_be());
                scratch.id.set(id);
                Ok(())
            }
            Some(Err(refusal)) => Err(scratch.refuse(refusal)),
            None => Err(Status::NoGenerator),
        }
    }

    /// The same for an ID that is exact as a float.
    #[inline]
    fn claim_float(&self) -> std::result::Result<(), Status> {
        let scratch = self.scratch();
        match self.with_generator(Generator::next_exact) {
            Some(Ok(id)) => {
                scratch.float.set_float(id.cast_signed() as f64); // the cast of a u64 takes 1 ns longer
                Ok(())
            }
            Some(Err(refusal)) => Err(scratch.refuse(refusal)),
            None => Err(Status::NoGenerator),
        }
    }

    /// Changes the ID in the scratch array with the seal of the index there. JavaScript would take the ID for the result if it
    /// stayed unchanged, so a missing seal is an exception and not a status.
    #[inline]
    fn change_id(&self, change: impl FnOnce(&Seal, u64) -> u64) -> Result<()> {
        let scratch = self.scratch();
        let seals = self.seals.borrow();
        let seal = seals.get(scratch.index.load(Relaxed) as usize);
        let seal = seal.ok_or_else(|| napi::Error::from_reason("no seal has this index"))?;
        scratch.id.set(change(seal, scratch.id.get()));
        Ok(())
    }

    /// Fills a batch with IDs of the generator in the scratch array, from the first missing one to the last wanted one.
    /// `fill` writes them to the rest of the batch.
    fn fill<T>(
        &self,
        ids: &mut [T],
        fill: impl FnOnce(&mut Generator, &mut [T]) -> (usize, Option<Refusal>),
    ) -> std::result::Result<(), Status> {
        let scratch = self.scratch();
        let Range { start: made, end: wanted } = scratch.batch().ok_or(Status::NoGenerator)?;
        let rest = ids.get_mut(made..wanted).ok_or(Status::NoGenerator)?;
        let filled = self.with_generator(|generator| fill(generator, rest));
        let (more, refusal) = filled.ok_or(Status::NoGenerator)?;
        scratch.made.set_float((made + more) as f64);
        refusal.map_or(Ok(()), |refusal| Err(scratch.refuse(refusal)))
    }

    /// Writes IDs of a batch as text, each followed by a space: from the first one not yet written to the last wanted one,
    /// but at most `SOME`. The scratch array then has their common width, or 0 if the widths differ.
    fn spell<'a>(&self, ids: &[[u8; 8]], room: &'a mut Texts) -> Option<&'a [u8]> {
        let scratch = self.scratch();
        let (mut at, mut narrowest, mut widest) = (0, usize::MAX, 0);
        for id in ids.get(scratch.batch()?)?.iter().take(SOME) {
            let width = scratch.digits(u64::from_be_bytes(*id), room[at..].first_chunk_mut()?)?.len();
            room[at + width] = b' ';
            at += width + 1;
            (narrowest, widest) = (narrowest.min(width), widest.max(width));
        }
        scratch.made.set_float(if narrowest == widest { widest as f64 } else { 0.0 });
        Some(&room[..at])
    }

    /// An object with the raw functions.
    pub fn functions<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Object<'env>> {
        let mut object = Object::new(env)?;
        object.set_named_property("claim", self.function(env, c"claim", self.callback::<Claim>())?)?;
        object.set_named_property("claimText", self.function(env, c"claimText", self.callback::<ClaimText>())?)?;
        object.set_named_property("claimFloat", self.function(env, c"claimFloat", self.callback::<ClaimFloat>())?)?;
        object.set_named_property("fillBytes", self.function(env, c"fillBytes", fill_bytes)?)?;
        object.set_named_property("fillNumbers", self.function(env, c"fillNumbers", fill_numbers)?)?;
        object.set_named_property("fillFloats", self.function(env, c"fillFloats", fill_floats)?)?;
        object.set_named_property("spell", self.function(env, c"spell", self.callback::<Spell>())?)?;
        object.set_named_property("spellSome", self.function(env, c"spellSome", spell_some)?)?;
        object.set_named_property("seal", self.function(env, c"seal", self.callback::<SealId>())?)?;
        object.set_named_property("open", self.function(env, c"open", self.callback::<OpenId>())?)?;
        Ok(object)
    }

    /// The raw function for some work. It keeps `self` alive, which holds the place.
    fn callback<W: Work>(self: &Rc<Self>) -> Callback {
        let place = self.place.get_or_init(|| Place::take(Rc::as_ptr(self).cast()));
        places::callback::<W>(place.as_ref())
    }

    fn function<'env>(self: &Rc<Self>, env: &'env Env, name: &CStr, callback: Callback) -> Result<Unknown<'env>> {
        let data = Rc::into_raw(self.clone()).cast_mut().cast::<c_void>();
        let mut function = ptr::null_mut();
        // SAFETY: `env` is the live environment of this call. `data` is a strong count of an `Rc`, which the function owns
        // from here on: the finalizer, which runs once and after the last call, releases it.
        unsafe {
            check_status!(sys::napi_create_function(
                env.raw(),
                name.as_ptr(),
                WHOLE_TEXT,
                Some(callback),
                data,
                &mut function
            ))?;
            check_status!(sys::napi_add_finalizer(
                env.raw(),
                function,
                data,
                Some(release),
                ptr::null_mut(),
                ptr::null_mut()
            ))?;
            Ok(Unknown::from_raw_unchecked(env.raw(), function))
        }
    }
}

/// Where Node-API wants the length of a text: up to the NUL.
const WHOLE_TEXT: isize = -1;

/// Whether nothing can free the memory of a typed array while the array lives: it is not that of an ArrayBuffer, which can be
/// transferred.
#[cfg(not(target_family = "wasm"))]
fn is_lasting(array: &Unknown) -> Result<bool> {
    use napi::JsValue as _;

    let env = array.value().env;
    let (mut buffer, mut is_transferable) = (ptr::null_mut(), true);
    // SAFETY: both are of the call in progress; null means that the other values are not wanted.
    unsafe {
        let (kind, length, data, offset) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        check_status!(sys::napi_get_typedarray_info(env, array.raw(), kind, length, data, &mut buffer, offset))?;
        check_status!(sys::napi_is_arraybuffer(env, buffer, &mut is_transferable))?;
    }
    Ok(!is_transferable)
}

/// The module's memory is never freed, and other memory would only be a copy.
#[cfg(target_family = "wasm")]
fn is_lasting(_array: &Unknown) -> Result<bool> {
    Ok(true)
}

/// How many IDs one call writes as text. Each string cut from that text keeps all of it alive, so it may not be long.
const SOME: usize = 32;

/// Room for that many, each followed by a space.
type Texts = [u8; SOME * (size_of::<Text>() + 1)];

impl Scratch {
    /// Unix nanoseconds. A time that does not fit saturates, and is out of range for every layout.
    fn now(&self, scale: Timescale) -> i128 {
        let (ms, ns) = (self.now_ms.float(), self.now_ns.float());
        if ns.is_nan() {
            return scale.instant_of(ms);
        }
        #[expect(clippy::cast_possible_truncation, reason = "it saturates, as it should")]
        let (ms, ns) = (ms as i128, ns as i128);
        ms.saturating_mul(i128::from(NS_PER_MS)).saturating_add(ns)
    }

    /// Which IDs of a batch are wanted.
    fn batch(&self) -> Option<Range<usize>> {
        let place = |word: &Word| usize::try_from(whole(word.float())?).ok();
        Some(place(&self.made)?..place(&self.wanted)?)
    }

    #[cold]
    fn refuse(&self, refusal: Refusal) -> Status {
        match refusal {
            Refusal::Overflow { retry_after_ms } => {
                self.retry_after_ms.set_float(retry_after_ms);
                Status::Overflow
            }
            Refusal::ClockBackwards { behind_ms, retry_after_ms } => {
                self.behind_ms.set_float(behind_ms);
                self.retry_after_ms.set_float(retry_after_ms);
                Status::ClockBackwards
            }
            Refusal::TimeRange { timestamp_ms } => {
                self.timestamp_ms.set_float(timestamp_ms);
                Status::TimeRange
            }
            Refusal::WindowEnd => Status::WindowEnd,
            Refusal::NotExact => Status::NotExact,
            Refusal::NoLongerExact => Status::NoLongerExact,
            _ => Status::File, // Failed: generators give none of the others
        }
    }

    /// An ID in the base of the scratch array; `None` if there is no such base.
    fn digits<'a>(&self, id: u64, room: &'a mut Text) -> Option<&'a [u8]> {
        let (_, base) = *Base::NAMES.get(self.base.load(Relaxed) as usize)?;
        Some(id_digits(id, base, room))
    }
}

/// The representation of `undefined` in a raw callback.
const UNDEFINED: sys::napi_value = ptr::null_mut();

/// `claim()`: returns undefined, with the ID in the scratch array; or returns a status.
struct Claim;

impl Work for Claim {
    #[inline(never)] // one copy for all places
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        // SAFETY: by contract.
        unsafe { answer(env, hot(data), Hot::claim) }
    }
}

/// `claimFloat()`: returns undefined, with the ID as a float in the scratch array; or returns a status.
struct ClaimFloat;

impl Work for ClaimFloat {
    #[inline(never)]
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        // SAFETY: by contract.
        unsafe { answer(env, hot(data), Hot::claim_float) }
    }
}

/// `fillBytes(array)`: returns undefined, with the batch in the array, each ID big-endian; or returns a status. The scratch
/// array has the number of IDs.
unsafe extern "C" fn fill_bytes(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: N-API calls this with its live `env` and `info`, and only as created by `Hot::function`.
    unsafe {
        answer_with_array(env, info, |hot, ids| hot.fill(ids, |generator, rest| generator.fill(rest, u64::to_be_bytes)))
    }
}

/// `fillNumbers(array)`: the same, with each ID in this machine's byte order.
unsafe extern "C" fn fill_numbers(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: as in `fill_bytes`.
    unsafe {
        answer_with_array(env, info, |hot, ids| hot.fill(ids, |generator, rest| generator.fill(rest, u64::to_ne_bytes)))
    }
}

/// `fillFloats(array)`: the same, with each ID as a float in this machine's byte order.
unsafe extern "C" fn fill_floats(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let write = |id: u64| (id.cast_signed() as f64).to_ne_bytes();
    // SAFETY: as in `fill_bytes`.
    unsafe {
        answer_with_array(env, info, |hot, ids| hot.fill(ids, |generator, rest| generator.fill_exact(rest, write)))
    }
}

/// `claimText()`: returns the ID as text in the base of the scratch array; or a status.
struct ClaimText;

impl Work for ClaimText {
    #[inline(never)]
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        let work = || {
            // SAFETY: by contract.
            let Some(hot) = (unsafe { hot(data) }) else { return UNDEFINED };
            match hot.claim() {
                // SAFETY: by contract.
                Ok(()) => unsafe { text(env, hot.scratch(), hot.scratch().id.get()) },
                // SAFETY: by contract.
                Err(status) => unsafe { number(env, status) },
            }
        };
        // SAFETY: by contract.
        unsafe { answered(env, work) }
    }
}

/// `spell()`: returns the ID whose bytes are in the scratch array, as text in the base given there.
struct Spell;

impl Work for Spell {
    #[inline(never)]
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        let work = || {
            // SAFETY: by contract.
            let Some(hot) = (unsafe { hot(data) }) else { return UNDEFINED };
            // SAFETY: by contract.
            unsafe { text(env, hot.scratch(), u64::from_be(hot.scratch().bytes.get())) }
        };
        // SAFETY: by contract.
        unsafe { answered(env, work) }
    }
}

/// `spellSome(array)`: returns IDs of the batch in the array as one text, each followed by a space. The scratch array says
/// which ones, and afterwards has their width.
unsafe extern "C" fn spell_some(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let work = || {
        // SAFETY: as in `fill_bytes`.
        let (hot, ids) = unsafe { called_with(env, info) };
        let mut room = [0; size_of::<Texts>()];
        let digits = hot.and_then(|hot| hot.spell(ids, &mut room));
        // SAFETY: as in `fill_bytes`.
        digits.map_or(UNDEFINED, |digits| unsafe { latin1(env, digits) })
    };
    // SAFETY: as in `fill_bytes`.
    unsafe { answered(env, work) }
}

/// `seal()`: seals the ID in the scratch array, a number; throws if there is no such seal.
struct SealId;

impl Work for SealId {
    #[inline(never)]
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        // SAFETY: by contract.
        unsafe { answer_changed(env, data, Seal::seal) }
    }
}

/// `open()`: opens it.
struct OpenId;

impl Work for OpenId {
    #[inline(never)]
    unsafe extern "C" fn run(env: sys::napi_env, data: *const c_void) -> sys::napi_value {
        // SAFETY: by contract.
        unsafe { answer_changed(env, data, Seal::open) }
    }
}

/// Runs a raw function that changes the ID in the scratch array with a seal.
///
/// # Safety
/// As for `Work::run`.
#[inline]
unsafe fn answer_changed(
    env: sys::napi_env,
    data: *const c_void,
    change: impl FnOnce(&Seal, u64) -> u64,
) -> sys::napi_value {
    let work = || {
        // SAFETY: by contract.
        if let Some(Err(why)) = unsafe { hot(data) }.map(|hot| hot.change_id(change)) {
            // SAFETY: by contract.
            unsafe { JsError::from(why).throw_into(env) };
        }
        UNDEFINED
    };
    // SAFETY: by contract.
    unsafe { answered(env, work) }
}

/// Runs a raw function: returns undefined if it succeeded, else the status.
///
/// # Safety
/// `env` must be the environment of the running call.
#[inline]
unsafe fn answer(
    env: sys::napi_env,
    hot: Option<&Hot>,
    work: impl FnOnce(&Hot) -> std::result::Result<(), Status>,
) -> sys::napi_value {
    let work = || {
        match hot.map_or(Err(Status::NoGenerator), work) {
            Ok(()) => UNDEFINED,
            // SAFETY: by contract.
            Err(status) => unsafe { number(env, status) },
        }
    };
    // SAFETY: by contract.
    unsafe { answered(env, work) }
}

/// The result of a raw function. A panic, which is a bug in flakeforge, becomes an exception like those of `#[napi]`
/// functions; past this frame, it would end the process.
///
/// # Safety
/// `env` must be the environment of the running call.
#[inline]
unsafe fn answered(env: sys::napi_env, work: impl FnOnce() -> sys::napi_value) -> sys::napi_value {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // SAFETY: by contract.
        unsafe { JsError::from(panic_to_error(panic)).throw_into(env) };
        UNDEFINED
    })
}

/// The same for a raw function that takes a Uint8Array, as IDs of 8 bytes each.
///
/// # Safety
/// As for `called_with`.
#[inline]
unsafe fn answer_with_array(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    work: impl FnOnce(&Hot, &mut [[u8; 8]]) -> std::result::Result<(), Status>,
) -> sys::napi_value {
    // SAFETY: by contract.
    let (hot, ids) = unsafe { called_with(env, info) };
    // SAFETY: by contract.
    unsafe { answer(env, hot, |hot| work(hot, ids)) }
}

/// What a raw function that takes a Uint8Array was called with: its environment's generators, and the array as IDs of 8 bytes
/// each.
///
/// # Safety
/// `env` and `info` must be those of a call in progress of a function that `Hot::function` created; JavaScript passes only arrays
/// that no other code can read or write meanwhile; and the returned slice may not outlive the call.
#[inline]
unsafe fn called_with<'call>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> (Option<&'call Hot>, &'call mut [[u8; 8]]) {
    let (mut count, mut array, mut data) = (1, UNDEFINED, ptr::null_mut());
    let (mut kind, mut length, mut start) = (0, 0, ptr::null_mut());
    // SAFETY: by contract; there is room for the one argument, and null means that the other values are not wanted.
    unsafe {
        sys::napi_get_cb_info(env, info, &mut count, &mut array, ptr::null_mut(), &mut data);
        let (no_buffer, no_offset) = (ptr::null_mut(), ptr::null_mut());
        sys::napi_get_typedarray_info(env, array, &mut kind, &mut length, &mut start, no_buffer, no_offset);
    }
    let bytes: &mut [u8] = match NonNull::new(start.cast::<u8>()) {
        // SAFETY: these are the bytes of a live Uint8Array. lib/ passes only arrays that it has created and not yet shared,
        // so no other thread has them, and no JavaScript of this thread runs before this function returns.
        Some(start) if kind == sys::TypedarrayType::uint8_array => unsafe {
            std::slice::from_raw_parts_mut(start.as_ptr(), length)
        },
        _ => &mut [],
    };
    // SAFETY: by contract.
    (unsafe { hot(data) }, bytes.as_chunks_mut::<8>().0)
}

/// The `Rc<Hot>` that `Hot::function` left as the data of a raw function. The function cannot be collected before the call has
/// returned, so its finalizer has not released the count.
///
/// # Safety
/// `data` must be that of the raw function that is being called.
#[inline]
unsafe fn hot<'call>(data: *const c_void) -> Option<&'call Hot> {
    // SAFETY: by contract.
    unsafe { data.cast::<Hot>().as_ref() }
}

/// # Safety
/// `env` must be the environment of the running call.
#[cold]
unsafe fn number(env: sys::napi_env, status: Status) -> sys::napi_value {
    let mut value = UNDEFINED;
    // SAFETY: by contract. If it fails, `value` stays undefined, and the exception is pending.
    unsafe { sys::napi_create_uint32(env, status as u32, &mut value) };
    value
}

/// # Safety
/// `env` must be the environment of the running call.
#[inline]
unsafe fn text(env: sys::napi_env, scratch: &Scratch, id: u64) -> sys::napi_value {
    let mut room = [0; size_of::<Text>()];
    // SAFETY: by contract.
    scratch.digits(id, &mut room).map_or(UNDEFINED, |digits| unsafe { latin1(env, digits) })
}

/// # Safety
/// `env` must be the environment of the running call.
#[inline]
unsafe fn latin1(env: sys::napi_env, text: &[u8]) -> sys::napi_value {
    let mut value = UNDEFINED;
    // SAFETY: by contract; the bytes have the given length, and are copied.
    unsafe {
        sys::napi_create_string_latin1(env, text.as_ptr().cast::<c_char>(), text.len().cast_signed(), &mut value)
    };
    value
}

/// Releases the count that a raw function held.
unsafe extern "C" fn release(_env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `data` came from `Rc::into_raw` in `Hot::function`; N-API calls a finalizer once, on the
    // thread of its environment, the one that the `Rc` belongs to.
    drop(unsafe { Rc::from_raw(data.cast::<Hot>()) });
}
