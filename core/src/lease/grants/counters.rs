//! Named counters that grow by one block at a time. Their IDs contain no time, so a lost write never becomes harmless: after
//! a possible loss, the counter stops until an operator says where to continue.

use crate::lease::grants::memory::{Known, Memory};
use crate::lease::grants::record::{COUNTER, CounterRecord, ServerIdentity};
use crate::lease::grants::step::{Decision, Next, Plan, Step, lineage, nonce};
use crate::lease::grants::task::{Answer, Look, StepError, Task};

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
        let text = values.pop().flatten();
        let counter = text.as_deref().map(CounterRecord::parse).transpose();
        let counter = counter.map_err(|why| StepError::Record(COUNTER.to_owned(), why))?;
        if let Some(plan) = &self.plan
            && plan.is_clean
            && text.as_ref() == Some(&plan.to)
        {
            memory.note(COUNTER, &self.name, plan.losses);
        }
        self.lineage = counter.as_ref().map(|counter| counter.lineage);
        let is_lost = memory.is_lost(COUNTER, &self.name, &self.sent);
        let view = View { identity, text, counter, is_lost, fresh };
        if let Some(number) = self.written(&view, memory) {
            return Ok(Next::Done(Answer::Number(number)));
        }
        match self.task {
            Task::SkipTo { place, durable } => self.skip_to(&view, place, durable, memory),
            Task::Advance { by, init, durable } => self.advance(&view, (by, init), durable, memory),
            Task::CounterRestored => self.counter_restored(&view, memory),
            _ => Ok(Next::Read),
        }
    }

    /// The number that this step wrote, if it was answered cleanly and the read shows it or a later write.
    fn written(&self, view: &View, memory: &mut Memory) -> Option<u64> {
        let (plan, shown) = (self.plan.as_ref()?, view.counter.as_ref()?);
        let written = CounterRecord::parse(&plan.to).ok()?;
        let is_same = |identity: &ServerIdentity| identity.matches(&view.identity, shown.durable);
        let is_ours = plan.is_clean && shown.lineage == written.lineage && shown.value >= written.value;
        let is_stopped = written.is_lost || shown.is_lost || view.is_lost;
        if !is_ours || is_stopped || !is_same(&shown.identity) || !is_same(&plan.identity) {
            return None;
        }
        let (lineage, value) = (written.lineage, written.value);
        memory.keep_counter(&self.name, Known { lineage, value });
        match self.task {
            Task::Advance { by, .. } => Some(value - by),
            _ => Some(value),
        }
    }

    fn advance(&mut self, view: &View, (by, init): (u64, Option<u64>), durable: bool, memory: &Memory) -> Decision {
        // What was known when the read was sent: other steps of this client may have been given numbers since.
        let known = self.known;
        let Some(counter) = &view.counter else {
            return match (init, known) {
                (Some(_), None) if memory.counter(&self.name).is_some() => Ok(Next::Read),
                (Some(first), None) => self.write_counter(view, self.born(view, first, by, durable)?, memory),
                (None, None) => Err(StepError::Gone),
                (_, Some(Known { lineage, value })) => {
                    self.write_lost(view, CounterRecord { value, lineage, ..self.settled(view, durable) }, memory)
                }
            };
        };
        if counter.is_lost {
            return Err(StepError::Behind);
        }
        if counter.durable != durable {
            return Err(StepError::Durable(counter.durable));
        }
        let is_below = known.is_some_and(|known| counter.value < known.value);
        let is_another = known.is_some_and(|known| known.lineage != counter.lineage) && !counter.is_settled;
        if view.is_lost || is_below || is_another || !counter.identity.matches(&view.identity, durable) {
            return self.write_lost(view, counter.clone(), memory);
        }
        let value = counter.value.checked_add(by).ok_or(StepError::Full(counter.value))?;
        self.write_counter(view, CounterRecord { value, nonce: nonce(view.fresh), ..counter.clone() }, memory)
    }

    /// This client saw that numbers may be lost. Other members have to learn of it, because they may not see it: the store
    /// may show its previous identity again.
    fn write_lost(&self, view: &View, counter: CounterRecord, memory: &Memory) -> Decision {
        self.write_counter(view, CounterRecord { is_lost: true, nonce: nonce(view.fresh), ..counter }, memory)
    }

    /// Called after an operator restored older records. An absent counter may be missing from them.
    fn counter_restored(&self, view: &View, memory: &Memory) -> Decision {
        match &view.counter {
            Some(counter) if counter.is_lost && self.wrote_cleanly(COUNTER, &counter.text()) => {
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
            lineage: lineage(view.fresh),
            is_settled: true,
            durable,
            identity: view.identity.clone(),
            nonce: nonce(view.fresh),
        }
    }

    /// Called when an operator says where to continue. A counter never goes down.
    fn skip_to(&mut self, view: &View, place: u64, durable: bool, memory: &Memory) -> Decision {
        let value = view.counter.as_ref().map_or(place, |counter| counter.value.max(place));
        self.write_counter(view, CounterRecord { value, ..self.settled(view, durable) }, memory)
    }

    fn write_counter(&self, view: &View, counter: CounterRecord, memory: &Memory) -> Decision {
        let (name, from, to) = (COUNTER.to_owned(), view.text.clone(), counter.text());
        let (identity, losses) = (view.identity.clone(), memory.losses());
        Ok(Next::Write(Plan { name, from, to, identity, group: 0, losses, is_clean: false }))
    }
}
