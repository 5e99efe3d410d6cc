//! A process that uses the store: its lease, its memory, its steps in progress, and what it may use.

use flakeforge_core::lease::Machine;
use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::task::{Answer, Granted};
use flakeforge_core::lease::messages::{Grant, Owner, Timing};

use crate::flight::{At, By, Flight};
use crate::settings::{Options, Setting};
use crate::store::Version;
use crate::windows::Ms;

/// A cursor, and the IDs that it may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub slot: u32,
    pub owner: Owner,
    /// it never goes below this
    pub first: i64,
    pub ms: Ms,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    pub lease: Machine,
    pub memory: Memory,
    pub flights: Vec<Flight>,
    /// how far its clock is ahead
    pub ahead: i64,
    pub wait: Option<i64>,
    pub cursor: Option<Cursor>,
    /// a granted slot whose window has not started
    pub offer: Option<Grant>,
    /// it creates the group if that is missing or has ended
    pub joins: bool,
    /// `attach` was called and not withdrawn
    pub wanted: bool,
    /// `attach` was called at some time
    pub came: bool,
    /// the version of flakeforge that it runs
    pub version: Version,
    /// another generator of the process has the node number of the next slot that it opens
    pub is_in_use: bool,
    /// the store that its statements reach
    pub reaches: Reached,
    /// the group of its last grant, if it makes IDs of the past
    pub lineage: Option<u64>,
    /// the group whose record it looked at before it made IDs of the past, and until when others may have made some
    pub looked: Option<(u64, i64)>,
}

/// A store that a client's statements may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reached {
    /// the group's
    Usual,
    /// the old primary, which was disconnected
    Old,
    /// another database or schema of the server
    Elsewhere,
}

impl Client {
    pub fn new(setting: &Setting, options: Options) -> Self {
        Self {
            lease: lease(options),
            memory: Memory::with_limits(setting.limits()),
            flights: Vec::new(),
            ahead: -options.behind,
            wait: None,
            cursor: None,
            offer: None,
            joins: true,
            wanted: false,
            came: false,
            version: options.version,
            is_in_use: false,
            reaches: Reached::Usual,
            lineage: None,
            looked: None,
        }
    }

    /// Whether it holds a slot at this time by its clock, so that it may make IDs of the past.
    pub fn holds(&self, local: i64) -> bool {
        self.cursor.is_some() && self.lease.held().is_some_and(|held| local <= held.hi)
    }

    /// A new generator of the same process: answers to the old one are dropped.
    pub fn begin_anew(&mut self, options: Options) {
        (self.lease, self.joins, self.looked) = (lease(options), true, None);
        self.flights.iter_mut().for_each(|flight| flight.is_heard = false);
    }

    /// Whether the server may still run a statement of a step that this client has abandoned, or waits for.
    pub fn has_sent(&self) -> bool {
        self.flights.iter().any(Flight::is_sent)
    }

    /// Whether the answer to this step will count.
    pub fn awaits(&self, flight: &Flight) -> bool {
        flight.is_heard && matches!(flight.by, By::Lease(asked, owner) if self.lease.awaits(asked, owner))
    }

    /// Everything that this process may use now, or once its answers arrive: the slot, the owner and the milliseconds.
    pub fn claims(&self, beginning: i64) -> impl Iterator<Item = (u32, Owner, Ms)> {
        let cursor = self.cursor.map(|cursor| (cursor.slot, cursor.owner, cursor.ms));
        let offer = self.offer.map(|Grant { slot, owner, lo, hi }| (slot, owner, Ms::window(beginning, lo, hi)));
        let promised = self.flights.iter().filter_map(move |flight| {
            let (At::Answer(Answer::Granted(Granted { slot, lo, hi, .. })), By::Lease(_, owner)) =
                (&flight.at, flight.by)
            else {
                return None;
            };
            let first = self.cursor.filter(|cursor| cursor.owner == owner).map_or(*lo, |cursor| cursor.first.max(*lo));
            self.awaits(flight).then(|| (*slot, owner, Ms::window(beginning, first, *hi)))
        });
        cursor.into_iter().chain(offer).chain(promised)
    }
}

fn lease(options: Options) -> Machine {
    Machine::new(Timing { ttl_ms: options.ttl, wait_ms: i64::MAX })
}
