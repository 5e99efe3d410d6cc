//! The rules that a store of leases follows: who gets which slot and which window. This is the reference. Each store
//! implements it in its own way (a Lua script, an SQL statement, an etcd transaction), and tests compare it with this.
//!
//! One promise matters: **no two grants of a slot have a millisecond in common.** It does not depend on the holders'
//! clocks. It holds even if the store forgets writes that it acknowledged, as long as the store then shows another
//! *incarnation*, and its clocks before and after agree within the skew:
//! - A slot is granted only when the store's clock is past `hi`, and every window begins at `now` or later. So a write
//!   that was kept is safe at once. A write that was forgotten is safe once the longest window that may have been
//!   forgotten is over: that is the quiet period.
//! - In the quiet period nothing is granted and no `hi` rises, because a record that reappeared may be an old one, and
//!   the slot may belong to someone else by now. A later renewal gets a new window, which begins after everything that
//!   was forgotten.
//!
//! All times are Unix milliseconds; a step gets the store's `now` and reads it once.
//!
//! This file must never lower a slot's `hi`, except when its owner says how far it got; make a window that begins
//! before `now`; or let a group begin again without what was known of the one before.

mod counters;

use std::collections::BTreeMap;

pub use counters::{Broken, Counter};

use crate::lease::Owner;

/// The longest ttl that a group may have, and the one to assume for an unknown group.
pub const LONGEST_TTL_MS: i64 = 60_000;
/// The skew to assume for an unknown group.
pub const USUAL_SKEW_MS: i64 = 5_000;
/// The floor of a group that is the first of its name: no millisecond was used.
const NEVER: i64 = -1;

/// What all members of a group must agree on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// what the bits of the IDs mean; only compared here
    pub fingerprint: String,
    /// how many slots there are
    pub slots: u32,
    /// how far a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how far apart clocks may be
    pub skew_ms: i64,
}

/// A slot that was granted at least once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// who holds it; `None` once it was released
    pub owner: Option<Owner>,
    /// the machine that the holder was on; a machine gets its old slot again if possible
    pub host: String,
    /// first millisecond of the window
    pub lo: i64,
    /// last millisecond that anybody may have used
    pub hi: i64,
}

/// What the store knows of a live group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// what its first member specified
    pub config: Config,
    /// the incarnation of the store that was seen last
    pub incarnation: u64,
    /// nothing is granted before this time
    pub quiet_until: i64,
    /// the last millisecond in which a slot without a record may have been used
    pub floor: i64,
    /// the slots that were granted at least once
    pub slots: BTreeMap<u32, Slot>,
}

/// What is left of a destroyed group: its members may hold their windows for a while.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tombstone {
    /// the incarnation in which it was destroyed
    pub incarnation: u64,
    /// a group that follows may grant nothing before this time
    pub quiet_until: i64,
    /// the last millisecond in which a slot may have been used
    pub floor: i64,
}

/// What is stored under a group's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// a live group
    Live(Group),
    /// a destroyed one
    Destroyed(Tombstone),
}

/// Everything a store knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// changes whenever acknowledged writes may have been lost
    pub incarnation: u64,
    /// groups by name
    pub groups: BTreeMap<String, Entry>,
    /// counters by name
    pub counters: BTreeMap<String, Counter>,
}

/// What a step works on.
#[derive(Debug)]
pub struct Step<'a> {
    store: &'a mut Store,
    now: i64,
    name: &'a str,
    config: &'a Config,
}

/// Who asks for a slot.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// the token of this acquisition
    pub owner: Owner,
    /// the machine it is on
    pub host: &'a str,
    /// what this machine's clock shows
    pub client_now: i64,
}

/// A slot and a window that nobody else ever has. Both ends belong to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Granted {
    /// number of the slot
    pub slot: u32,
    /// first millisecond
    pub lo: i64,
    /// last millisecond
    pub hi: i64,
}

/// The answer to a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Renewal {
    /// the window now
    Renewed(Granted),
    /// the slot no longer belongs to this owner
    Lost,
    /// the group has ended
    Destroyed,
}

/// Why a step did nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// writes may have been lost: nothing is granted until then
    Quiet {
        /// when grants begin again
        until: i64,
    },
    /// every slot may still be in use
    Exhausted {
        /// when the next one is free, if its holder does not renew
        retry_at: i64,
    },
    /// the group was made with another config, which is this one
    Mismatch(Config),
    /// the member's clock is too far from the store's
    Skew {
        /// by how much it is ahead of the store's
        by: i64,
    },
    /// the group has ended
    Destroyed,
}

impl Store {
    /// A step at the store's time `now`, for a group, by a member that expects this config.
    pub fn step<'a>(&'a mut self, now: i64, name: &'a str, config: &'a Config) -> Step<'a> {
        Step { store: self, now, name, config }
    }

    /// Ends a group. Needs no config, so that anybody can clean up.
    pub fn destroy(&mut self, now: i64, name: &str) {
        let tombstone = match self.groups.get_mut(name) {
            Some(Entry::Destroyed(_)) => return,
            Some(Entry::Live(group)) => {
                group.see(self.incarnation, now);
                group.tombstone(now)
            }
            // An unknown group may have been lost.
            None => {
                let floor = now + LONGEST_TTL_MS + USUAL_SKEW_MS;
                Tombstone { incarnation: self.incarnation, quiet_until: 0, floor }
            }
        };
        self.groups.insert(name.to_owned(), Entry::Destroyed(tombstone));
    }

    /// The slots of a group that were granted at least once.
    pub fn list(&self, name: &str) -> impl Iterator<Item = (u32, &Slot)> {
        let slots = match self.groups.get(name) {
            Some(Entry::Live(group)) => Some(&group.slots),
            _ => None,
        };
        slots.into_iter().flatten().map(|(number, slot)| (*number, slot))
    }
}

impl Group {
    fn new(config: &Config, incarnation: u64, quiet_until: i64, floor: i64) -> Self {
        Self { config: config.clone(), incarnation, quiet_until, floor, slots: BTreeMap::new() }
    }

    /// Compares incarnations. If they differ, the records may be old ones, so every window granted in between must end
    /// first. The recorded ttl counts, because a newcomer's may be shorter than the windows that are in use.
    fn see(&mut self, incarnation: u64, now: i64) {
        if self.incarnation != incarnation {
            self.incarnation = incarnation;
            self.quiet_until = self.quiet_until.max(now + self.config.ttl_ms + self.config.skew_ms + 1);
        }
    }

    fn tombstone(&self, now: i64) -> Tombstone {
        let highest = self.slots.values().map(|slot| slot.hi).fold(self.floor.max(now), i64::max);
        Tombstone { incarnation: self.incarnation, quiet_until: self.quiet_until, floor: highest }
    }

    /// The last millisecond in which a slot may have been used.
    fn end_of(&self, number: u32) -> i64 {
        self.slots.get(&number).map_or(self.floor, |slot| slot.hi)
    }

    /// The slot to grant: the one this machine had last, else one never used, else the one that has rested longest.
    fn free_slot(&self, now: i64, host: &str) -> Result<u32, Refused> {
        let used = || self.slots.iter().filter(|(_, slot)| slot.hi < now);
        let oldest = |(number, slot): &(&u32, &Slot)| (slot.hi, **number);
        let same_host = used().filter(|(_, slot)| slot.host == host).min_by_key(oldest);
        let never_used = || (0..self.config.slots).find(|n| !self.slots.contains_key(n) && self.floor < now);
        same_host
            .map(|(number, _)| *number)
            .or_else(never_used)
            .or_else(|| used().min_by_key(oldest).map(|(number, _)| *number))
            .ok_or_else(|| {
                let ends = (0..self.config.slots).map(|number| self.end_of(number));
                Refused::Exhausted { retry_at: ends.min().map_or(i64::MAX, |end| end + 1) }
            })
    }
}

impl Tombstone {
    /// The group that follows. If writes were lost since, a group with any ttl may already have followed.
    fn successor(&self, config: &Config, incarnation: u64, now: i64) -> Group {
        let lost = self.incarnation != incarnation;
        let quiet_until = if lost { unknown_until(config, now) } else { 0 };
        Group::new(config, incarnation, self.quiet_until.max(quiet_until), self.floor)
    }
}

/// When the windows of an unknown group are certainly over.
fn unknown_until(config: &Config, now: i64) -> i64 {
    now + LONGEST_TTL_MS + config.skew_ms + 1
}

impl<'a> Step<'a> {
    /// Creates the group, unless the store knows it. An unknown one may have existed before, so its old windows must
    /// end first. Returns whether this call created it.
    pub fn open(self) -> Result<bool, Refused> {
        self.begin(unknown_until)
    }

    /// The same for a group that is known to be new: nobody has to wait.
    pub fn create(self) -> Result<bool, Refused> {
        self.begin(|_, _| 0)
    }

    fn begin(self, quiet_until: impl Fn(&Config, i64) -> i64) -> Result<bool, Refused> {
        let (config, incarnation, now) = (self.config, self.store.incarnation, self.now);
        let born = match self.store.groups.get(self.name) {
            Some(Entry::Live(_)) => None,
            Some(Entry::Destroyed(tombstone)) => Some(tombstone.successor(config, incarnation, now)),
            None => Some(Group::new(config, incarnation, quiet_until(config, now), NEVER)),
        };
        let is_new = born.is_some();
        if let Some(group) = born {
            self.store.groups.insert(self.name.to_owned(), Entry::Live(group));
        }
        self.known().map(|_| is_new)
    }

    /// The group, created again if the store does not know it: it may have been lost.
    fn group(self) -> Result<&'a mut Group, Refused> {
        if !self.store.groups.contains_key(self.name) {
            let quiet_until = unknown_until(self.config, self.now);
            let group = Group::new(self.config, self.store.incarnation, quiet_until, NEVER);
            self.store.groups.insert(self.name.to_owned(), Entry::Live(group));
        }
        self.known()?.ok_or(Refused::Destroyed)
    }

    /// The group if it is live, checked.
    fn known(self) -> Result<Option<&'a mut Group>, Refused> {
        let incarnation = self.store.incarnation;
        let Some(Entry::Live(group)) = self.store.groups.get_mut(self.name) else { return Ok(None) };
        if group.config != *self.config {
            return Err(Refused::Mismatch(group.config.clone()));
        }
        group.see(incarnation, self.now);
        Ok(Some(group))
    }

    /// The group, for a member with this clock, if it may grant anything now.
    fn granting(self, client_now: i64) -> Result<&'a mut Group, Refused> {
        let (now, skew_ms) = (self.now, self.config.skew_ms);
        let group = self.group()?;
        let by = client_now.saturating_sub(now);
        if by.saturating_abs() > skew_ms {
            return Err(Refused::Skew { by });
        }
        if now < group.quiet_until {
            return Err(Refused::Quiet { until: group.quiet_until });
        }
        Ok(group)
    }

    /// Grants a slot.
    pub fn acquire(self, member: Member) -> Result<Granted, Refused> {
        let now = self.now;
        let group = self.granting(member.client_now)?;
        // The first answer was lost on its way: give the same answer again.
        let own = group.slots.iter().find(|(_, slot)| slot.owner == Some(member.owner) && slot.hi >= now);
        if let Some((number, slot)) = own {
            return Ok(Granted { slot: *number, lo: slot.lo, hi: slot.hi });
        }
        let number = group.free_slot(now, member.host)?;
        let (lo, hi) = (now, now + group.config.ttl_ms); // the slot is free: its last window ended before now
        group.slots.insert(number, Slot { owner: Some(member.owner), host: member.host.to_owned(), lo, hi });
        Ok(Granted { slot: number, lo, hi })
    }

    /// Extends a window, or begins a new one if the old one is over.
    pub fn renew(self, number: u32, owner: Owner, client_now: i64) -> Result<Renewal, Refused> {
        let now = self.now;
        let group = match self.granting(client_now) {
            Err(Refused::Destroyed) => return Ok(Renewal::Destroyed),
            other => other?,
        };
        let ttl_ms = group.config.ttl_ms;
        let Some(slot) = group.slots.get_mut(&number).filter(|slot| slot.owner == Some(owner)) else {
            return Ok(Renewal::Lost);
        };
        if slot.hi < now {
            slot.lo = now; // skip the time in between: nobody had it, unless the store forgot that
        }
        slot.hi = slot.hi.max(now + ttl_ms); // the clock may have been set back
        Ok(Renewal::Renewed(Granted { slot: number, lo: slot.lo, hi: slot.hi }))
    }

    /// Gives a slot back; its owner used nothing after `last`.
    pub fn release(self, number: u32, owner: Owner, last: i64) -> Result<(), Refused> {
        let now = self.now;
        let Some(group) = self.known()? else { return Ok(()) };
        let quiet = now < group.quiet_until;
        let Some(slot) = group.slots.get_mut(&number).filter(|slot| slot.owner == Some(owner)) else { return Ok(()) };
        slot.owner = None;
        // In the quiet period the record may be an old one: its owner does not know how far others got.
        if !quiet {
            slot.hi = slot.hi.min(last.max(slot.lo - 1));
        }
        Ok(())
    }
}
