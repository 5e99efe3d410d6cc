//! Layouts for JavaScript: what the fields are, and what an ID says.

use flakeforge_core::clock::to_ms;
use flakeforge_core::layout;
use napi::bindgen_prelude::{BigInt, Result};
use napi_derive::napi;

/// A layout with its epoch.
#[napi]
pub struct Layout {
    core: layout::Layout,
}

/// A field: how it is called, how wide it is, and whether it is a part of the node number.
#[napi(object)]
pub struct Field {
    /// name
    pub name: String,
    /// bits
    pub width: u32,
    /// whether it is a part of the node number
    pub is_node: bool,
}

/// What an ID says.
#[napi(object)]
pub struct Unpacked {
    /// Unix ms; has a fraction where the tick is finer
    pub timestamp: f64,
    /// ticks since the epoch
    pub tick: BigInt,
    /// counter inside the tick
    pub counter: f64,
    /// the whole node number
    pub id: f64,
    /// the values of the node fields, in their order
    pub nodes: Vec<f64>,
}

#[napi]
impl Layout {
    /// The layout of that name, with its own epoch (Unix ms) where none is given.
    #[napi(constructor)]
    pub fn new(name: String, epoch: Option<i64>) -> Result<Self> {
        let core =
            layout::Layout::named(&name).ok_or_else(|| napi::Error::from_reason(format!("no layout '{name}'")))?;
        Ok(Self { core: epoch.map_or(core.clone(), |epoch| core.with_epoch(epoch)) })
    }

    /// The layout as the core has it.
    pub fn core(&self) -> &layout::Layout {
        &self.core
    }

    /// The name that the option takes.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.core.name.to_owned()
    }

    /// Unix ms of tick 0.
    #[napi(getter)]
    pub fn epoch(&self) -> i64 {
        self.core.scale.epoch_ms
    }

    /// Length of a tick in ms.
    #[napi(getter)]
    pub fn tick_ms(&self) -> f64 {
        to_ms(i128::from(self.core.scale.tick_ns))
    }

    /// All fields, the most significant first.
    #[napi(getter)]
    pub fn fields(&self) -> Vec<Field> {
        self.core
            .fields()
            .iter()
            .map(|field| Field { name: field.name.to_owned(), width: field.bits.width, is_node: field.is_node() })
            .collect()
    }

    /// The first instant (Unix ms) that the layout can no longer express.
    #[napi(getter)]
    pub fn end(&self) -> f64 {
        to_ms(self.core.end_ns())
    }

    /// The first instant (Unix ms) at which IDs have the top bit set.
    #[napi(getter)]
    pub fn signed_end(&self) -> f64 {
        to_ms(self.core.signed_end_ns())
    }

    /// Joins the values of the node fields, given in their order.
    #[napi]
    pub fn join_node(&self, values: Vec<i64>) -> i64 {
        self.core.join_node(values.into_iter().map(|value| value as u64)) as i64
    }

    /// What an ID says.
    #[napi]
    pub fn unpack(&self, id: BigInt) -> Unpacked {
        let (_, id, _) = id.get_u64();
        let parts = self.core.unpack(id);
        Unpacked {
            timestamp: to_ms(self.core.scale.start_of(parts.tick)),
            tick: BigInt::from(parts.tick),
            counter: parts.counter as f64,
            id: parts.node as f64,
            nodes: self.core.node_fields().map(|field| field.value(id) as f64).collect(),
        }
    }
}
