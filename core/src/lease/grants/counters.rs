//! Named counters that grow by one block at a time. Their IDs contain no time, so a lost write never becomes harmless: after
//! a possible loss, the counter stops until an operator says where to continue.

use crate::lease::grants::memory::{Known, Memory};
use crate::lease::grants::record::{COUNTER, CounterRecord, FIRST_LIFE, GROUP, GroupRecord, PAST, ServerIdentity};
use crate::lease::grants::step::{Decision, Next, Plan, Step, lineage, nonce};
use crate::lease::grants::task::{Answer, Look, StepError, Task};
use crate::lease::grants::view::own_group;

/// What the last read showed of a counter.
struct View {
    identity: ServerIdentity,
    text: Option<String>,
    counter: Option<CounterRecord>,
    /// whether this client saw the store go back, which the record does not note yet
    is_lost: bool,
    fresh: u128,
}

impl Step {
    /// What to do after a read of a counter.
    pub(super) fn decide_counter(&mut self, look: Look, memory: &mut Memory, fresh: u128) -> Decision {
        let Look { identity, mut values, .. } = look;
        if let Task::Past { lineage, .. } = self.task {
            let group = values.pop().flatten();
            let kept = values.pop().flatten();
            if let Some(next) = self.keep_past(kept, (group, lineage), &identity, memory, fresh)? {
                return Ok(next);
            }
        }
        let text = values.pop().flatten();
        let counter = text.as_deref().map(CounterRecord::parse).transpose();
        let counter = counter.map_err(|why| StepError::Record(self.record(), why))?;
        let key = self.counter_key();
        if let Some(plan) = &self.plan
            && plan.name == self.record()
            && plan.is_clean
            && text.as_ref() == Some(&plan.to)
        {
            memory.note(COUNTER, &key, plan.losses);
        }
        self.lineage = counter.as_ref().map(|counter| counter.lineage);
        let is_lost = memory.is_lost(COUNTER, &key, &self.sent);
        let view = View { identity, text, counter, is_lost, fresh };
        match self.task {
            Task::Counter => {
                return Ok(Next::Done(Answer::Counter(view.counter.filter(|counter| !counter.is_destroyed))));
            }
            Task::DestroyCounter => return self.destroy_counter(&view, memory),
            _ => {}
        }
        if let Some(number) = self.written(&view, memory) {
            return Ok(Next::Done(Answer::Number(number)));
        }
        match self.task {
            Task::SkipTo { place, durable } => self.skip_to(&view, place, durable, memory),
            Task::Advance { by, init, durable } => self.advance(&view, (by, init), durable, memory),
            Task::Past { by, .. } => self.advance(&view, (by, Some(0)), true, memory),
            Task::CounterRestored | Task::PastRestored => self.counter_restored(&view, memory),
            _ => Ok(Next::Read),
        }
    }

    /// The number that this step wrote, if it was answered cleanly and the read shows it or a later write.
    fn written(&self, view: &View, memory: &mut Memory) -> Option<u64> {
        let (plan, shown) = (self.plan.as_ref().filter(|plan| plan.name == self.record())?, view.counter.as_ref()?);
        let written = CounterRecord::parse(&plan.to).ok()?;
        let is_same = |identity: &ServerIdentity| identity.matches(&view.identity, shown.durable);
        let is_ours = plan.is_clean && shown.lineage == written.lineage && shown.value >= written.value;
        let is_stopped = written.is_lost || shown.is_lost || shown.is_destroyed || view.is_lost;
        if !is_ours || is_stopped || !is_same(&shown.identity) || !is_same(&plan.identity) {
            return None;
        }
        let (life, lineage, value) = (written.life, written.lineage, written.value);
        memory.keep_counter(&self.counter_key(), Known { life, lineage, value });
        match self.task {
            Task::Advance { by, .. } | Task::Past { by, .. } => Some(value - by),
            _ => Some(value),
        }
    }

    fn advance(&mut self, view: &View, (by, init): (u64, Option<u64>), durable: bool, memory: &Memory) -> Decision {
        // What was known when the read was sent: other steps of this client may have been given numbers since.
        let known = self.known;
        let Some(counter) = &view.counter else {
            return match (init, known) {
                (Some(_), None) if memory.counter(&self.counter_key()).is_some() => Ok(Next::Read),
                (Some(first), None) => self.write_counter(view, self.born(view, first, by, durable)?, memory),
                (None, None) => Err(StepError::Gone),
                (_, Some(Known { life, lineage, value })) => {
                    self.write_lost(view, CounterRecord { value, life, lineage, ..self.settled(view, durable) }, memory)
                }
            };
        };
        if counter.is_lost {
            return Err(StepError::Behind);
        }
        if counter.durable != durable && !counter.is_destroyed {
            return Err(StepError::Durable(counter.durable));
        }
        let is_anew = known.is_some_and(|known| known.life < counter.life);
        let known = known.filter(|_| !is_anew);
        let is_below = known.is_some_and(|known| counter.value < known.value);
        let is_another = known.is_some_and(|known| known.lineage != counter.lineage) && !counter.is_settled;
        if view.is_lost || is_below || is_another || !counter.identity.matches(&view.identity, durable) {
            return self.write_lost(view, counter.clone(), memory);
        }
        if init.is_none() && (is_anew || counter.is_destroyed) {
            return Err(StepError::CounterDestroyed); // the one that this member knows
        }
        if let (Some(first), true) = (init, counter.is_destroyed) {
            let born = CounterRecord { life: next_life(counter)?, ..self.born(view, first, by, durable)? };
            return self.write_counter(view, born, memory);
        }
        let value = counter.value.checked_add(by).ok_or(StepError::Full(counter.value))?;
        self.write_counter(view, CounterRecord { value, nonce: nonce(view.fresh), ..counter.clone() }, memory)
    }

    /// This client saw that numbers may be lost. Other members have to learn of it, because they may not see it: the store
    /// may show its previous identity again.
    fn write_lost(&self, view: &View, counter: CounterRecord, memory: &Memory) -> Decision {
        let nonce = nonce(view.fresh);
        self.write_counter(view, CounterRecord { is_lost: true, is_destroyed: false, nonce, ..counter }, memory)
    }

    /// The record stays, with its value and lineage: a member that knows numbers above them sees that the end is an older one.
    fn destroy_counter(&mut self, view: &View, memory: &Memory) -> Decision {
        let Some(counter) = &view.counter else { return Ok(Next::Done(Answer::Done)) };
        if *self.birth.ends.get_or_insert(counter.life) != counter.life {
            return Ok(Next::Done(Answer::Done)); // another member has created the next one meanwhile
        }
        let is_ours = self.plan.as_ref().is_some_and(|plan| view.text.as_ref() == Some(&plan.to));
        let is_kept = !is_ours || self.plan.as_ref().is_some_and(|plan| plan.is_clean);
        if counter.is_destroyed && is_kept {
            return Ok(Next::Done(Answer::Done));
        }
        let (identity, nonce) = (view.identity.clone(), nonce(view.fresh));
        let ended = CounterRecord { is_lost: false, is_destroyed: true, identity, nonce, ..counter.clone() };
        self.write_counter(view, ended, memory)
    }

    /// Called after an operator restored older records. An absent counter may be missing from them.
    fn counter_restored(&self, view: &View, memory: &Memory) -> Decision {
        match &view.counter {
            Some(counter) if counter.is_lost && self.wrote_cleanly(&self.record(), &counter.text()) => {
                Ok(Next::Done(Answer::Done))
            }
            Some(counter) => self.write_lost(view, counter.clone(), memory),
            None => self.write_lost(view, self.settled(view, false), memory),
        }
    }

    /// A counter that did not exist, with its first block taken.
    fn born(&self, view: &View, first: u64, by: u64, durable: bool) -> Result<CounterRecord, StepError> {
        let value = first.checked_add(by).ok_or(StepError::Full(first))?;
        Ok(CounterRecord { value, is_settled: false, ..self.settled(view, durable) })
    }

    /// A counter of a new lineage whose members vouch for it.
    fn settled(&self, view: &View, durable: bool) -> CounterRecord {
        CounterRecord {
            value: 0,
            is_lost: false,
            is_destroyed: false,
            life: FIRST_LIFE,
            lineage: lineage(view.fresh),
            is_settled: true,
            durable,
            identity: view.identity.clone(),
            nonce: nonce(view.fresh),
        }
    }

    /// Called when an operator says where to continue. A counter never goes down.
    fn skip_to(&mut self, view: &View, place: u64, durable: bool, memory: &Memory) -> Decision {
        let (value, life) = match &view.counter {
            Some(ended) if ended.is_destroyed => (place, next_life(ended)?),
            Some(counter) => (counter.value.max(place), counter.life),
            None => (place, FIRST_LIFE),
        };
        self.write_counter(view, CounterRecord { value, life, ..self.settled(view, durable) }, memory)
    }

    /// The name of the counter's record.
    fn record(&self) -> String {
        self.counter().unwrap_or(COUNTER).to_owned()
    }

    fn write_counter(&self, view: &View, counter: CounterRecord, memory: &Memory) -> Decision {
        Ok(write(self.record(), view, &counter, memory))
    }

    /// A counter of the past that is missing may be new or lost. The group's own record shows whether the store has lost
    /// anything, but only to members of that group: one that follows the loss shows none, and refuses the times before it. What
    /// even that record does not show, such as its own loss, a client may know. So the group has one more record, which is there
    /// before the first counter: once a client has noted a loss in it, no number of the past is given any more. `None` if all is
    /// as it should be.
    fn keep_past(
        &self,
        text: Option<String>,
        (group, own): (Option<String>, u64),
        identity: &ServerIdentity,
        memory: &mut Memory,
        fresh: u128,
    ) -> Result<Option<Next>, StepError> {
        let kept = text.as_deref().map(CounterRecord::parse).transpose();
        let kept = kept.map_err(|why| StepError::Record(PAST.to_owned(), why))?;
        let (key, known) = (self.past_key(), self.known_past);
        let is_written = self.plan.as_ref().is_some_and(|plan| plan.name == PAST && text.as_ref() == Some(&plan.to));
        let is_clean = self.plan.as_ref().is_some_and(|plan| plan.is_clean);
        let view = View { identity: identity.clone(), text, counter: None, is_lost: false, fresh };
        let has_lost = match &kept {
            Some(kept) if kept.is_lost => return Err(StepError::Behind),
            None if known.is_none() && memory.counter(&key).is_some() => return Ok(Some(Next::Read)),
            kept if known.is_some_and(|known| kept.as_ref().is_none_or(|kept| kept.lineage != known.lineage)) => true,
            _ => {
                let group = group.as_deref().map(GroupRecord::parse).transpose();
                let group = group.map_err(|why| StepError::Record(GROUP.to_owned(), why))?;
                let group = own_group(group.as_ref(), own)?;
                let is_lost = memory.is_lost(GROUP, &self.name, &self.sent);
                is_lost || group.lost > 0 || !group.identity.matches(identity, true)
            }
        };
        if let (Some(kept), false) = (&kept, has_lost || is_written && !is_clean) {
            memory.keep_counter(&key, Known { life: kept.life, lineage: kept.lineage, value: kept.value });
            return Ok(None);
        }
        let kept = kept.unwrap_or_else(|| self.settled(&view, true));
        let kept = CounterRecord { is_lost: has_lost, nonce: nonce(fresh), ..kept };
        Ok(Some(write(PAST.to_owned(), &view, &kept, memory)))
    }
}

fn write(name: String, view: &View, counter: &CounterRecord, memory: &Memory) -> Next {
    let (from, to) = (view.text.clone(), counter.text());
    let (identity, losses) = (view.identity.clone(), memory.losses());
    Next::Write(Plan { name, from, to, identity, group: 0, losses, is_clean: false })
}

fn next_life(ended: &CounterRecord) -> Result<u64, StepError> {
    ended.life.checked_add(1).ok_or(StepError::Nonsense("a counter with too many lives"))
}
