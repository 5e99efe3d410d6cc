//! IDs of the past for JavaScript: which number is next, and what the store has to give before. `lib/lease/past-ids.ts` asks
//! the store.

use std::collections::HashMap;

use flakeforge_core::lease::backfill::{self, Counter, Taken};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

use crate::layout::Layout;
use crate::number::{Big, Whole};

/// The answer to a request for an ID.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum PastId {
    Id {
        id: BigInt,
    },
    /// this counter of the group has to give that many numbers first
    Ask {
        record: String,
        by: BigInt,
    },
    /// all IDs of this time are used
    Full,
    /// the layout has no such time
    OutOfRange,
}

/// Generates IDs of past times for one member.
#[napi]
pub struct Backfill {
    core: backfill::Backfill,
    /// the counters that were asked, by the names of their records
    asked: HashMap<String, Counter>,
}

#[napi]
impl Backfill {
    /// `nodes`: the node numbers that have no slot, the highest first.
    #[napi(constructor, catch_unwind)]
    pub fn new(layout: &Layout, nodes: Vec<Whole<u32>>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(|Whole(node)| u64::from(node)).collect();
        Self { core: backfill::Backfill::new(layout.core(), &nodes), asked: HashMap::new() }
    }

    /// An ID of the moment that contains this Unix ms.
    #[napi(catch_unwind)]
    pub fn take(&mut self, unix_ms: Whole<i64>) -> PastId {
        match self.core.take(unix_ms.0) {
            Taken::Id(id) => PastId::Id { id: id.into() },
            Taken::Ask(counter, by) => {
                let record = counter.record();
                self.asked.insert(record.clone(), counter);
                PastId::Ask { record, by: by.into() }
            }
            Taken::Full => PastId::Full,
            Taken::OutOfRange => PastId::OutOfRange,
        }
    }

    /// A counter gave `by` numbers from `first` on.
    #[napi(catch_unwind)]
    pub fn given(&mut self, record: String, first: Big, by: Big) -> Result<()> {
        let counter = self.asked.remove(&record);
        let counter =
            counter.ok_or_else(|| Error::from_reason("lib/lease/past-ids.ts passed on what was not asked"))?;
        self.core.given(counter, first.0, by.0);
        Ok(())
    }
}
