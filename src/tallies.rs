//! What the generators of one environment have done in all, for each layout and group: the source of metrics.
//!
//! Nothing is counted here while IDs are made. A generator's own counts are read when somebody asks, and added up when
//! it is dropped.
//!
//! This file must never forget what a dropped generator did, nor grow without bound: names come from users.

use std::collections::HashMap;

use flakeforge_core::generator::Generator;
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::timescale::to_ms;
use napi_derive::napi;

/// So many names have totals of their own. Generators with later names are counted together, as [`OTHER`].
const MOST: usize = 1000;

/// The layout that those are counted under. Braces show that it is none.
const OTHER: &str = "{other}";

/// What all generators of a layout have done; those of a lease are counted by their group, too.
#[napi(object)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// the layout's name
    pub layout: String,
    /// the group of the lease; none for ordinary generators
    pub group: Option<String>,
    /// IDs made
    pub ids: f64,
    /// refusals because a tick's counter was used up
    pub overflows: f64,
    /// times the system's clock was seen to step back
    pub clock_steps: f64,
    /// waits for an ID
    pub waits: f64,
    /// how long the waits took together
    pub waited_ms: f64,
    /// how far the last ID is ahead of the clock, of the generator that is furthest
    pub ahead_ms: f64,
    /// the earliest end of these layouts, Unix ms; none if all generators have clocks of their own
    pub end_ms: Option<f64>,
    /// the same for signed columns
    pub signed_end_ms: Option<f64>,
}

impl Totals {
    /// Adds what a generator has done. The clock that a user gives is not the system's: its steps are the user's.
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
        let earliest = |known: Option<f64>, ns| Some(known.unwrap_or(f64::INFINITY).min(to_ms(ns).ceil()));
        self.end_ms = earliest(self.end_ms, layout.end_ns());
        self.signed_end_ms = earliest(self.signed_end_ms, layout.signed_end_ns());
    }
}

type Name = (String, Option<String>);

/// The totals of all names.
#[derive(Default)]
pub struct Tallies {
    /// of the generators that were dropped
    past: Vec<Totals>,
    by_name: HashMap<Name, usize>,
    /// the place that was asked for last: most programs have one
    latest: usize,
}

impl Tallies {
    /// Where generators of this layout and group are counted. `is_given`: whether the user gives the time.
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

    /// A generator that was counted in this place is dropped.
    pub fn dropped(&mut self, place: usize, generator: &Generator) {
        self.past[place].add(generator);
    }

    /// The totals, with those of the generators that live.
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
