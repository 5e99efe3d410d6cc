//! Which member gets which slot and which window.

use crate::lease::grants::memory::Memory;
use crate::lease::grants::record::{GroupConfig, GroupRecord, SlotRecord, Stage, slot_name};
use crate::lease::grants::search::{Free, is_large};
use crate::lease::grants::step::{Decision, Next, Plan, Step, nonce};
use crate::lease::grants::task::{Answer, Granted, Renewal, Seeker, StepError};
use crate::lease::grants::view::{View, readable};
use crate::lease::messages::Owner;

impl Step {
    /// Checks of `Acquire` and `Renew` before they change a slot.
    fn enter(&self, view: &View, group: &GroupRecord) -> Result<(), StepError> {
        self.check_clock(view)?;
        if is_quiet(view, group) { Err(StepError::Quiet { until: group.quiet_until, now: view.now }) } else { Ok(()) }
    }

    /// Grants a free slot. A slot that an earlier write of this owner may have taken is written again, because that write has
    /// no confirmation and may be lost. The clock may have been set back since, so the window starts no earlier.
    pub(super) fn acquire(
        &mut self,
        view: &View,
        group: &GroupRecord,
        seeker: &Seeker,
        memory: &mut Memory,
    ) -> Decision {
        self.enter(view, group)?;
        if let Some(answer) = self.shown(view, group) {
            memory.forget(seeker.owner);
            return Ok(answer);
        }
        let Stage::Live(GroupConfig { slots, .. }) = group.state else { return Ok(Next::Read) };
        let is_own =
            |slot: &SlotRecord| slot.owner == Some(seeker.owner) && slot.life == group.life && slot.hi >= view.now;
        if let Some((slot, own)) = readable(view).find(|(_, slot)| is_own(slot)) {
            return self.grant(view, group, (slot, own.lo.max(view.now), own.hi), seeker, memory);
        }
        let turn = self.turn(memory);
        if self.search.is_checking(turn) {
            return Ok(Next::Read); // another member was faster: look at more slots than this one
        }
        let free: Vec<_> = free(view).collect();
        if is_large(slots) {
            self.search.keep(view, slots, (self.sent.turns, free.len()), memory.parts_mut(&self.name));
        }
        match self.search.choose(&free, seeker, memory, view.fresh) {
            Some((slot, _)) => self.grant(view, group, (slot, view.now, view.now), seeker, memory),
            None => self.found_none(view, slots, memory),
        }
    }

    /// Writes a grant of this slot. Its window starts at `lo` and ends at `hi` or later.
    fn grant(
        &self,
        view: &View,
        group: &GroupRecord,
        (slot, lo, hi): (u32, i64, i64),
        seeker: &Seeker,
        memory: &mut Memory,
    ) -> Decision {
        let Stage::Live(GroupConfig { ttl_ms, .. }) = group.state else { return Ok(Next::Read) };
        let hi = hi.max(view.now.saturating_add(ttl_ms));
        let (owner, host) = (Some(seeker.owner), seeker.host.clone());
        let record = SlotRecord { owner, life: group.life, lo, hi, host, nonce: nonce(view.fresh) };
        memory.try_slot(seeker.owner, slot);
        self.write(view, &slot_name(slot), record.text(), memory)
    }

    fn found_none(&self, view: &View, slots: u32, memory: &Memory) -> Decision {
        let Some(retry_at) = self.search.none_free(view, slots, memory.parts(&self.name)) else {
            return Ok(Next::Read);
        };
        match view.slots.iter().find_map(|(slot, record)| record.as_ref()?.as_ref().err().map(|why| (*slot, *why))) {
            Some((slot, why)) if retry_at == i64::MAX => Err(StepError::Record(slot_name(slot), why)),
            _ => Err(StepError::Exhausted { retry_at, now: view.now }),
        }
    }

    /// Extends a window, or starts a new one if the old one is over. In a quiet period the record may be older than the
    /// window of its owner, or than another grant of the slot. But until the window that was answered to this owner ends, by
    /// the clocks' difference too, no other member can have been granted the slot.
    pub(super) fn renew(&self, view: &View, group: &GroupRecord, held: &Renewal, memory: &Memory) -> Decision {
        let name = slot_name(held.slot);
        if let Some(answer) = self.shown(view, group) {
            return Ok(answer);
        }
        let own = own_slot(view, held.owner)?;
        if own.is_some_and(|slot| slot.life != group.life) {
            return Ok(Next::Done(Answer::Destroyed));
        }
        let is_kept = is_quiet(view, group) && own.is_some() && held.hi > view.now.saturating_add(self.skew(view));
        if !is_kept {
            self.enter(view, group)?;
        }
        let Some(own) = own else { return Ok(Next::Done(Answer::Lost)) };
        let Stage::Live(GroupConfig { ttl_ms, .. }) = group.state else { return Ok(Next::Read) };
        // Other members may have had the slot after the old window, and the store may have forgotten that: skip that time.
        let lo = if own.hi < view.now && !is_kept { view.now } else { own.lo };
        let hi = own.hi.max(view.now.saturating_add(ttl_ms)); // the clock may have been set back
        self.write(view, &name, SlotRecord { lo, hi, nonce: nonce(view.fresh), ..own.clone() }.text(), memory)
    }

    /// The answer, if this read shows the slot exactly as this step wrote it cleanly, and that grant still counts.
    fn shown(&self, view: &View, group: &GroupRecord) -> Option<Next> {
        let Some(Plan { to, identity, group: nonce, name, is_clean: true, .. }) = &self.plan else { return None };
        let Stage::Live(GroupConfig { durable, .. }) = group.state else { return None };
        let is_same = *nonce == group.nonce && identity.matches(&view.identity, durable);
        let is_there = view.texts.iter().any(|(known, text)| known == name && text.as_ref() == Some(to));
        if !is_same || !is_there {
            return None;
        }
        let shown = readable(view).find(|(slot, record)| slot_name(*slot) == *name && record.hi >= view.now);
        shown.map(|(slot, record)| granted(slot, record, view))
    }

    /// Gives a slot back, in a quiet period too: its owner knows how far it got.
    pub(super) fn release(
        &self,
        view: &View,
        group: &GroupRecord,
        (owner, slot): (Owner, u32),
        last: i64,
        memory: &Memory,
    ) -> Decision {
        let own = own_slot(view, owner)?.filter(|slot| slot.life == group.life);
        let Some(own) = own else { return Ok(Next::Done(Answer::Done)) };
        let record =
            SlotRecord { owner: None, hi: last.max(own.lo.saturating_sub(1)), nonce: nonce(view.fresh), ..own.clone() };
        self.write(view, &slot_name(slot), record.text(), memory)
    }

    /// Every slot that this group granted.
    pub(super) fn decide_list(&mut self, view: &View) -> Decision {
        let group = view.group.as_ref().filter(|group| matches!(group.state, Stage::Live(_)));
        let Some(group) = group else { return Ok(Next::Done(Answer::Listed(Vec::new(), Vec::new()))) };
        let Some(list) = &mut self.list else { return Ok(Next::Names) };
        Ok(list.take(view, group.life).map_or(Next::Read, Next::Done))
    }
}

/// The slots that may be granted: never used, or with a last window that ended before now.
fn free(view: &View) -> impl Iterator<Item = Free<'_>> {
    view.slots.iter().filter_map(|(slot, record)| match record {
        None => Some((*slot, None)),
        Some(Ok(record)) => (record.hi < view.now).then_some((*slot, Some(record))),
        Some(Err(_)) => None,
    })
}

fn is_quiet(view: &View, group: &GroupRecord) -> bool {
    view.now < group.quiet_until
}

fn granted(slot: u32, record: &SlotRecord, view: &View) -> Next {
    Next::Done(Answer::Granted(Granted { slot, lo: record.lo, hi: record.hi, now: view.now }))
}

/// The slot that was read, if it is this owner's.
fn own_slot(view: &View, owner: Owner) -> Result<Option<&SlotRecord>, StepError> {
    match view.slots.first() {
        Some((slot, Some(Err(why)))) => Err(StepError::Record(slot_name(*slot), *why)),
        Some((_, Some(Ok(record)))) if record.owner == Some(owner) => Ok(Some(record)),
        _ => Ok(None),
    }
}
