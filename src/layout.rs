//! Layouts for JavaScript, for generators and leases. `lib/codec` has validated the input, so an error here is a bug in
//! flakeforge. The codec encodes and decodes IDs itself, also for browsers.

use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::generator::registry::group_fingerprint;
use flakeforge_core::layout::timescale::ceil_ms;
use flakeforge_core::layout::{self, Mode, Spec};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

use crate::number::Whole;

/// A layout with its epoch and options.
#[napi]
pub struct Layout {
    core: layout::Layout,
}

/// The source of a layout: a dialect's name, or a spec.
#[napi(object)]
pub struct LayoutOptions {
    /// the name of the dialect or of the spec
    pub name: String,
    /// a custom layout
    pub spec: Option<LayoutSpec>,
    /// Unix ms of tick 0; the dialect's own if absent
    pub epoch: Option<Whole<i64>>,
    /// snowcast: how many nodes
    pub nodes: Option<Whole<u32>>,
    /// 'spread' or 'sequential'
    pub mode: Option<String>,
    /// added to every ID
    pub id_offset: Option<BigInt>,
}

/// The bits of a custom layout.
#[napi(object)]
pub struct LayoutSpec {
    /// length of a tick
    pub tick_ns: Whole<u64>,
    /// names, the most significant first
    pub names: Vec<String>,
    /// widths, in the same order
    pub widths: Vec<Whole<u32>>,
}

impl LayoutSpec {
    fn named(self, name: String) -> Spec {
        let fields = self.names.into_iter().zip(self.widths.iter().map(|width| width.0)).collect();
        Spec { name, epoch_ms: 0, tick_ns: self.tick_ns.0, fields }
    }
}

/// How the numbers of a cursor express ticks.
#[napi(object)]
pub struct Scale {
    /// Unix ms of tick 0
    pub epoch_ms: Whole<i64>,
    /// length of a tick
    pub tick_ns: Whole<u64>,
    /// how many bits of a number are the counter
    pub counter_bits: Whole<u32>,
}

fn mode_of(name: &str) -> Option<Mode> {
    match name {
        "spread" => Some(Mode::Spread),
        "sequential" => Some(Mode::Sequential),
        _ => None,
    }
}

fn make(options: LayoutOptions) -> Option<layout::Layout> {
    let LayoutOptions { name, spec, epoch, nodes, mode, id_offset } = options;
    let mut layout = match spec {
        Some(spec) => layout::Layout::custom(spec.named(name))?,
        None => layout::Layout::named(&name)?,
    };
    if let Some(nodes) = nodes {
        layout = layout.with_nodes(u64::from(nodes.0))?;
    }
    if let Some(epoch) = epoch {
        layout = layout.with_epoch(epoch.0);
    }
    if let Some(mode) = mode {
        layout = layout.with_mode(mode_of(&mode)?)?;
    }
    match id_offset {
        Some(offset) => layout.with_id_offset(offset.get_i64().0),
        None => Some(layout),
    }
}

#[napi]
impl Layout {
    /// The layout for these options.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: LayoutOptions) -> Result<Self> {
        let core = make(options).ok_or_else(|| Error::from_reason("lib/codec should have refused this layout"))?;
        Ok(Self { core })
    }

    /// The core's layout.
    pub fn core(&self) -> &layout::Layout {
        &self.core
    }

    /// How the numbers of a cursor express ticks.
    #[napi(getter, catch_unwind)]
    pub fn scale(&self) -> Scale {
        let scale = self.core.scale();
        Scale {
            epoch_ms: Whole(scale.epoch_ms()),
            tick_ns: Whole(scale.tick_ns()),
            counter_bits: Whole(self.core.packing().counter_bits()),
        }
    }

    /// The Unix ms that contains the start of the first tick at or after `ms`.
    #[napi(catch_unwind)]
    pub fn first_ms(&self, ms: Whole<i64>) -> i64 {
        let numbers = Numbers::of(&self.core);
        numbers.first_ms(numbers.after_ms(ms.0 - 1))
    }

    /// What the members of a group must have in common, as text.
    #[napi(getter, catch_unwind)]
    pub fn fingerprint(&self) -> String {
        group_fingerprint(&self.core)
    }

    /// The first whole Unix ms that is too late for the layout.
    #[napi(getter, catch_unwind)]
    pub fn end(&self) -> f64 {
        ceil_ms(self.core.end_ns())
    }

    /// The first whole Unix ms at which IDs have the top bit set.
    #[napi(getter, catch_unwind)]
    pub fn signed_end(&self) -> f64 {
        ceil_ms(self.core.signed_end_ns())
    }

    /// The first whole Unix ms at which IDs may be above 2^53 − 1, or `end`.
    #[napi(getter, catch_unwind)]
    pub fn exact_end(&self) -> f64 {
        ceil_ms(self.core.exact_end_ns())
    }
}
