//! IDs of the past: which numbers a member may use for a moment that is over.
//!
//! A **moment** is a tick, or a millisecond if ticks are shorter. The nodes that a group keeps free of slots have numbers for
//! each moment: the counters of the highest node, then those of the node below it, and so on. So a number means the same
//! node and counter, however many nodes a member keeps.
//!
//! Counters of the store (`grants/counters.rs`) give the numbers, and no counter gives one twice, whatever the store or a
//! member goes through. There are two kinds:
//! - The counter of a **span** gives the same numbers of all its moments at once. Rows are usually few in a moment and many in a
//!   span of hours, so one call to the store is enough for all of them.
//! - The counter of a single **moment** gives the rest: where a moment has more rows, or its span has no numbers left.
//!
//! Spans have the lower half of the highest node's numbers, and moments have all others. What a member was given and has not
//! used is lost when it ends.

use std::collections::BTreeMap;

use crate::layout::timescale::{NS_PER_MS, OutOfRange, Timescale};
use crate::layout::{Layout, Packing, PlacedNode};

/// How many moments a span has: 2^26, which are 18.6 hours of milliseconds.
const SPAN_BITS: u32 = 26;
/// How many times members can take numbers from the counter of a span: restarts, and members at the same time.
const SHARES: u64 = 64;
/// How many moments are remembered. With more, a member forgets what it was given, as if it had started again.
const MOST_MOMENTS: usize = 500_000;

/// The numbers of a moment.
#[derive(Clone, Debug)]
struct Moments {
    scale: Timescale,
    packing: Packing,
    id_offset: u64,
    /// the nodes, the highest first
    nodes: Vec<PlacedNode>,
    /// ticks of a moment
    ticks: u64,
}

impl Moments {
    fn of(layout: &Layout, nodes: &[u64]) -> Self {
        let (scale, packing, id_offset) = (layout.scale(), layout.packing(), layout.id_offset());
        let is_part = scale.tick_ns() < NS_PER_MS && NS_PER_MS.is_multiple_of(scale.tick_ns());
        let ticks = if is_part { NS_PER_MS / scale.tick_ns() } else { 1 };
        Self { scale, packing, id_offset, nodes: nodes.iter().map(|&node| layout.place_node(node)).collect(), ticks }
    }

    /// How many numbers one node has.
    fn of_a_node(&self) -> u64 {
        self.ticks.saturating_mul(self.packing.counter_max() + 1)
    }

    fn moment_of(&self, unix_ms: i64) -> Result<u64, OutOfRange> {
        Ok(self.scale.tick_of(i128::from(unix_ms) * i128::from(NS_PER_MS))? / self.ticks)
    }

    /// The ID of a number. `None` at the edge of the layout's time, if the number's tick is beyond it.
    fn id(&self, moment: u64, number: u64) -> Option<u64> {
        let (node, rest) = (number / self.of_a_node(), number % self.of_a_node());
        let counters = self.packing.counter_max() + 1;
        let (tick, counter) = (moment * self.ticks + rest / counters, rest % counters);
        let is_possible = (self.scale.first_tick()..=self.scale.last_tick()).contains(&tick);
        let node = self.nodes.get(usize::try_from(node).ok()?).filter(|_| is_possible)?;
        let number = tick << self.packing.counter_bits() | counter;
        Some(self.packing.pack(number, *node).wrapping_add(self.id_offset))
    }
}

/// A counter on the store, for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counter {
    /// of a span
    Span(u64),
    /// of a moment
    Moment(u64),
}

impl Counter {
    /// The name of its record: `span` and ten digits, or `moment` and twenty.
    pub fn record(self) -> String {
        match self {
            Self::Span(span) => format!("span{span:010}"),
            Self::Moment(moment) => format!("moment{moment:020}"),
        }
    }
}

/// The answer to a request for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Take {
    /// this one
    Number(u64),
    /// a counter has to give more first: ask it for this many, and pass on what it [gave](Numbers::given)
    Ask(Counter, u64),
    /// the moment has no more
    Full,
}

/// Numbers that a counter gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Given {
    next: u64,
    end: u64,
    /// how many to ask for next time
    by: u64,
}

/// The numbers that one member was given, whatever moments and layouts are.
///
/// ```
/// # use flakeforge_core::lease::backfill::{Counter, Numbers, Take};
/// let mut numbers = Numbers::new(4096, 4 * 4096); // of the highest node, and of all
/// let span = Counter::Span(1);
/// assert_eq!(numbers.take(1 << 26), Take::Ask(span, 32));
/// numbers.given(span, 64, 32); // other members have the first 64
/// assert_eq!(numbers.take(1 << 26), Take::Number(64));
/// assert_eq!(numbers.take((1 << 26) + 1), Take::Number(64)); // of another moment
/// assert_eq!(numbers.take(1 << 26), Take::Number(65));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// below this they belong to spans
    of_spans: u64,
    all: u64,
    /// what the counter of a span gave of each of its moments
    spans: BTreeMap<u64, Given>,
    /// the next one of a moment, of those that its span gave
    used: BTreeMap<u64, u64>,
    moments: BTreeMap<u64, Given>,
}

impl Numbers {
    /// `of_a_node`: how many numbers the highest node has; `all`: how many all nodes have.
    pub fn new(of_a_node: u64, all: u64) -> Self {
        let (spans, used, moments) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { of_spans: of_a_node / 2, all, spans, used, moments }
    }

    /// A number of a moment.
    pub fn take(&mut self, moment: u64) -> Take {
        if self.used.len() + self.moments.len() >= MOST_MOMENTS {
            self.spans.clear();
            self.used.clear();
            self.moments.clear();
        }
        let own = self.moments.get_mut(&moment);
        if let Some(given) = own
            && given.next < given.end
        {
            given.next += 1;
            return Take::Number(given.next - 1);
        }
        if self.of_spans > 0 {
            let span = moment >> SPAN_BITS;
            let Some(given) = self.spans.get(&span) else {
                return Take::Ask(Counter::Span(span), (self.of_spans / SHARES).max(1));
            };
            let next = self.used.get(&moment).copied().unwrap_or(given.next);
            if next < given.end {
                self.used.insert(moment, next + 1);
                return Take::Number(next);
            }
        }
        match self.moments.get(&moment) {
            Some(given) if given.end >= self.all => Take::Full,
            given => {
                Take::Ask(Counter::Moment(moment), given.map_or((self.of_spans / SHARES).max(1), |given| given.by))
            }
        }
    }

    /// A counter gave `by` numbers from `first` on. Those beyond its part do not exist.
    pub fn given(&mut self, counter: Counter, first: u64, by: u64) {
        match counter {
            Counter::Span(span) => {
                let end = first.saturating_add(by).min(self.of_spans);
                self.spans.insert(span, Given { next: first.min(end), end, by });
            }
            Counter::Moment(moment) => {
                let first = self.of_spans.saturating_add(first);
                let end = first.saturating_add(by).min(self.all);
                // A moment that needs more once usually needs many: twice as many each time, and no more than half are lost.
                self.moments.insert(moment, Given { next: first.min(end), end, by: by.saturating_mul(2) });
            }
        }
    }
}

/// The answer to a request for an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// this one
    Id(u64),
    /// a counter has to give more first
    Ask(Counter, u64),
    /// all IDs of this time are used
    Full,
    /// the layout has no such time
    OutOfRange,
}

/// Generates IDs of past times for one member.
#[derive(Clone, Debug)]
pub struct Backfill {
    moments: Moments,
    numbers: Numbers,
}

impl Backfill {
    /// `nodes`: the node numbers that have no slot, the highest first.
    ///
    /// # Panics
    ///
    /// If the layout has no such node.
    pub fn new(layout: &Layout, nodes: &[u64]) -> Self {
        let moments = Moments::of(layout, nodes);
        let of_a_node = moments.of_a_node();
        let numbers = Numbers::new(of_a_node, of_a_node.saturating_mul(nodes.len() as u64));
        Self { moments, numbers }
    }

    /// An ID of the moment that contains this Unix ms.
    pub fn take(&mut self, unix_ms: i64) -> Taken {
        let Ok(moment) = self.moments.moment_of(unix_ms) else { return Taken::OutOfRange };
        match self.numbers.take(moment) {
            Take::Number(number) => self.moments.id(moment, number).map_or(Taken::OutOfRange, Taken::Id),
            Take::Ask(counter, by) => Taken::Ask(counter, by),
            Take::Full => Taken::Full,
        }
    }

    /// A counter gave `by` numbers from `first` on.
    pub fn given(&mut self, counter: Counter, first: u64, by: u64) {
        self.numbers.given(counter, first, by);
    }
}
