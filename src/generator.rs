//! What JavaScript holds of a generator: an index for the raw functions of `hot.rs`, and the calls that
//! may cost more than one ID: batches and statistics.

use std::rc::Rc;

use flakeforge_core::generator::{Knobs, Stats as Counts};
use flakeforge_core::prefetch::PrefetchRule;
use flakeforge_core::registry::{self, Clash};
use napi::bindgen_prelude::{Env, Object, Result, Uint8Array, Uint8ArraySlice};
use napi_derive::napi;

use crate::hot::Hot;
use crate::layout::Layout;
use crate::table::ClockKind;

/// The generators of one load of the module.
#[napi]
pub struct Generators {
    /// also holds the layouts
    pub(crate) hot: Rc<Hot>,
}

#[napi]
impl Generators {
    /// `scratch`: the array of `lib/hot.js`, which it must never hand out.
    #[napi(constructor)]
    pub fn new(scratch: Uint8Array) -> Result<Self> {
        Ok(Self { hot: Rc::new(Hot::new(scratch)?) })
    }

    /// The raw functions, which find their generator through the scratch array.
    #[napi]
    pub fn functions<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.hot.functions(env)
    }
}

/// Options that `lib/options.js` has checked.
#[napi(object)]
pub struct GeneratorOptions {
    /// the whole node number
    pub node: i64,
    /// largest counter
    pub seq_mask: i64,
    /// may be Infinity
    pub max_ahead_ms: f64,
    /// how many numbers to claim before they are needed; absent: none
    pub prefetch: Option<u32>,
    /// how long they may be handed out; 0: for ever
    pub validity_ms: f64,
    /// whether the caller sets the time before each call
    pub own_clock: bool,
}

/// What a generator did: counts of the entry that all generators with the same cursor and rule share.
#[napi(object)]
pub struct Stats {
    /// IDs made
    pub ids: f64,
    /// batches made
    pub batches: f64,
    /// refusals because a tick's counter was used up
    pub overflows: f64,
    /// times the clock stepped back
    pub clock_steps: f64,
    /// waits for an ID
    pub waits: f64,
    /// how long they took together
    pub waited_ms: f64,
    /// how far the last ID is ahead of the clock
    pub ahead_ms: f64,
    /// since when all this is counted, Unix ms
    pub since_ms: f64,
}

/// One generator.
#[napi]
pub struct Generator {
    hot: Rc<Hot>,
    index: usize,
}

#[napi]
impl Generator {
    /// Opens the generator of these options, or joins the one that is open.
    #[napi(constructor)]
    pub fn new(generators: &Generators, layout: &Layout, options: GeneratorOptions) -> Result<Self> {
        let hot = generators.hot.clone();
        let validity_ns = (options.validity_ms * 1e6) as u64;
        let knobs = Knobs {
            seq_mask: options.seq_mask as u64,
            max_ahead_ms: options.max_ahead_ms,
            prefetch: options.prefetch.map(|count| PrefetchRule { count: u64::from(count), validity_ns }),
        };
        let kind = if options.own_clock { ClockKind::Given } else { ClockKind::System };
        let clash = |clash: Clash| napi::Error::from_reason(format!("{}, {}", clash.theirs, clash.ours));
        let index = hot.table.open(layout.core(), options.node as u64, &knobs, kind).map_err(clash)?;
        Ok(Self { hot, index })
    }

    /// What the scratch array names this generator by.
    #[napi(getter)]
    pub fn index(&self) -> u32 {
        self.index as u32
    }

    /// Fills `out` from the front with IDs of the generator that the scratch array names: this one. Returns
    /// [IDs made, status], status 0 when all were.
    #[napi]
    pub fn fill(&self, out: Uint8ArraySlice, big_endian: bool) -> Vec<u32> {
        let (made, status) = self.hot.fill(out, big_endian);
        vec![made as u32, status.map_or(0, |status| status as u32)]
    }

    /// Counts a wait for an ID, which took so many ms.
    #[napi]
    pub fn waited(&self, ms: f64) {
        self.hot.table.with(self.index, |generator| generator.waited(ms));
    }

    /// What was done so far.
    #[napi]
    pub fn stats(&self) -> Option<Stats> {
        self.hot.table.with(self.index, |generator| {
            let Counts { ids, batches, overflows, waits, waited_ms } = generator.stats();
            Stats {
                ids: ids as f64,
                batches: batches as f64,
                overflows: overflows as f64,
                clock_steps: generator.clock.steps() as f64,
                waits: waits as f64,
                waited_ms,
                ahead_ms: generator.ahead_ms(),
                since_ms: generator.since_ms(),
            }
        })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.hot.table.close(self.index);
    }
}

/// Names this copy of the addon within the process: two names, two registries.
#[napi]
pub fn registry_name() -> String {
    registry::name()
}
