//! What the generators of one environment have done, per layout and group: the source of metrics.
//!
//! Nothing is counted here while IDs are generated. The counts of a generator are read on request, and added to the totals
//! when it is dropped. The number of totals is bounded, because names come from users.

use std::collections::HashMap;

use flakeforge_core::generator::Generator;
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::timescale::ceil_ms;
use napi_derive::napi;

/// The maximum number of names with separate totals. Generators with later names are counted together, as [`OTHER`].
const MOST: usize = 1000;

/// The layout name for these. Braces cannot occur in a real one.
const OTHER: &str = "{other}";

/// What all generators of a layout have done; those of a lease are also separated by group.
#[napi(object, object_from_js = false)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// the layout's name
    pub layout: String,
    /// the group of the lease; absent for ordinary generators
    pub group: Option<String>,
    /// IDs generated
    pub ids: f64,
    /// refusals because the counter of a tick was exhausted
    pub overflows: f64,
    /// times the system's clock was seen to step back
    pub clock_steps: f64,
    /// waits for an ID
    pub waits: f64,
    /// total duration of the waits
    pub waited_ms: f64,
    /// how far the last ID is ahead of the clock, the maximum of all generators
    pub ahead_ms: f64,
    /// the earliest end of these layouts, Unix ms; absent if the callers set the time of all generators
    pub end_ms: Option<f64>,
    /// the same for signed columns
    pub signed_end_ms: Option<f64>,
}

impl Totals {
    /// Adds what a generator has done. If the caller sets the time, its steps are not those of the system's clock.
    fn add(&mut self, generator: &Generator) {
        let stats = generator.stats();
        self.ids += stats.ids as f64;
        self.overflows += stats.overflows as f64;
        self.waits += stats.waits as f64;
        self.waited_ms += stats.waited_ms;
        if !generator.clock().is_given() {
            self.clock_steps += generator.clock().steps() as f64;
        }
    }

    fn see_ends(&mut self, layout: &Layout) {
        let earliest = |known: Option<f64>, ns| Some(known.unwrap_or(f64::INFINITY).min(ceil_ms(ns)));
        self.end_ms = earliest(self.end_ms, layout.end_ns());
        self.signed_end_ms = earliest(self.signed_end_ms, layout.signed_end_ns());
    }
}

type Name = (String, Option<String>);

/// The totals of all names.
#[derive(Default)]
pub struct Tallies {
    /// of dropped generators
    past: Vec<Totals>,
    by_name: HashMap<Name, usize>,
    /// the last index requested: most programs have one
    latest: usize,
}

impl Tallies {
    /// The index of the totals for this layout and group. `is_given`: whether the caller sets the time.
    pub fn place(&mut self, layout: &Layout, group: Option<&str>, is_given: bool) -> usize {
        if !self
            .past
            .get(self.latest)
            .is_some_and(|totals| totals.layout == layout.name() && totals.group.as_deref() == group)
        {
            self.latest = self.index((layout.name().to_owned(), group.map(str::to_owned)));
        }
        let index = self.latest;
        if !is_given {
            self.past[index].see_ends(layout);
        }
        index
    }

    fn index(&mut self, name: Name) -> usize {
        let is_known = self.by_name.contains_key(&name);
        let name = if is_known || self.past.len() < MOST { name } else { (OTHER.to_owned(), None) };
        let next = self.past.len();
        let index = *self.by_name.entry(name.clone()).or_insert(next);
        if index == next {
            self.past.push(Totals { layout: name.0, group: name.1, ..Totals::default() });
        }
        index
    }

    /// A generator with this index is dropped.
    pub fn dropped(&mut self, place: usize, generator: &Generator) {
        self.past[place].add(generator);
    }

    /// The totals, including those of live generators.
    pub fn totals<'a>(&self, living: impl Iterator<Item = (usize, &'a Generator)>) -> Vec<Totals> {
        let mut totals = self.past.clone();
        for (place, generator) in living {
            let total = &mut totals[place];
            total.add(generator);
            if !generator.clock().is_given() {
                total.ahead_ms = total.ahead_ms.max(generator.ahead_ms());
            }
        }
        totals
    }
}
