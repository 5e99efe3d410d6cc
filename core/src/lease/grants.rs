//! The rules that keep slots, windows and blocks unique, whatever the database. There is no other place for them.
//!
//! The lowest file comes first, and a file uses only those above it in this table. This file is what the driver calls. All
//! times are Unix ms of the store's clock, except where a name contains `client`.
//!
//! | file | its one idea |
//! |---|---|
//! | [`record`] | the texts of records |
//! | [`task`] | the messages between a step and its driver |
//! | `parts` | what the searches of one client saw of a large group |
//! | [`memory`] | what a client remembers from step to step |
//! | `view` | the result of a read, as records |
//! | `search` | which slots to look at |
//! | `list` | the progress of a list of slots |
//! | [`step`] | the progress of a step |
//! | `counters` | numbers that grow by one block at a time |
//! | `slots` | which member gets which slot and which window |
//! | `group` | the life of a group: how it begins, is quiet, and ends |

mod counters;
mod group;
mod list;
pub mod memory;
mod parts;
pub mod record;
mod search;
// The central promise: **no two grants of a slot share a millisecond.** It does not depend on the holders' clocks. It holds
// even if the database forgets writes that it acknowledged, as long as it then shows another identity or no group record,
// and its clocks before and after agree within the skew:
// - A slot is granted only when the store's clock is past `hi`, and every window starts at `now` or later. So a write that
//   was kept is safe at once. A forgotten write is safe once the longest window that may have been forgotten is over: that
//   is the **quiet period**, in which nothing is granted.
// - A grant, a renewal or a block needs two things: a **clean** swap, for which the server vouches that a promotion will
//   find it, and a later read that shows exactly that text. A swap alone is not enough, because a record can vanish, and
//   then an equal text is not an equal state. A read alone is not enough, because a disconnected server shows records that
//   no promoted server will ever have.
//
// A slot's `hi` falls only when its owner reports how far it got; no window starts before `now`; every answer has both a clean
// swap and a read; and no group starts again without what was known about the one before. `tests/model/mutants.js`
// breaks these rules, and the model finds each mistake; `npm run mutants -- grants` tries smaller changes.
mod slots;
// A database holds records: texts with names. It can do two things: **read** some records of a group at one moment, with its
// clock and its identity, and **swap** one record, if its text and the database's identity are still those that were read. A
// `Step` decides what to read and what to swap, after each read. The driver only reads and swaps, so a model checker can put
// a pause, a lost answer, a failover or a loss between every read and swap.
pub mod step;
pub mod task;
mod view;

use crate::layout::timescale::LAST_DATE_MS;
use crate::lease::grants::list::List;
use crate::lease::grants::memory::Memory;
use crate::lease::grants::record::{GROUP, GroupRecord, PAST, SlotRecord, Stage, slot_name, slot_of};
use crate::lease::grants::search::{Search, is_large};
use crate::lease::grants::step::{Birth, Next, Plan, Step};
use crate::lease::grants::task::{Answer, Ask, Look, Renewal, StepError, Swap, Task};
use crate::lease::grants::view::View;

/// The range of clocks, Unix ms: that of JavaScript's dates. So additions to it do not overflow.
const TIMES: std::ops::RangeInclusive<i64> = 0..=LAST_DATE_MS;

impl Step {
    /// A step for `task` on the group or counter of this name, and what to do first. `fresh`: random bits that were never
    /// used before, here and in all that follows.
    pub fn new(name: &str, task: Task, memory: &Memory, fresh: u128) -> (Self, Ask) {
        let mut step = Self {
            name: name.to_owned(),
            task,
            sent: memory.sent(),
            known: None,
            known_past: None,
            reading: Vec::new(),
            plan: None,
            search: Search::begun(memory.turns()),
            birth: Birth::default(),
            lineage: None,
            list: None,
            sweep: None,
        };
        let ask = match step.check_config() {
            Ok(()) => step.look(memory, fresh),
            Err(refused) => Ask::Done(Answer::Refused(refused)),
        };
        (step, ask)
    }

    /// Takes the result of a read.
    pub fn read(&mut self, look: Look, memory: &mut Memory, fresh: u128) -> Ask {
        if look.values.len() != self.reading.len() {
            return Ask::Done(Answer::Refused(StepError::Nonsense("a different number of values than names")));
        }
        if !TIMES.contains(&look.now) {
            return Ask::Done(Answer::Refused(StepError::Nonsense("a time that no clock shows")));
        }
        memory.see(&look.identity.history, look.position, &self.sent);
        self.turn(memory);
        let decided = if self.counter().is_some() {
            self.decide_counter(look, memory, fresh)
        } else {
            self.view(look, memory, fresh).and_then(|view| self.decide(view, memory))
        };
        match decided {
            Ok(Next::Read) => self.look_on(memory, fresh),
            Ok(Next::Write(plan)) => self.swap(plan),
            Ok(Next::Names) => Ask::Names,
            Ok(Next::Done(answer)) => Ask::Done(answer),
            Err(refused) => Ask::Done(Answer::Refused(refused)),
        }
    }

    /// Takes whether the swap was answered cleanly: the server vouches that a promotion will find this very write. Every
    /// other outcome, including an error, is false: the write may or may not have happened, and may be lost.
    pub fn swapped(&mut self, is_clean: bool, memory: &mut Memory, fresh: u128) -> Ask {
        if let Some(plan) = &mut self.plan {
            plan.is_clean = is_clean;
            if matches!(self.task, Task::Release { .. }) && is_clean && plan.name != GROUP {
                return Ask::Done(Answer::Done);
            }
            if plan.name != GROUP {
                let now = self.turn(memory);
                self.search.swapped(is_clean, now);
            }
        }
        self.look_on(memory, fresh)
    }

    /// The names of the group's records.
    pub fn named(&mut self, names: Vec<String>, memory: &Memory, fresh: u128) -> Ask {
        self.list = Some(List::of(names));
        self.look(memory, fresh)
    }

    /// Ends a turn of the client's memory; only searches in large groups need the order of events.
    pub(super) fn turn(&self, memory: &mut Memory) -> u64 {
        self.searched().map_or(0, |_| memory.turn())
    }

    /// The number of slots in the large group that this step searches.
    fn searched(&self) -> Option<u32> {
        match &self.task {
            Task::Join(config, _) | Task::Acquire(config, _) => Some(config.slots).filter(|&slots| is_large(slots)),
            _ => None,
        }
    }

    /// A later read. (The first one of a search in a large group shows no part of it.)
    fn look_on(&mut self, memory: &mut Memory, fresh: u128) -> Ask {
        let ask = self.look(memory, fresh);
        if let Some(slots) = self.searched() {
            self.search.sent(slots, self.sent.turns, memory.parts_mut(&self.name));
        }
        ask
    }

    /// The next read.
    fn look(&mut self, memory: &Memory, fresh: u128) -> Ask {
        self.sent = memory.sent();
        self.known = self.counter().and_then(|_| memory.counter(&self.counter_key()));
        self.known_past = self.counter().and_then(|_| memory.counter(&self.past_key()));
        self.reading = self.names(memory, fresh);
        Ask::Read(self.reading.clone())
    }

    fn names(&mut self, memory: &Memory, fresh: u128) -> Vec<String> {
        if let Some(counter) = self.counter() {
            let past = matches!(self.task, Task::Past { .. }).then_some([PAST, GROUP]);
            return [counter].into_iter().chain(past.into_iter().flatten()).map(str::to_owned).collect();
        }
        if let Some(sweep) = &self.sweep {
            return std::iter::once(GROUP.to_owned()).chain(sweep.part().map(slot_name)).collect();
        }
        let slots = match &self.task {
            Task::Renew(_, Renewal { slot, .. }) | Task::Release { slot, .. } => vec![*slot],
            Task::Used { slots, .. } => slots.clone(),
            Task::Join(config, seeker) | Task::Acquire(config, seeker) => {
                self.search.slots(config.slots, seeker, memory, (&self.name, fresh))
            }
            Task::List => {
                let rest = self.list.iter_mut().flat_map(List::next_names);
                return std::iter::once(GROUP.to_owned()).chain(rest).collect();
            }
            _ => Vec::new(),
        };
        std::iter::once(GROUP.to_owned()).chain(slots.into_iter().map(slot_name)).collect()
    }

    fn swap(&mut self, plan: Plan) -> Ask {
        let Plan { name, from, to, identity, .. } = plan.clone();
        self.plan = Some(plan);
        Ask::Swap(Swap { name, from, to, identity })
    }

    /// The records of a read. An unreadable group record ends the step.
    fn view(&mut self, look: Look, memory: &mut Memory, fresh: u128) -> Result<View, StepError> {
        let Look { now, identity, values, client, .. } = look;
        let texts: Vec<_> = self.reading.iter().cloned().zip(values).collect();
        let (mut group, mut slots) = (None, Vec::new());
        for (name, text) in &texts {
            match slot_of(name) {
                Some(slot) => slots.push((slot, text.as_deref().map(SlotRecord::parse))),
                None => group = text.as_deref().map(GroupRecord::parse),
            }
        }
        let group = group.transpose().map_err(|why| StepError::Record(GROUP.to_owned(), why))?;
        if let (Some(plan), Some(group)) = (&self.plan, &group)
            && plan.name == GROUP
            && plan.is_clean
            && matches!(group.state, Stage::Live(_)) // in all other states a loss is still to be noted
            && plan.to == group.text()
        {
            memory.note(GROUP, &self.name, plan.losses);
        }
        let living = group.as_ref().filter(|group| matches!(group.state, Stage::Live(_)));
        self.lineage = living.map(|group| group.lineage);
        let is_lost = memory.is_lost(GROUP, &self.name, &self.sent);
        Ok(View { now, identity, client, texts, group, slots, is_lost, fresh })
    }
}
