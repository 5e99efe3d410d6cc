//! A member of a group over any database, with the generator of the slot that it holds.
//!
//! It asks the store when its caller says so, and waits for the answer. Who cannot wait drives
//! [`Machine`](crate::lease::Machine) and [`Step`] instead, as the addon does.
//!
//! This file must never keep a generator whose slot the store says is lost.

use std::error::Error;

use crate::generator::clock::system_ns;
use crate::generator::registry::{Key, group_fingerprint};
use crate::generator::{Generator, Knobs};
use crate::layout::Layout;
use crate::layout::timescale::whole_ms;
use crate::lease::grants::memory::{Limits, Memory};
use crate::lease::grants::record::{GroupConfig, ServerIdentity};
use crate::lease::grants::step::Step;
use crate::lease::grants::task::{Answer, Ask, Granted, Holding, Look, Seeker, StepError, Task};
use crate::open::attachment::{Attachment, NO_ID};
use crate::open::process::{random, registry};
use crate::refusal::Refusal;

/// So many reads and swaps without an answer are too many: the store does not do what it must.
const MOST_TURNS: usize = 1000;

/// The records of one group in a database: texts with names.
pub trait Records {
    /// The records of these names, all read at one moment.
    fn read(&mut self, names: &[String]) -> Result<Shown, Box<dyn Error + Send + Sync>>;

    /// Writes `to` if the record is still `from` and the server still this one, in one step; says whether it did.
    fn swap(
        &mut self,
        name: &str,
        from: Option<&str>,
        to: &str,
        server: &ServerIdentity,
    ) -> Result<bool, Box<dyn Error + Send + Sync>>;
}

/// What one read showed.
#[derive(Clone, Debug)]
pub struct Shown {
    /// the database's clock, Unix ms, read after the records
    pub now: i64,
    /// the server that answered
    pub server: ServerIdentity,
    /// the texts, in the order of the names; `None` for an absent record
    pub values: Vec<Option<String>>,
}

/// A member of a group: it holds a slot, whose number is its node number, for windows of time.
///
/// ```
/// # use std::collections::HashMap;
/// # use std::error::Error;
/// # use flakeforge_core::{Layout, Member, Records, Refusal, ServerIdentity, Shown};
/// struct InMemory(HashMap<String, String>);
///
/// impl Records for InMemory {
///     fn read(&mut self, names: &[String]) -> Result<Shown, Box<dyn Error + Send + Sync>> {
///         let server = ServerIdentity { history: "one".to_owned(), process: "first".to_owned() };
///         let values = names.iter().map(|name| self.0.get(name).cloned()).collect();
///         let now = std::time::UNIX_EPOCH.elapsed()?.as_millis() as i64;
///         Ok(Shown { now, server, values })
///     }
///
///     fn swap(
///         &mut self,
///         name: &str,
///         from: Option<&str>,
///         to: &str,
///         _server: &ServerIdentity, // this one is always the same
///     ) -> Result<bool, Box<dyn Error + Send + Sync>> {
///         let is_unchanged = self.0.get(name).map(String::as_str) == from;
///         if is_unchanged {
///             self.0.insert(name.to_owned(), to.to_owned());
///         }
///         Ok(is_unchanged)
///     }
/// }
///
/// let layout = Layout::named("flake").expect("a layout of the table");
/// let mut member = Member::new(InMemory(HashMap::new()), "orders", &layout, 30_000);
/// // Nobody knows yet whether an older group is forgotten: a new one is quiet first.
/// assert!(matches!(member.hold(), Err(Refusal::Exhausted { .. })));
/// ```
#[derive(Debug)]
pub struct Member<R> {
    records: R,
    group: String,
    layout: Layout,
    config: GroupConfig,
    memory: Memory,
    /// of the next acquisition; the same again after one that failed
    owner: u128,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    ids: Generator,
    attachment: Attachment,
    holding: Holding,
}

impl<R: Records> Member<R> {
    /// Holds no slot yet. A window reaches `ttl_ms` beyond the database's time. All members of a group must agree on the
    /// layout and on that.
    pub fn new(records: R, group: &str, layout: &Layout, ttl_ms: i64) -> Self {
        let slots = u32::try_from(layout.node_max()).map_or(u32::MAX, |max| max.saturating_add(1));
        let skew_ms = Limits::default().usual_skew_ms;
        let config = GroupConfig { fingerprint: group_fingerprint(layout), slots, ttl_ms, skew_ms, durable: false };
        let (group, layout, memory) = (group.to_owned(), layout.clone(), Memory::default());
        Self { records, group, layout, config, memory, owner: random(), held: None }
    }

    /// The generator of the slot that it holds, whose window is prolonged; or of a new slot, if it holds none or has lost it.
    /// Call this every third of the ttl. If it fails, the generator that was there goes on until its window ends.
    pub fn hold(&mut self) -> Result<&mut Generator, Refusal> {
        if let Some(holding) = self.held.as_ref().map(|held| held.holding.clone()) {
            match self.step(Task::Renew(self.config.clone(), holding))? {
                Answer::Granted(Granted { lo, hi, .. }) => {
                    if let Some(held) = &mut self.held {
                        held.attachment.raise(lo, hi);
                        held.holding.hi = hi;
                    }
                }
                _ => self.held = None, // lost, or the group has ended
            }
        }
        if self.held.is_none() {
            self.held = Some(self.acquire()?);
        }
        self.ids().ok_or(Refusal::WindowEnd)
    }

    /// The generator, without asking the database; `None` if no slot is held.
    pub fn ids(&mut self) -> Option<&mut Generator> {
        self.held.as_mut().map(|held| &mut held.ids)
    }

    /// Gives the slot back, if one is held. If that fails, others can have the slot when its window is over.
    pub fn leave(&mut self) -> Result<(), Refusal> {
        let Some(Held { attachment, holding: Holding { owner, slot, .. }, .. }) = self.held.take() else {
            return Ok(());
        };
        self.release(owner, slot, attachment.retire())
    }

    fn release(&mut self, owner: u128, slot: u32, last: i64) -> Result<(), Refusal> {
        self.step(Task::Release { config: self.config.clone(), owner, slot, last }).map(drop)
    }

    fn acquire(&mut self) -> Result<Held, Refusal> {
        let owner = self.owner;
        let seeker = Seeker { owner, host: String::new() };
        let Answer::Granted(Granted { slot, lo, hi, .. }) = self.step(Task::Join(self.config.clone(), seeker))? else {
            return Err(Refusal::Destroyed);
        };
        self.owner = random();
        let node = self.layout.place_node(slot.into());
        let hold = registry().lease(Key::new(&self.layout, node));
        let hold = match hold {
            Ok(hold) => hold,
            Err(clash) => {
                self.release(owner, slot, NO_ID)?;
                return Err(clash);
            }
        };
        let (cursor, attachment) = Attachment::in_window(&self.layout, hold, lo, hi);
        let ids = Generator::of(cursor, &self.layout, node, &Knobs::of(&self.layout));
        Ok(Held { ids, attachment, holding: Holding { owner, slot, hi } })
    }

    fn step(&mut self, task: Task) -> Result<Answer, Refusal> {
        let (mut step, mut ask) = Step::new(&self.group, task, &self.memory, random());
        let failed = |error: Box<dyn Error + Send + Sync>| Refusal::Store(error.to_string());
        for _ in 0..MOST_TURNS {
            ask = match ask {
                Ask::Read(names) => {
                    let before = whole_ms(system_ns());
                    let Shown { now, server, values } = self.records.read(&names).map_err(failed)?;
                    let client = (before, whole_ms(system_ns()));
                    let look = Look { now, identity: server, values, position: None, client };
                    step.read(look, &mut self.memory, random())
                }
                Ask::Swap(swap) => {
                    let is_done = self.records.swap(&swap.name, swap.from.as_deref(), &swap.to, &swap.identity);
                    step.swapped(is_done.map_err(failed)?, &mut self.memory, random())
                }
                Ask::Names => step.named(vec![], &self.memory, random()),
                Ask::Done(Answer::Refused(why)) => return Err(refused(why)),
                Ask::Done(answer) => return Ok(answer),
            }
        }
        Err(Refusal::Store("no swap succeeded".to_owned()))
    }
}

fn refused(why: StepError) -> Refusal {
    match why {
        StepError::Quiet { until, .. } => Refusal::Exhausted { retry_at_ms: until },
        StepError::Exhausted { retry_at, .. } => Refusal::Exhausted { retry_at_ms: retry_at },
        StepError::Destroyed => Refusal::Destroyed,
        other => Refusal::Store(other.to_string()),
    }
}

#[cfg(test)]
mod tests;
