//! Faults that are made on purpose: the checker must find the duplicate that each fault leads to.
//!
//! The reference has no switch for faults. A faulty store is the reference, but its record is falsified before or after
//! a step.

use flakeforge_core::grants::{Config, Entry, Group, Store};
use flakeforge_core::lease::Owner;

use crate::world::{GROUP, UNIT};

/// A fault of a store, or of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    None,
    /// the store lost writes and shows the same incarnation
    LossDoesNotShow,
    /// only `open` compares incarnations
    OnlyOpenCompares,
    /// a group that does not exist counts as new
    AbsentIsNew,
    /// renewals raise `hi` in the quiet period
    RenewalsInQuiet,
    /// the quiet period is computed with the ttl of a newcomer, which is shorter
    QuietForNewcomer,
    /// the quiet period lacks its last millisecond
    QuietTooShort,
    /// what is known about a quiet period is lost when the group ends
    QuietEndsWithGroup,
    /// a tombstone does not say which incarnation it is from
    TombstoneWithoutIncarnation,
    /// a renewal after the quiet period goes on with the old window
    OldWindowGoesOn,
    /// a renewal sets `hi` to the present time and ttl, even if it was higher
    RenewalLowers,
    /// a released slot is granted at once, however far ahead it was used
    ReleasedIsFree,
    /// a slot is granted in the last millisecond of its window
    FreeTooEarly,
    /// a release may lower `hi` to before the window
    ReleaseBelowWindow,
    /// anybody may release a slot
    ReleaseByAnybody,
    /// the driver tells the store too low a last millisecond
    LastTooLow,
    /// the driver seals nothing
    NoSeal,
    /// the driver raises the limit, but not the next number to the first one of a new window
    OnlyLimitRises,
}

/// What a store is asked to do.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    Open,
    Acquire(Owner),
    Renew(&'a Config, u32),
    Release(u32, Owner, i64),
    Destroy,
}

/// The record of the group, if it is live.
pub fn live(store: &mut Store) -> Option<&mut Group> {
    match store.groups.get_mut(GROUP) {
        Some(Entry::Live(group)) => Some(group),
        _ => None,
    }
}

impl Fault {
    /// All faults except `None`.
    pub const ALL: [Self; 17] = [
        Self::LossDoesNotShow,
        Self::OnlyOpenCompares,
        Self::AbsentIsNew,
        Self::RenewalsInQuiet,
        Self::QuietForNewcomer,
        Self::QuietTooShort,
        Self::QuietEndsWithGroup,
        Self::TombstoneWithoutIncarnation,
        Self::OldWindowGoesOn,
        Self::RenewalLowers,
        Self::ReleasedIsFree,
        Self::FreeTooEarly,
        Self::ReleaseBelowWindow,
        Self::ReleaseByAnybody,
        Self::LastTooLow,
        Self::NoSeal,
        Self::OnlyLimitRises,
    ];

    /// Whether a member that joins says that the group is new.
    pub fn creates(self) -> bool {
        self == Self::AbsentIsNew
    }

    /// A step of a store that has this fault.
    pub fn step<T>(self, store: &mut Store, now: i64, asked: Asked, run: impl FnOnce(&mut Store) -> T) -> T {
        if self == Self::None {
            return run(store);
        }
        let incarnation = store.incarnation;
        self.before(store, now, asked);
        let known = live(store).cloned();
        self.falsify(store, now, asked);
        let answer = run(store);
        store.incarnation = incarnation;
        if let (Some(before), Some(after)) = (known, live(store)) {
            self.after(&before, after, now, asked);
        } else if let (Self::QuietEndsWithGroup, Some(Entry::Destroyed(tombstone))) =
            (self, store.groups.get_mut(GROUP))
        {
            tombstone.quiet_until = 0;
        }
        answer
    }

    /// Steps that the faulty store does first.
    fn before(self, store: &mut Store, now: i64, asked: Asked) {
        match (self, asked) {
            (Self::OnlyOpenCompares, Asked::Acquire(_) | Asked::Renew(..) | Asked::Release(..)) => {
                let seen = live(store).map(|group| group.incarnation);
                store.incarnation = seen.unwrap_or(store.incarnation);
            }
            (Self::TombstoneWithoutIncarnation, Asked::Open) => {
                if let Some(Entry::Destroyed(tombstone)) = store.groups.get_mut(GROUP) {
                    tombstone.incarnation = store.incarnation;
                }
            }
            // The incarnation is still compared, if the group exists at all.
            (Self::RenewalsInQuiet, Asked::Renew(config, _)) if live(store).is_some() => {
                store.step(now, GROUP, config).open().expect("every member has the same config");
            }
            _ => {}
        }
    }

    /// What the faulty step sees instead of the record.
    fn falsify(self, store: &mut Store, now: i64, asked: Asked) {
        let Some(group) = live(store) else { return };
        match (self, asked) {
            (Self::RenewalsInQuiet, Asked::Renew(..)) => group.quiet_until = 0,
            (Self::ReleasedIsFree, Asked::Acquire(_)) => {
                group.slots.values_mut().filter(|slot| slot.owner.is_none()).for_each(|slot| slot.hi = now - 1);
            }
            (Self::FreeTooEarly, Asked::Acquire(owner)) => {
                let others = group.slots.values_mut().filter(|slot| slot.owner != Some(owner));
                others.filter(|slot| slot.hi == now).for_each(|slot| slot.hi = now - 1);
            }
            (Self::ReleaseBelowWindow, Asked::Release(slot, _, last)) => {
                group.slots.entry(slot).and_modify(|slot| slot.lo = slot.lo.min(last + 1));
            }
            (Self::ReleaseByAnybody, Asked::Release(slot, owner, _)) => {
                group.slots.entry(slot).and_modify(|slot| slot.owner = Some(owner));
            }
            _ => {}
        }
    }

    /// What the faulty step leaves behind.
    fn after(self, before: &Group, group: &mut Group, now: i64, asked: Asked) {
        let quiet_began = group.quiet_until > before.quiet_until;
        match (self, asked) {
            (Self::QuietTooShort, _) if quiet_began => group.quiet_until -= 1,
            (Self::QuietForNewcomer, _) if quiet_began => group.quiet_until -= UNIT,
            (Self::RenewalsInQuiet, Asked::Renew(..)) => group.quiet_until = before.quiet_until,
            (Self::ReleasedIsFree | Self::FreeTooEarly, Asked::Acquire(_)) => {
                for (number, was) in &before.slots {
                    let Some(slot) = group.slots.get_mut(number) else { continue };
                    if slot.owner == was.owner {
                        slot.hi = was.hi;
                    } else if self == Self::ReleasedIsFree {
                        slot.lo = slot.lo.max(was.hi + 1);
                    }
                }
            }
            (Self::OldWindowGoesOn | Self::RenewalLowers, Asked::Renew(config, number)) => {
                let (Some(was), Some(slot)) = (before.slots.get(&number), group.slots.get_mut(&number)) else { return };
                if *slot != *was && self == Self::OldWindowGoesOn {
                    slot.lo = was.lo;
                } else if now >= group.quiet_until && self == Self::RenewalLowers {
                    slot.hi = now + config.ttl_ms;
                }
            }
            _ => {}
        }
    }
}
