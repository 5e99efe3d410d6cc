//! A generator for JavaScript: an index for the raw functions of `hot.rs`, and the calls that need not be as fast, such as
//! statistics.

use std::num::NonZeroU64;
use std::rc::Rc;

use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::registry::{Key, KeyLease};
use flakeforge_core::generator::{self, Knobs, Stats as Counts};
use flakeforge_core::open::attachment::Attachment;
use flakeforge_core::open::process::registry;
use flakeforge_core::refusal::Refusal;
use napi::bindgen_prelude::{Either, Error, Result};
use napi_derive::napi;

use crate::generators::Generators;
use crate::hot::Hot;
use crate::layout::Layout;
use crate::number::{Millis, Whole};
use crate::problem::{Problem, opened};
use crate::slots::Slot;
use crate::table::Origin;

/// Options that `lib/generator/options.ts` has validated.
#[napi(object)]
pub struct GeneratorOptions {
    /// the whole node number
    pub node: Whole<u64>,
    /// largest counter
    pub seq_mask: Whole<u64>,
    /// may be Infinity
    pub max_ahead_ms: Millis,
    /// whether ticks start at a random counter
    pub is_start_random: Option<bool>,
    /// how many numbers to claim before they are needed; none if absent
    pub prefetch: Option<Whole<u32>>,
    /// how long they may be returned; 0 means forever
    pub validity_ms: Millis,
    /// whether the caller sets the time before each call
    pub own_clock: bool,
    /// the group, for the generator of a lease
    pub group: Option<String>,
}

/// What a generator has done, summed over all generators that share its cursor and rule.
#[napi(object, object_from_js = false)]
#[derive(Clone)]
pub struct Stats {
    /// IDs generated
    pub ids: f64,
    /// batches generated
    pub batches: f64,
    /// refusals because the counter of a tick was exhausted
    pub overflows: f64,
    /// times the clock stepped back
    pub clock_steps: f64,
    /// waits for an ID
    pub waits: f64,
    /// total duration of the waits
    pub waited_ms: f64,
    /// how far the last ID is ahead of the clock
    pub ahead_ms: f64,
    /// when the counting began, Unix ms
    pub since_ms: f64,
}

#[napi]
impl Generators {
    /// The generator for these options. If one is already open, this is the same one.
    #[napi(catch_unwind)]
    pub fn open(&self, layout: &Layout, options: GeneratorOptions) -> Either<Generator, Problem> {
        let origin = |key| match options.own_clock {
            true => Ok(Origin::Given),
            false => registry().plain(key).map(Origin::Process),
        };
        opened(self.generator(layout, &options, origin))
    }

    /// The same with a cursor in a file.
    #[napi(catch_unwind)]
    pub fn open_shared(&self, layout: &Layout, options: GeneratorOptions, path: String) -> Either<Generator, Problem> {
        let origin = |key| registry().shared(key, path.as_ref()).map(Origin::File);
        opened(self.generator(layout, &options, origin))
    }

    /// The generator of a lease, for the window from `lo` to `hi`, Unix ms, both included.
    #[napi(catch_unwind)]
    pub fn open_window(
        &self,
        layout: &Layout,
        options: GeneratorOptions,
        lo: Whole<i64>,
        hi: Whole<i64>,
    ) -> Either<Generator, Problem> {
        let begin = |held| {
            let (cursor, attachment) = Attachment::in_window(layout.core(), held, lo.0, hi.0);
            (Origin::Window(cursor), attachment)
        };
        opened(self.leased(layout, &options, begin))
    }

    /// The generator of a lease, on a slot file.
    #[napi(catch_unwind)]
    pub fn open_slot(
        &self,
        layout: &Layout,
        options: GeneratorOptions,
        slot: &Slot,
    ) -> Result<Either<Generator, Problem>> {
        let file = slot
            .cursor()
            .ok_or_else(|| Error::from_reason("lib/stores/file-store.ts passed a slot that it has released"))?;
        let begin = |held| (Origin::File(file.clone()), Attachment::on_file(layout.core(), held, file));
        Ok(opened(self.leased(layout, &options, begin)))
    }

    fn leased(
        &self,
        layout: &Layout,
        options: &GeneratorOptions,
        begin: impl FnOnce(KeyLease) -> (Origin, Attachment),
    ) -> std::result::Result<Generator, Refusal> {
        let mut attached = None;
        let origin = |key| {
            let held = registry().lease(key)?;
            let (origin, attachment) = begin(held);
            attached = Some(attachment);
            Ok(origin)
        };
        let mut generator = self.generator(layout, options, origin)?;
        generator.attachment = attached;
        Ok(generator)
    }

    /// Opens a generator; `origin` returns the source of the numbers for its key.
    pub(crate) fn generator(
        &self,
        layout: &Layout,
        options: &GeneratorOptions,
        origin: impl FnOnce(Key) -> std::result::Result<Origin, Refusal>,
    ) -> std::result::Result<Generator, Refusal> {
        let (hot, layout, knobs) = (self.hot.clone(), layout.core(), options.knobs());
        let node = layout.place_node(options.node.0);
        let origin = origin(Key::new(layout, node))?;
        let index = hot.table.open(layout, node, &knobs, origin, options.group.as_deref());
        Ok(Generator { hot, index, attachment: None, at_end: None })
    }
}

impl GeneratorOptions {
    fn knobs(&self) -> Knobs {
        Knobs {
            seq_mask: self.seq_mask.0,
            max_ahead_ms: self.max_ahead_ms.0,
            is_start_random: self.is_start_random.unwrap_or_default(),
            prefetch: self
                .prefetch
                .and_then(|count| NonZeroU64::new(count.0.into()))
                .map(|count| PrefetchRule { count, validity_ns: self.validity_ms.ns() }),
        }
    }
}

/// A generator.
#[napi]
pub struct Generator {
    hot: Rc<Hot>,
    index: usize,
    attachment: Option<Attachment>,
    /// the final statistics after it was closed, when the index belongs to another one
    at_end: Option<Stats>,
}

#[napi]
impl Generator {
    /// The index of this generator in the scratch array.
    #[napi(getter, catch_unwind)]
    pub fn index(&self) -> Result<u32> {
        u32::try_from(self.index).map_err(|_| Error::from_reason("this process has 2^32 generators"))
    }

    /// Records a wait of `ms` milliseconds for an ID.
    #[napi(catch_unwind)]
    pub fn waited(&self, ms: Millis) {
        self.with(|generator| generator.waited(ms.0));
    }

    /// For the generator of a lease: ends its window at `hi`, and starts it at `lo` if that is later; Unix ms.
    #[napi(catch_unwind)]
    pub fn raise(&self, lo: Whole<i64>, hi: Whole<i64>) {
        if let Some(attachment) = &self.attachment {
            attachment.raise(lo.0, hi.0);
        }
    }

    /// For the generator of a lease: stops generating IDs. Returns the last ms (Unix) in which one was generated, or −1.
    #[napi(catch_unwind)]
    pub fn retire(&self) -> i64 {
        self.attachment.as_ref().map_or(-1, Attachment::retire)
    }

    /// What is wrong with the cursor's file, after a call that reported a failure.
    #[napi(catch_unwind)]
    pub fn fault(&self) -> Option<Problem> {
        if self.at_end.is_some() { None } else { self.hot.table.fault(self.index).map(Problem::from) }
    }

    /// The statistics so far.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> Option<Stats> {
        self.at_end.clone().or_else(|| self.with(stats_of))
    }

    /// Closes its file now, instead of when this object is collected. Only the statistics remain.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        if self.at_end.is_some() {
            return;
        }
        self.at_end = self.stats();
        self.attachment = None;
        self.hot.table.close(self.index);
    }

    fn with<T>(&self, f: impl FnOnce(&mut generator::Generator) -> T) -> Option<T> {
        if self.at_end.is_some() { None } else { self.hot.table.with(self.index, f) }
    }
}

fn stats_of(generator: &mut generator::Generator) -> Stats {
    let Counts { ids, batches, overflows, waits, waited_ms } = generator.stats();
    Stats {
        ids: ids as f64,
        batches: batches as f64,
        overflows: overflows as f64,
        clock_steps: generator.clock().steps() as f64,
        waits: waits as f64,
        waited_ms,
        ahead_ms: generator.ahead_ms(),
        since_ms: generator.since_ms(),
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        if self.at_end.is_none() {
            self.hot.table.close(self.index);
        }
    }
}
