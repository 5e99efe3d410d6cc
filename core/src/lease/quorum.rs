//! One store out of several that know nothing of each other. Every record is a register of its own, agreed on by CASPaxos
//! (Rystsov, 2018), and the record of that name in each store is an **acceptor**. A store can only read and swap, and that is
//! enough: an acceptor's step is one swap, from exactly the text that was read.
//!
//! The rules have numbers, which the comments in these files name:
//!
//! - **Q1** Every store's seat records the list of stores, and members with another list are refused.
//! - **Q2** No ballot is used for two values, and it is above every promise in sight.
//! - **Q3** A swap is a round: promises of a majority, then the value.
//! - **Q4** A read is answered when a majority shows the same accepted ballot for every name.
//! - **Q5** Only whole seats count: those whose store shows the identity that the seat recorded.
//! - **Q6** A store that lost its data votes again only after every record was written anew on a majority without it.
//! - **Q7** Without a majority of whole votes, all stores together start a new, empty era.
//! - **Q8** The era is the identity of the whole, and stores whose clocks are apart do not count.
//! - **Q9** A list is changed on the seats of a majority before a new store is filled.
//!
//! The lowest file comes first. A file uses only those above it in this table. This file is what the driver calls.
//!
//! | file | its one idea |
//! |---|---|
//! | [`stores`] | the list of stores |
//! | [`ballot`] | the order of proposals |
//! | [`record`] | the texts of seats and acceptors |
//! | [`messages`] | the messages between a step and its driver |
//! | `view` | what the snapshots of several stores say together |
//! | [`memory`] | what a client remembers from step to step |
//! | `turn` | one event, and what to do after it |
//! | `collect` | one read of every store |
//! | `round` | one proposal for one register |
//! | `era` | how a new era starts |
//! | `read` | a snapshot of the whole |
//! | `swap` | a conditional write of the whole |
//! | `names` | the names that have records |
//! | `fill` | how a store that lost its data votes again |
//! | `change` | how a store is replaced, and how three become five |

pub mod ballot;
mod change;
mod collect;
mod era;
mod fill;
pub mod memory;
pub mod messages;
mod names;
mod read;
pub mod record;
mod round;
pub mod stores;
mod swap;
mod turn;
mod view;

use crate::lease::quorum::change::Change;
use crate::lease::quorum::fill::Fill;
use crate::lease::quorum::memory::Memory;
use crate::lease::quorum::messages::{Act, Answer, At, Bounds, Event, SeatNow, Task};
use crate::lease::quorum::names::Names;
use crate::lease::quorum::read::Read;
use crate::lease::quorum::swap::Swapping;
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::View;

/// One call of the whole, from the task to the answer. It knows no client, timer or clock: it says what to send to which store,
/// and takes the answers in any order.
///
/// After its answer, a step still takes late events: a slow store's promise then gets its value, and a slow snapshot may
/// show a store that lost its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    group: String,
    doing: Doing,
    bounds: Bounds,
    began: i64,
    /// the number of the next call
    next_call: u32,
    is_over: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Doing {
    Read(Read),
    Swap(Swapping),
    Names(Names),
    Fill(Box<Fill>),
    Change(Box<Change>),
}

impl Step {
    /// A step on the records of this group.
    pub fn new(group: &str, task: Task, bounds: Bounds) -> Self {
        let doing = match task {
            Task::Read { names, how } => Doing::Read(Read::new(names, how)),
            Task::Swap(swap) => Doing::Swap(Swapping::new(swap)),
            Task::Names => Doing::Names(Names::new()),
            Task::Fill { seat } => Doing::Fill(Box::new(Fill::new(seat))),
            Task::Change { to } => Doing::Change(Box::new(Change::new(to))),
        };
        Self { group: group.to_owned(), doing, bounds, began: 0, next_call: 0, is_over: false }
    }

    /// What to do first; call this once.
    pub fn begin(&mut self, at: At, memory: &mut Memory) -> Vec<Act> {
        self.began = at.now;
        self.turn(at, memory, |doing, turn| match doing {
            Doing::Read(read) => read.begin(turn),
            Doing::Swap(swap) => swap.begin(turn),
            Doing::Names(names) => names.begin(turn),
            Doing::Fill(fill) => fill.begin(turn),
            Doing::Change(change) => change.begin(turn),
        })
    }

    /// Takes the event of this call, and says what to do next. A call that nobody waits for any more is ignored.
    pub fn take(&mut self, call: u32, event: Event, at: At, memory: &mut Memory) -> Vec<Act> {
        self.turn(at, memory, |doing, turn| match doing {
            Doing::Read(read) => read.take(call, event, turn),
            Doing::Swap(swap) => swap.take(call, event, turn),
            Doing::Names(names) => names.take(call, event, turn),
            Doing::Fill(fill) => fill.take(call, event, turn),
            Doing::Change(change) => change.take(call, event, turn),
        })
    }

    fn turn(
        &mut self,
        at: At,
        memory: &mut Memory,
        go: impl FnOnce(&mut Doing, &mut Turn<'_>) -> Option<Answer>,
    ) -> Vec<Act> {
        let mut turn = Turn::new(&self.group, at, (self.bounds, self.began), memory, self.next_call);
        let answer = go(&mut self.doing, &mut turn).filter(|_| !self.is_over);
        let (mut acts, next_call) = turn.end();
        self.next_call = next_call;
        self.is_over |= answer.is_some();
        acts.extend(answer.map(Act::Done));
        acts
    }

    /// What this step has seen of each store, in the order of the sorted list.
    pub fn seats(&self, memory: &Memory) -> Vec<SeatNow> {
        let size = memory.stores().len();
        self.view().map_or_else(|| vec![SeatNow::default(); size], |view| view.seats(size))
    }

    /// The list of the group, if it was changed and is not this client's (Q9).
    pub fn newer_list(&self, memory: &Memory) -> Option<String> {
        let (list, own) = (self.view()?.list(), memory.stores().text());
        (list.fits(&own) && list.labels != own).then(|| list.labels.clone())
    }

    fn view(&self) -> Option<&View> {
        match &self.doing {
            Doing::Read(read) => read.view(),
            Doing::Swap(swap) => swap.view(),
            Doing::Names(names) => names.view(),
            Doing::Fill(fill) => fill.view(),
            Doing::Change(change) => change.view(),
        }
    }
}
