//! The life of a group: unknown, live, ending, destroyed, and live again. It decides when a group is quiet. Nothing is
//! written after a record of a newer version was read.

use crate::layout::timescale::LAST_DATE_MS;
use crate::lease::grants::memory::Memory;
use crate::lease::grants::record::{GROUP, GroupConfig, GroupRecord, Stage, slot_name};
use crate::lease::grants::step::{Birth, Decision, Next, Step, Sweep, lineage, nonce};
use crate::lease::grants::task::{Answer, Renewal, StepError, Task};
use crate::lease::grants::view::{View, own_group, refusal};

impl Step {
    /// What to do after a read, except for counters.
    pub(super) fn decide(&mut self, view: View, memory: &mut Memory) -> Decision {
        match self.task {
            Task::List => return self.decide_list(&view),
            Task::Exists => {
                let is_live = view.group.is_some_and(|group| matches!(group.state, Stage::Live(_)));
                return Ok(Next::Done(Answer::Exists(is_live)));
            }
            Task::Used { lineage, .. } => return self.used(&view, lineage),
            _ => {}
        }
        if let Some(refused) = refusal(&view) {
            return Err(refused);
        }
        let is_ending = view.group.as_ref().is_some_and(|group| matches!(group.state, Stage::Ending(_)));
        if !is_ending && self.sweep.take().is_some() {
            return Ok(Next::Read); // another member was faster: the slots of this read are those of the ended group
        }
        let Some(group) = view.group.clone() else { return self.absent(&view, memory) };
        if matches!(self.task, Task::Restored) {
            return self.restored(&view, group, memory);
        }
        match &group.state {
            Stage::Unknown => self.unknown(&view, &group, memory),
            Stage::Ending(config) => self.ending(&view, &group, config, memory),
            Stage::Destroyed { durable, fingerprint } => self.destroyed(&view, &group, (*durable, fingerprint), memory),
            Stage::Live(config) => self.live(&view, &group, config, memory),
        }
    }

    /// Until when these slots, or their nodes, may have been used: in this and in earlier groups with the same fingerprint by
    /// their records, of which the last renewal may have been lost, but not more; in all others, until their end; and in those
    /// whose store lost more, until the quiet period after that. Only the record of the member's own group knows all that: an
    /// earlier one, which a loss brings back, knows less.
    fn used(&self, view: &View, lineage: u64) -> Decision {
        let group = own_group(view.group.as_ref(), lineage)?;
        let mut until = Some(group.others).filter(|&others| others > 0);
        for (slot, record) in &view.slots {
            match record {
                Some(Ok(record)) => until = until.max(Some(record.hi.saturating_add(self.sent.limits.longest_ttl_ms))),
                Some(Err(why)) => return Err(StepError::Record(slot_name(*slot), *why)),
                None => {}
            }
        }
        Ok(Next::Done(Answer::Used(until)))
    }

    /// Whether this step wrote this record without a confirmation: a promoted server may not have it.
    fn may_be_lost(&self, group: &GroupRecord) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.name == GROUP && !plan.is_clean && plan.to == group.text())
    }

    fn write_group(&self, view: &View, group: GroupRecord, memory: &Memory) -> Decision {
        self.write(view, GROUP, group.text(), memory)
    }

    /// The end of every window that may have been forgotten, including the clocks' difference.
    fn quiet_from(&self, view: &View, ttl_ms: i64) -> i64 {
        surely_over(view.now, ttl_ms, self.skew(view))
    }

    /// When the windows of an unknown group are certainly over.
    fn unknown_until(&self, view: &View) -> i64 {
        self.quiet_from(view, self.sent.limits.longest_ttl_ms)
    }

    /// There is no record: it may have been lost. Only a second read that shows this text starts a group.
    fn absent(&mut self, view: &View, memory: &Memory) -> Decision {
        match &self.task {
            Task::Release { .. } => return Ok(Next::Done(Answer::Done)),
            Task::Renew(_, held) => return without_group(view, held),
            _ => {}
        }
        let nonce = nonce(view.fresh);
        let identity = view.identity.clone();
        self.birth.is_spoilt = self.birth.first.is_some();
        self.birth.first = Some((view.now, nonce, identity.clone()));
        let group = GroupRecord { state: Stage::Unknown, identity, nonce, ..GroupRecord::default() };
        self.write_group(view, group, memory)
    }

    fn unknown(&mut self, view: &View, group: &GroupRecord, memory: &Memory) -> Decision {
        let nonce = nonce(view.fresh);
        let quiet_until = group.quiet_until.max(self.unknown_until(view));
        let identity = view.identity.clone();
        match &self.task {
            Task::Release { .. } => Ok(Next::Done(Answer::Done)),
            Task::Renew(_, held) => without_group(view, held),
            Task::Destroy => {
                let state = Stage::Destroyed { durable: false, fingerprint: String::new() };
                let ended = quiet_until;
                self.write_group(
                    view,
                    GroupRecord { state, quiet_until, ended, identity, nonce, ..group.clone() },
                    memory,
                )
            }
            _ => {
                let config = self.config().expect("all other steps have one").clone();
                let quiet_until = match self.task {
                    _ if view.is_lost => quiet_until,
                    _ if config.durable => group.quiet_until,
                    Task::Create(_) if self.is_proven_new(view, group) => {
                        self.quiet_from(view, self.sent.limits.create_within_ms)
                    }
                    _ => quiet_until,
                };
                self.birth.made = Some(nonce);
                let state = Stage::Live(config);
                let lineage = lineage(view.fresh);
                self.write_group(
                    view,
                    GroupRecord { state, life: 1, lineage, quiet_until, identity, nonce, ..GroupRecord::default() },
                    memory,
                )
            }
        }
    }

    /// Called after an operator restored older records, which other members may not be able to see.
    fn restored(&mut self, view: &View, group: GroupRecord, memory: &Memory) -> Decision {
        if self.birth.made == Some(group.nonce) && self.wrote_cleanly(GROUP, &group.text()) {
            return Ok(Next::Done(Answer::Done));
        }
        let quiet_until = group.quiet_until.max(self.unknown_until(view));
        let (lineage, nonce, identity) = (lineage(view.fresh), nonce(view.fresh), view.identity.clone());
        self.birth.made = Some(nonce);
        self.write_group(
            view,
            GroupRecord { lineage, quiet_until, identity, lost: quiet_until, nonce, ..group },
            memory,
        )
    }

    /// Whether this step found nothing and then its own text, soon and on one server.
    fn is_proven_new(&self, view: &View, group: &GroupRecord) -> bool {
        let Birth { first: Some((at, nonce, identity)), is_spoilt: false, .. } = &self.birth else { return false };
        let is_soon = (0..=self.sent.limits.create_within_ms).contains(&(view.now - at));
        is_soon && *nonce == group.nonce && group.identity == *identity && view.identity == *identity
    }

    /// Every member that finds a group whose end has started finishes it. The quiet period counts from the last read.
    fn ending(&mut self, view: &View, group: &GroupRecord, config: &GroupConfig, memory: &Memory) -> Decision {
        match self.task {
            Task::Release { .. } => Ok(Next::Done(Answer::Done)),
            Task::Renew(..) => Ok(Next::Done(Answer::Destroyed)),
            _ => {
                let Some(last) = self.last_window(view, group, config) else { return Ok(Next::Read) };
                let longest =
                    if config.durable && !view.is_lost { config.ttl_ms } else { self.sent.limits.longest_ttl_ms };
                let quiet_until = group.quiet_until.max(surely_over(view.now, longest, config.skew_ms));
                self.sweep = None;
                let ended = group.ended.max(quiet_until).max(last);
                let state = Stage::Destroyed { durable: config.durable, fingerprint: config.fingerprint.clone() };
                let group = GroupRecord { state, quiet_until, ended, nonce: nonce(view.fresh), ..group.clone() };
                self.write_group(view, group, memory)
            }
        }
    }

    /// The end of the last window, once all slots were read. It may be far after the quiet period, if the store's clock was set
    /// back. No window is answered any more: that needs a read of a living group. An unreadable slot may have any.
    fn last_window(&mut self, view: &View, group: &GroupRecord, config: &GroupConfig) -> Option<i64> {
        let begun = Sweep { nonce: group.nonce, slots: config.slots, next: 0, until: 0 };
        let Some(sweep) = self.sweep.as_mut().filter(|sweep| sweep.nonce == group.nonce) else {
            self.sweep = Some(begun);
            return None;
        };
        let ends = view.slots.iter().filter_map(|(_, record)| record.as_ref());
        let last = ends.map(|record| record.as_ref().map_or(LAST_DATE_MS, |slot| slot.hi)).max();
        sweep.until = sweep.until.max(last.unwrap_or_default());
        sweep.next = sweep.part().end;
        (sweep.next == sweep.slots).then_some(sweep.until)
    }

    /// The next group keeps the quiet period. If the store may have lost a group that already followed, the quiet period
    /// starts again: the member that ended a lost group did not know how far apart its members' clocks may be. And nothing is
    /// known of the lost group's IDs.
    fn destroyed(
        &mut self,
        view: &View,
        group: &GroupRecord,
        (durable, fingerprint): (bool, &str),
        memory: &Memory,
    ) -> Decision {
        let config = match &self.task {
            Task::Release { .. } => return Ok(Next::Done(Answer::Done)),
            Task::Destroy if self.may_be_lost(group) => {
                return self.write_group(view, GroupRecord { nonce: nonce(view.fresh), ..group.clone() }, memory);
            }
            Task::Destroy => return Ok(Next::Done(Answer::Done)),
            Task::Renew(..) => return Ok(Next::Done(Answer::Destroyed)),
            Task::Create(config) | Task::Join(config, _) => config.clone(),
            _ => return Err(StepError::Destroyed),
        };
        let is_same = group.identity.matches(&view.identity, durable && config.durable) && !view.is_lost;
        let unknown = (self.skew(view) - self.sent.limits.usual_skew_ms).max(0);
        let known = group.quiet_until.saturating_add(unknown);
        let quiet_until = if is_same { known } else { known.max(self.unknown_until(view)) };
        let ended = if is_same { group.ended } else { group.ended.max(quiet_until) };
        let others = if is_same && fingerprint == config.fingerprint { group.others.max(group.lost) } else { ended };
        let nonce = nonce(view.fresh);
        self.birth.made = Some(nonce);
        let (state, identity) = (Stage::Live(config), view.identity.clone());
        let life = group.life.checked_add(1).ok_or(StepError::Nonsense("a group with too many lives"))?;
        let lineage = lineage(view.fresh);
        self.write_group(
            view,
            GroupRecord { state, life, lineage, quiet_until, identity, ended, others, nonce, ..GroupRecord::default() },
            memory,
        )
    }

    /// The group after a possible loss: quiet. Two servers that alternate would keep it quiet forever, so after some returns
    /// nothing more is written, and one of the two can continue when the period ends.
    fn after_loss(&self, view: &View, group: &GroupRecord) -> Result<GroupRecord, StepError> {
        let quiet_until = group.quiet_until.max(self.unknown_until(view));
        let (identity, nonce) = (view.identity.clone(), nonce(view.fresh));
        if identity == group.identity {
            return Ok(GroupRecord { quiet_until, lost: quiet_until, nonce, ..group.clone() });
        }
        let recorded = group.identity.clone();
        let is_back = view.now < group.quiet_until && identity == group.replaced;
        if is_back && group.returns >= self.sent.limits.most_returns {
            return Err(StepError::TwoServers { shown: identity, recorded });
        }
        let returns = if is_back { group.returns + 1 } else { 0 };
        let replaced = recorded;
        Ok(GroupRecord { quiet_until, identity, replaced, returns, lost: quiet_until, nonce, ..group.clone() })
    }

    fn live(&mut self, view: &View, group: &GroupRecord, config: &GroupConfig, memory: &mut Memory) -> Decision {
        let nonce = nonce(view.fresh);
        if matches!(self.task, Task::Destroy) {
            if *self.birth.ends.get_or_insert(group.life) != group.life {
                return Ok(Next::Done(Answer::Done));
            }
            let state = Stage::Ending(config.clone());
            return self.write_group(view, GroupRecord { state, nonce, ..group.clone() }, memory);
        }
        if self.config().is_some_and(|ours| ours != config) {
            return match self.task {
                Task::Release { .. } => Ok(Next::Done(Answer::Done)),
                // The options were the same when the slot was granted, so this is another group.
                Task::Renew(..) => Ok(Next::Done(Answer::Destroyed)),
                _ => Err(StepError::Mismatch(config.clone())),
            };
        }
        if view.is_lost || !group.identity.matches(&view.identity, config.durable) {
            return self.write_group(view, self.after_loss(view, group)?, memory);
        }
        match &self.task {
            Task::Renew(_, held) => self.renew(view, group, held, memory),
            Task::Release { owner, slot, last, .. } => self.release(view, group, (*owner, *slot), *last, memory),
            Task::Join(_, seeker) | Task::Acquire(_, seeker) => {
                let seeker = seeker.clone();
                self.acquire(view, group, &seeker, memory)
            }
            _ if self.may_be_lost(group) => {
                let is_new = self.birth.made == Some(group.nonce);
                self.birth.made = Some(nonce).filter(|_| is_new);
                self.write_group(view, GroupRecord { nonce, ..group.clone() }, memory)
            }
            _ => {
                let is_new = self.birth.made == Some(group.nonce);
                Ok(Next::Done(Answer::Opened { is_new, quiet_until: group.quiet_until, now: view.now }))
            }
        }
    }
}

/// A renewal finds no group: the records were lost or removed, or this is another place. Only a member that joins creates a
/// group, so this one uses its window to the end, then searches for a slot again.
fn without_group(view: &View, held: &Renewal) -> Decision {
    if held.hi < view.now { Ok(Next::Done(Answer::Lost)) } else { Err(StepError::Absent) }
}

/// When a window that was granted before `now` is over, by all clocks.
fn surely_over(now: i64, ttl_ms: i64, skew_ms: i64) -> i64 {
    now.saturating_add(ttl_ms).saturating_add(skew_ms).saturating_add(1)
}
