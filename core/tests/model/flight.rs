//! A step in progress: the real [`Step`], at some point between a read, a swap and the answer. Its decisions are used
//! unchanged, as in the drivers of `lib/`: they pass every answer to the lease, except that of a step which took too long.

use std::sync::Arc;

use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::record::{GROUP, Unreadable};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, StepError, Swap};
use flakeforge_core::lease::messages::{Asked, Event, Failure, Grant, Owner};

use crate::store::{Store, Version, is_next};

/// More turns than any undisturbed step needs.
const TURNS: usize = 40;

/// Where a step stops, or what goes wrong with its next swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    BeforeRead,
    BeforeSwap,
    AfterSwap,
    BeforeAnswer,
    /// the swap is done, but its client gets an error
    Unheard,
    /// its client gets an error, and the swap arrives later
    Late,
}

impl Stop {
    /// The stop at this place.
    pub fn before(at: &At) -> Self {
        match at {
            At::Read(_) => Self::BeforeRead,
            At::Swap(_) => Self::BeforeSwap,
            At::Answer(_) => Self::BeforeAnswer,
        }
    }
}

/// The true time, the client's clock, and the source of new random bits.
pub struct Clocks<B> {
    pub time: i64,
    pub local: i64,
    pub bits: B,
}

/// The origin of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    Lease(Asked, Owner),
    /// a user who ends the group through this member
    End,
    /// a member that makes IDs of the past, in the group of this lineage
    NextAt(u64),
    /// a command or a counter, without a lease
    Command,
}

/// The progress of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Read(Vec<String>),
    Swap(Swap),
    Answer(Answer),
}

/// A step in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    pub by: By,
    pub step: Step,
    pub at: At,
    /// not abandoned
    pub is_heard: bool,
    pub is_paused: bool,
    /// the version of flakeforge
    version: Version,
    /// it met a record of a newer version, and continued
    pub trespasses: bool,
    /// it is a renewal, and created a group
    pub founds: bool,
    /// how many of its writes went to a server that cannot answer cleanly
    unclean: u8,
}

impl Flight {
    pub fn new(by: By, (step, ask): (Step, Ask), version: Version) -> Self {
        Self {
            by,
            step,
            at: At::of(ask),
            is_heard: true,
            is_paused: false,
            version,
            trespasses: false,
            founds: false,
            unclean: 0,
        }
    }

    /// Continues to the answer, or to this stop. Returns whether it got there.
    pub fn go(
        &mut self,
        memory: &mut Memory,
        store: &mut Arc<Store>,
        clocks: Clocks<impl FnMut() -> u128>,
        mut stop: Option<Stop>,
    ) -> bool {
        let Clocks { time, local, mut bits } = clocks;
        for _ in 0..TURNS {
            let was_paused = std::mem::take(&mut self.is_paused);
            if stop == Some(Stop::before(&self.at)) && !was_paused {
                self.is_paused = true;
                return true;
            }
            let bits = bits();
            let ask = match &self.at {
                At::Read(names) => {
                    let look = store.read(names, (time, local), self.version);
                    let is_newer =
                        self.version == Version::This && look.values.iter().flatten().any(|text| is_next(text));
                    let ask = self.step.read(look, memory, bits);
                    self.trespasses |= is_newer && !matches!(&ask, Ask::Done(answer) if is_turned_away(answer));
                    ask
                }
                At::Swap(swap) => {
                    self.founds |= self.renews() && swap.name == GROUP && swap.from.is_none();
                    let is_done = Self::swap(&self.version.sends(swap), Arc::make_mut(store), time, stop);
                    // A step whose writes stay unclean would try forever: it stops here until its client abandons it.
                    let stays_unclean = time > store.clean_until;
                    self.unclean = (self.unclean + u8::from(stays_unclean)).min(2);
                    self.is_paused = stop == Some(Stop::AfterSwap) || stays_unclean;
                    // This stop has been reached, unless it is the one before the answer.
                    stop = stop.filter(|stop| *stop == Stop::BeforeAnswer || *stop == Stop::BeforeRead);
                    self.step.swapped(is_done, memory, bits)
                }
                At::Answer(_) => return stop.is_none(),
            };
            self.at = At::of(ask);
            if self.is_paused {
                return true;
            }
        }
        panic!("an undisturbed step has no end: {self:?}");
    }

    /// The result of a swap for its client.
    fn swap(swap: &Swap, store: &mut Store, time: i64, stop: Option<Stop>) -> bool {
        match stop {
            Some(Stop::Unheard) => {
                store.swap(swap);
                false
            }
            Some(Stop::Late) => {
                store.late.push(swap.clone());
                false
            }
            _ => store.swap_cleanly(swap, time),
        }
    }

    /// Whether it wrote twice to a server that cannot answer cleanly: a third time shows nothing new.
    pub fn is_hopeless(&self) -> bool {
        self.unclean > 1
    }

    /// Whether the server may still run a statement of it, or its answer is in transit.
    pub fn is_sent(&self) -> bool {
        self.is_paused && !matches!(self.at, At::Answer(_))
    }

    fn renews(&self) -> bool {
        matches!(self.by, By::Lease(Asked::Renew, _))
    }

    pub fn is_swapping(&self) -> bool {
        matches!(self.at, At::Swap(_))
    }

    /// The event that a driver derives from the answer.
    pub fn event(&self, answer: &Answer) -> Option<Event> {
        let (asked, owner) = match self.by {
            By::Lease(asked, owner) => (asked, owner),
            By::End => return (*answer == Answer::Done).then_some(Event::Ended),
            By::NextAt(_) | By::Command => return None,
        };
        let failed = |failure| Event::Failed { asked, owner, failure };
        Some(match (answer, asked) {
            (Answer::Granted(Granted { lo, hi, .. }), Asked::Renew) => Event::Renewed { owner, lo: *lo, hi: *hi },
            (Answer::Granted(Granted { slot, lo, hi, .. }), _) => {
                Event::Granted(Grant { owner, slot: *slot, lo: *lo, hi: *hi })
            }
            (Answer::Lost, _) => Event::Lost { owner },
            (Answer::Destroyed, _) | (Answer::Refused(StepError::Destroyed), _) => Event::Destroyed { asked, owner },
            (Answer::Done, _) => Event::Released { owner },
            (Answer::Refused(StepError::Quiet { until, now }), _) => {
                failed(Failure::Quiet { until: *until, store_now: *now })
            }
            (Answer::Refused(StepError::Exhausted { retry_at, now }), _) => {
                failed(Failure::Exhausted { retry_at: *retry_at, store_now: *now })
            }
            (Answer::Refused(StepError::Skew { .. }), _) => failed(Failure::Skew),
            (Answer::Refused(StepError::TwoServers { .. } | StepError::Absent), _) => failed(Failure::Store),
            (Answer::Refused(StepError::Mismatch(_)), Asked::Acquire) => failed(Failure::Fatal),
            (answer, _) if is_turned_away(answer) => failed(Failure::Fatal),
            (answer, _) => panic!("{answer:?} to {asked:?}"),
        })
    }
}

/// Whether the step was refused because a newer version wrote a record.
pub fn is_turned_away(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(StepError::Record(_, Unreadable::Newer { .. })))
}

impl At {
    pub fn of(ask: Ask) -> Self {
        match ask {
            Ask::Read(names) => Self::Read(names),
            Ask::Swap(swap) => Self::Swap(swap),
            Ask::Done(answer) => Self::Answer(answer),
            ask => panic!("{ask:?} is answered at once"),
        }
    }
}
