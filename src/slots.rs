//! Slot files for JavaScript: a group's folder, a held slot, and the counters in the same store. The core turns the names of
//! groups and counters into file names.

use std::path::Path;

use flakeforge_core::files::counters::{self, Block, CounterInfo};
use flakeforge_core::files::group::{self, FolderConfig};
use flakeforge_core::files::holder_record::HolderRecord;
use flakeforge_core::files::listing::{self, SlotInfo, SlotList};
use flakeforge_core::files::names;
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::files::slots::{self, HeldSlot, Renewal};
use flakeforge_core::generator::clock::system_ns;
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::layout::timescale::{Timescale, to_ms};
use flakeforge_core::refusal::Refusal;
use napi::bindgen_prelude::{BigInt, Either, Either3, Error, Result};
use napi_derive::napi;
use std::sync::Arc;

use crate::disk::{Later, later};
use crate::layout::Scale;
use crate::number::{Big, Token, Whole};
use crate::problem::{Problem, opened};

/// A lineage, 16 hex digits.
fn in_hex(lineage: u64) -> String {
    format!("{lineage:016x}")
}

/// What the members of a group have in common.
#[napi(object)]
pub struct SlotFolderConfig {
    /// as text, shown if there is a mismatch
    pub fingerprint: String,
    /// number of slots
    pub slots: Whole<u32>,
    /// how numbers follow from time
    pub scale: Scale,
}

/// A group of slots.
#[napi]
pub struct SlotFolder {
    core: Option<Arc<slots::SlotFolder>>,
    is_new: bool,
}

/// Why there is no slot.
#[napi(object, object_from_js = false)]
pub struct NoSlot {
    /// when to look again, Unix ms; absent if the group was destroyed
    pub retry_at: Option<i64>,
    /// the time now, Unix ms
    pub store_now: f64,
    /// identifies the group: 16 hex digits
    pub lineage: String,
}

/// Opens the group of this name in a store's folder; creates it if there is none.
#[napi(catch_unwind, ts_return_type = "Promise<SlotFolder | Problem>")]
pub fn open_slots(
    store: String,
    group: String,
    config: SlotFolderConfig,
) -> Result<Later<Either<SlotFolder, Problem>>> {
    let SlotFolderConfig { fingerprint, slots, scale: Scale { epoch_ms, tick_ns, counter_bits } } = config;
    let scale = Timescale::of_all_ticks(epoch_ms.0, tick_ns.0);
    let config = FolderConfig { fingerprint, slots: slots.0, numbers: Numbers::new(scale, counter_bits.0) };
    let folder = names::group_folder(Path::new(&store), &group);
    later(move || {
        let found = slots::SlotFolder::open(folder, config);
        Ok(opened(found.map(|core| SlotFolder { is_new: core.is_new(), core: Some(core.into()) })))
    })
}

#[napi]
impl SlotFolder {
    /// Whether opening the group created it.
    #[napi(getter, catch_unwind)]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Takes a free slot.
    #[napi(catch_unwind, ts_return_type = "Promise<Slot | NoSlot | Problem>")]
    pub fn acquire(&self, owner: Token, host: String) -> Result<Later<Either3<Slot, NoSlot, Problem>>> {
        let core =
            self.core.clone().ok_or_else(|| Error::from_reason("lib/stores/file-store.ts closed this folder"))?;
        later(move || {
            let store_now = to_ms(system_ns()).floor();
            let taken = core.acquire(owner.0, &host);
            let lineage = in_hex(core.lineage());
            Ok(match taken {
                Ok(held) => Either3::A(Slot { held: Some(held) }),
                Err(Refusal::Exhausted { retry_at_ms }) => {
                    Either3::B(NoSlot { retry_at: Some(retry_at_ms), store_now, lineage })
                }
                Err(Refusal::Destroyed) => Either3::B(NoSlot { retry_at: None, store_now, lineage }),
                Err(error) => Either3::C(error.into()),
            })
        })
    }

    /// Closes its file now, instead of when this object is collected.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        self.core = None;
    }
}

/// Ends a group for all members.
#[napi(catch_unwind, ts_return_type = "Promise<Problem | null>")]
pub fn destroy_slots(store: String, group: String) -> Result<Later<Option<Problem>>> {
    let folder = names::group_folder(Path::new(&store), &group);
    later(move || Ok(group::destroy(&folder).err().map(Problem::from)))
}

/// The folder of a group, whether it exists or not.
#[napi(catch_unwind)]
pub fn group_folder(store: String, group: String) -> String {
    names::group_folder(Path::new(&store), &group).to_string_lossy().into_owned()
}

/// A slot, held until it is released or this object is collected.
#[napi]
pub struct Slot {
    held: Option<HeldSlot>,
}

/// The time that a holder may use, Unix ms, both ends included.
#[napi(object, object_from_js = false)]
pub struct Window {
    /// first ms
    pub lo: i64,
    /// last ms
    pub hi: i64,
}

#[napi]
impl Slot {
    /// Its number.
    #[napi(getter, catch_unwind)]
    pub fn slot(&self) -> Option<u32> {
        self.held.as_ref().map(HeldSlot::slot)
    }

    /// Identifies its group: 16 hex digits.
    #[napi(getter, catch_unwind)]
    pub fn lineage(&self) -> Option<String> {
        self.held.as_ref().map(|held| in_hex(held.lineage()))
    }

    /// Whether its group was destroyed: a look at memory that all members of the machine share.
    #[napi(getter, catch_unwind)]
    pub fn is_destroyed(&self) -> bool {
        self.held.as_ref().is_some_and(HeldSlot::is_destroyed)
    }

    /// The time from the current tick, whose used part the cursor in the file knows, to the end of its mark.
    #[napi(getter, catch_unwind)]
    pub fn window(&self) -> Option<Window> {
        self.held.as_ref().map(|held| Window { lo: held.tick_ms(), hi: held.hi_ms() })
    }

    /// Moves the window forward. Returns null if that worked, or 'lost' or 'destroyed' if the slot is no longer held.
    #[napi(catch_unwind)]
    pub fn renew(&mut self) -> Option<Either<&'static str, Problem>> {
        let Some(held) = &self.held else { return Some(Either::A("lost")) };
        let ended = match held.renew() {
            Ok(Renewal::Window { .. }) => return None,
            Ok(Renewal::Lost) => "lost",
            Ok(Renewal::Destroyed) => "destroyed",
            Err(error) => return Some(Either::B(error.into())),
        };
        self.held = None; // release the lock now, not when this object is collected
        Some(Either::A(ended))
    }

    /// Gives the slot back. `last`: the last Unix ms used, if the holder does not take numbers from the file.
    #[napi(catch_unwind)]
    pub fn release(&mut self, last: Whole<i64>) {
        if let Some(held) = self.held.take() {
            held.release(last.0);
        }
    }

    /// The cursor in its file; from here on, the file keeps track of what is used.
    pub fn cursor(&self) -> Option<Arc<SharedCursor>> {
        self.held.as_ref().map(HeldSlot::cursor)
    }
}

/// A slot, as described by its file.
#[napi(object, object_from_js = false)]
pub struct SlotRow {
    /// its number
    pub slot: u32,
    /// 32 hex digits; absent while the slot is free
    pub owner: Option<String>,
    /// the present or last process that holds it
    pub pid: Option<u32>,
    /// its host name
    pub host: Option<String>,
    /// when it took the slot, Unix ms
    pub since: Option<i64>,
    /// when the last ID was generated, Unix ms
    pub last: Option<i64>,
    /// how far IDs may go at present, Unix ms
    pub hi: Option<i64>,
}

impl From<SlotInfo> for SlotRow {
    fn from(info: SlotInfo) -> Self {
        let SlotInfo { slot, is_held, holder, last_ms, hi_ms } = info;
        let row = Self { slot, owner: None, pid: None, host: None, since: None, last: last_ms, hi: hi_ms };
        match holder {
            Some(HolderRecord { owner, pid, host, since_ms }) if is_held => {
                let owner = Some(format!("{owner:032x}"));
                Self { owner, pid: Some(pid), host: Some(host), since: Some(since_ms), ..row }
            }
            holder => Self { host: holder.map(|holder| holder.host), ..row },
        }
    }
}

/// The slots of a group.
#[napi(object, object_from_js = false)]
pub struct SlotRows {
    /// the slots that were ever held and can be read
    pub slots: Vec<SlotRow>,
    /// what is wrong with the files of other slots
    pub faults: Vec<Problem>,
}

/// The slots of a group that were ever held.
#[napi(catch_unwind)]
pub fn list_slots(store: String, group: String) -> Either<SlotRows, Problem> {
    let folder = names::group_folder(Path::new(&store), &group);
    opened(listing::list(&folder).map(|SlotList { slots, faults }| SlotRows {
        slots: slots.into_iter().map(SlotRow::from).collect(),
        faults: faults.into_iter().map(Problem::from).collect(),
    }))
}

/// The names of a store's groups.
#[napi(catch_unwind)]
pub fn list_groups(store: String) -> Either<Vec<String>, Problem> {
    opened(listing::groups(Path::new(&store)).map(|all| all.into_iter().map(|(name, _)| name).collect()))
}

/// A block of numbers from a counter.
#[napi(object, object_from_js = false)]
pub struct CounterBlock {
    /// the first one
    pub number: BigInt,
    /// identifies the counter: 16 hex digits
    pub lineage: String,
}

/// Advances a counter; null if it was destroyed.
#[napi(catch_unwind, ts_return_type = "Promise<CounterBlock | Problem | null>")]
pub fn advance_counter(
    store: String,
    name: String,
    by: Big,
    init: Option<Big>,
) -> Result<Later<Option<Either<CounterBlock, Problem>>>> {
    later(move || {
        let taken = counters::advance(Path::new(&store), &name, by.0, init.map(u64::from));
        Ok(block_of(taken))
    })
}

/// A block, or null if the counter was destroyed.
fn block_of(taken: std::result::Result<Block, Refusal>) -> Option<Either<CounterBlock, Problem>> {
    match taken {
        Ok(Block { first, lineage }) => {
            Some(Either::A(CounterBlock { number: first.into(), lineage: in_hex(lineage) }))
        }
        Err(Refusal::Destroyed) => None,
        Err(error) => Some(Either::B(error.into())),
    }
}

/// Takes numbers for a past time. `record` counts them, and `is_known` tells whether this process knows it. Null if the
/// group of this lineage was destroyed.
#[napi(catch_unwind, ts_return_type = "Promise<CounterBlock | Problem | null>")]
pub fn advance_past(
    store: String,
    group: String,
    record: String,
    by: Big,
    lineage: Big,
    is_known: bool,
) -> Result<Later<Option<Either<CounterBlock, Problem>>>> {
    later(move || {
        let own = (&*group, lineage.0);
        Ok(block_of(counters::advance_past(Path::new(&store), own, &record, by.0, is_known)))
    })
}

/// Until when slots were in use.
#[napi(object, object_from_js = false)]
pub struct SlotsUse {
    /// Unix ms; absent if they never were
    pub until: Option<i64>,
}

/// Until when a group of this name had these slots in use; null if the group of this lineage was destroyed.
#[napi(catch_unwind)]
pub fn slots_used_until(
    store: String,
    group: String,
    slots: Vec<Whole<u32>>,
    lineage: Big,
) -> Option<Either<SlotsUse, Problem>> {
    let slots: Vec<_> = slots.into_iter().map(u32::from).collect();
    match group::used_until(&names::group_folder(Path::new(&store), &group), &slots, lineage.0) {
        Ok(until) => Some(Either::A(SlotsUse { until })),
        Err(Refusal::Destroyed) => None,
        Err(error) => Some(Either::B(error.into())),
    }
}

/// A counter, as described by its file.
#[napi(object, object_from_js = false)]
pub struct CounterRow {
    /// its name
    pub name: String,
    /// the start of the next block
    pub next: BigInt,
    /// identifies the counter: 16 hex digits
    pub lineage: String,
}

/// The counters of a store.
#[napi(catch_unwind)]
pub fn list_counters(store: String) -> Either<Vec<CounterRow>, Problem> {
    let row = |CounterInfo { name, next, lineage }| CounterRow { name, next: next.into(), lineage: in_hex(lineage) };
    opened(counters::list(Path::new(&store)).map(|all| all.into_iter().map(row).collect()))
}

/// Ends a counter for all members.
#[napi(catch_unwind, ts_return_type = "Promise<Problem | null>")]
pub fn destroy_counter(store: String, name: String) -> Result<Later<Option<Problem>>> {
    later(move || Ok(counters::destroy(Path::new(&store), &name).err().map(Problem::from)))
}
