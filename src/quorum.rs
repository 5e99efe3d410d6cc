//! One store out of several for JavaScript: a step says what to send to which store, as plain objects, until it has its answer.
//! `lib/stores/quorum.ts` performs that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::Swap;
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::{
    Act, Answer, At, Bounds, Event, How, Note, QuorumError, SeatNow, Standing, Task, Whole as Snapshot,
};
use flakeforge_core::lease::quorum::stores::Stores;
use napi::bindgen_prelude::{Error, Result, Status};
use napi_derive::napi;

use crate::grants::{StepFault, StepLook};
use crate::number::{Token, Whole, whole};

/// What one client of several stores remembers from step to step, and the steps that it can take.
#[napi]
pub struct QuorumMemory {
    memory: Arc<Mutex<Memory>>,
}

/// How long a step may take, and how far apart clocks may be.
#[napi(object, object_to_js = false)]
pub struct QuorumBounds {
    /// after this time, its next decision ends it
    pub ms: Whole<i64>,
    /// between this client and a store
    pub skew_ms: Whole<i64>,
}

/// One step, from the task to the answer. After the answer it still takes late events.
#[napi]
pub struct QuorumStep {
    core: Step,
    memory: Arc<Mutex<Memory>>,
}

/// What to do. `store`: its place in the list. All acts of an event are carried out at once; each `call` gets one event.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum QuorumAct {
    /// the first name is that of the seat
    Read {
        call: u32,
        store: u32,
        names: Vec<String>,
    },
    /// `from`: its text, absent if there is no record
    Swap {
        call: u32,
        store: u32,
        name: String,
        from: Option<String>,
        to: String,
        history: String,
        process: String,
    },
    Names {
        call: u32,
        store: u32,
    },
    Wake {
        call: u32,
        ms: i64,
    },
    /// in the background, with a step of its own
    Fill {
        store: u32,
    },
    /// something to count
    Note {
        #[napi(ts_type = "'torn' | 'completed' | 'beaten' | 'unknown' | 'era' | 'filled'")]
        note: String,
    },
    Done {
        answer: QuorumAnswer,
    },
}

/// The result of a step; from `NoMajority` on, why there is none.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum QuorumAnswer {
    /// `history`: empty if there is no era yet
    Read {
        now: i64,
        history: String,
        values: Vec<Option<String>>,
    },
    /// false: it was not written
    Swapped {
        is_clean: bool,
    },
    /// some may have no value
    Names {
        names: Vec<String>,
    },
    Filled {
        is_filled: bool,
    },
    /// the list is in force
    Changed,
    NoMajority {
        answered: u32,
    },
    /// how far the client's clock is ahead, and the allowed difference
    Skew {
        by: i64,
        bound: i64,
    },
    /// other members wrote these records all the time
    Torn,
    /// a majority did not confirm the write
    Unknown,
    /// the store belongs to the list `theirs`: labels with spaces in between
    List {
        store: u32,
        theirs: String,
    },
    /// the store's own label is `theirs`
    Label {
        store: u32,
        theirs: String,
    },
    Record {
        store: u32,
        fault: StepFault,
    },
    Nonsense {
        store: u32,
        text: String,
    },
    /// the list cannot be changed to this one
    Change,
    /// a store that is new in the list has not answered
    Newcomer {
        store: u32,
    },
    /// no ballot is left
    Spent,
}

/// A store, as a step has seen it last.
#[napi(object, object_from_js = false)]
pub struct QuorumSeat {
    /// its place in the list
    pub store: u32,
    /// what it is for the whole
    #[napi(
        ts_type = "'silent' | 'skewed' | 'damaged' | 'unlisted' | 'empty' | 'lost' | 'starts' | 'fills' | 'apart' | 'behind' | 'votes'"
    )]
    pub state: String,
    /// how far its clock is ahead of the client's
    pub ahead_ms: Option<i64>,
    /// how often stores were filled
    pub epoch: Option<u32>,
    /// what is wrong with a record of one that is `damaged`; absent if its answer was impossible
    pub fault: Option<StepFault>,
}

fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

fn invalid(text: String) -> Error {
    Error::new(Status::InvalidArg, text)
}

#[napi]
impl QuorumMemory {
    /// `labels`: those of three or five stores. `coming`: how many more there are at their end, for a change of the list.
    #[napi(constructor, catch_unwind)]
    pub fn new(labels: Vec<String>, coming: Option<Whole<u32>>) -> Result<Self> {
        let coming = coming.map_or(Ok(0), |coming| usize::try_from(coming.0));
        let coming = coming.map_err(|error| invalid(error.to_string()))?;
        let stores = Stores::with(&labels, coming).map_err(|why| invalid(why.to_owned()))?;
        Ok(Self { memory: Arc::new(Mutex::new(Memory::new(stores))) })
    }

    /// A snapshot of these records. `how`: what it may change; `look` makes no seats, and `readExisting` starts no era.
    #[napi(catch_unwind)]
    pub fn read(
        &self,
        group: String,
        names: Vec<String>,
        #[napi(ts_arg_type = "'read' | 'readExisting' | 'look'")] how: String,
        bounds: QuorumBounds,
    ) -> Result<QuorumStep> {
        let how = match how.as_str() {
            "read" => How::Read,
            "readExisting" => How::ReadExisting,
            "look" => How::Look,
            _ => return Err(invalid(format!("{how:?} is not a way to read"))),
        };
        Ok(self.step(&group, Task::Read { names, how }, &bounds))
    }

    /// A conditional write. `from`: absent if there is no record; `history`: that of the read.
    #[napi(catch_unwind)]
    pub fn swap(
        &self,
        group: String,
        name: String,
        from: Option<String>,
        to: String,
        history: String,
        bounds: QuorumBounds,
    ) -> QuorumStep {
        let identity = ServerIdentity { history, process: String::new() };
        self.step(&group, Task::Swap(Swap { name, from, to, identity }), &bounds)
    }

    /// The names that any store of a majority lists.
    #[napi(catch_unwind)]
    pub fn names(&self, group: String, bounds: QuorumBounds) -> QuorumStep {
        self.step(&group, Task::Names, &bounds)
    }

    /// Makes a store vote again. `store`: its place in the list.
    #[napi(catch_unwind)]
    pub fn fill(&self, group: String, store: Whole<u32>, bounds: QuorumBounds) -> Result<QuorumStep> {
        let seat = usize::try_from(store.0).ok().and_then(|place| locked(&self.memory).stores().seat(place));
        let seat = seat.ok_or_else(|| invalid(format!("there is no store {}", store.0)))?;
        Ok(self.step(&group, Task::Fill { seat }, &bounds))
    }

    /// Changes the list to these labels. What is new in it has to be filled afterwards.
    #[napi(catch_unwind)]
    pub fn change(&self, group: String, to: Vec<String>, bounds: QuorumBounds) -> QuorumStep {
        self.step(&group, Task::Change { to }, &bounds)
    }

    fn step(&self, group: &str, task: Task, bounds: &QuorumBounds) -> QuorumStep {
        let bounds = Bounds { ms: bounds.ms.0, skew_ms: bounds.skew_ms.0 };
        QuorumStep { core: Step::new(group, task, bounds), memory: self.memory.clone() }
    }
}

/// `now`: a clock of the client that never goes back, ms. `fresh`: bits that were never used before.
#[napi]
impl QuorumStep {
    /// What to do first; call this once.
    #[napi(catch_unwind)]
    pub fn begin(&mut self, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        let at = at(now, fresh)?;
        let memory = &mut locked(&self.memory);
        Ok(shown(self.core.begin(at, memory), memory.stores()))
    }

    /// Takes the result of a read.
    #[napi(catch_unwind)]
    pub fn read(&mut self, call: Whole<u32>, look: StepLook, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        let look = look.read().map_err(|what| invalid(what.to_owned()))?;
        self.take(call, Event::Look(look), now, fresh)
    }

    /// Takes whether a swap was answered cleanly. An error or no answer is false.
    #[napi(catch_unwind)]
    pub fn swapped(&mut self, call: Whole<u32>, is_clean: bool, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        self.take(call, Event::Swapped(is_clean), now, fresh)
    }

    /// Takes the names of a store's records.
    #[napi(catch_unwind)]
    pub fn named(&mut self, call: Whole<u32>, names: Vec<String>, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        self.take(call, Event::Named(names), now, fresh)
    }

    /// The call ended with an error, or without an answer in time.
    #[napi(catch_unwind)]
    pub fn failed(&mut self, call: Whole<u32>, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        self.take(call, Event::Failed, now, fresh)
    }

    /// The timer of an act `wake` has rung.
    #[napi(catch_unwind)]
    pub fn woke(&mut self, call: Whole<u32>, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        self.take(call, Event::Woke, now, fresh)
    }

    /// What this step has seen of each store, in the order of the list.
    #[napi(catch_unwind)]
    pub fn seats(&self) -> Vec<QuorumSeat> {
        let memory = &locked(&self.memory);
        let seats = self.core.seats(memory).into_iter().enumerate().map(|(seat, now)| {
            let SeatNow { standing, ahead_ms, epoch, error } = now;
            let fault = match error {
                Some(QuorumError::Record { name, why, .. }) => Some((name, why).into()),
                _ => None,
            };
            let store = place(seat, memory.stores());
            QuorumSeat { store, state: word(standing).to_owned(), ahead_ms, epoch, fault }
        });
        let mut seats: Vec<_> = seats.collect();
        seats.sort_by_key(|seat| seat.store);
        seats
    }

    /// The list of the group, labels with spaces in between, if it was changed and is another one than this client's.
    #[napi(catch_unwind)]
    pub fn newer_list(&self) -> Option<String> {
        self.core.newer_list(&locked(&self.memory))
    }

    fn take(&mut self, call: Whole<u32>, event: Event, now: f64, fresh: Token) -> Result<Vec<QuorumAct>> {
        let at = at(now, fresh)?;
        let memory = &mut locked(&self.memory);
        Ok(shown(self.core.take(call.0, event, at, memory), memory.stores()))
    }
}

fn at(now: f64, fresh: Token) -> Result<At> {
    let now = whole(now.floor()).ok_or_else(|| invalid(format!("{now} is not a time in ms")))?;
    Ok(At { now, fresh: fresh.0 })
}

/// A store's place in the list that JavaScript gave.
fn place(seat: usize, stores: &Stores) -> u32 {
    u32::try_from(stores.place(seat)).unwrap_or(u32::MAX)
}

fn shown(acts: Vec<Act>, stores: &Stores) -> Vec<QuorumAct> {
    let place = |seat| place(seat, stores);
    let shown = acts.into_iter().map(|act| match act {
        Act::Read { call, seat, names } => QuorumAct::Read { call, store: place(seat), names },
        Act::Swap { call, seat, swap: Swap { name, from, to, identity } } => {
            let ServerIdentity { history, process } = identity;
            QuorumAct::Swap { call, store: place(seat), name, from, to, history, process }
        }
        Act::Names { call, seat } => QuorumAct::Names { call, store: place(seat) },
        Act::Wake { call, ms } => QuorumAct::Wake { call, ms },
        Act::Fill { seat } => QuorumAct::Fill { store: place(seat) },
        Act::Note(note) => QuorumAct::Note { note: note_word(note).to_owned() },
        Act::Done(answer) => QuorumAct::Done { answer: answered(answer, stores) },
    });
    shown.collect()
}

fn answered(answer: Answer, stores: &Stores) -> QuorumAnswer {
    match answer {
        Answer::Read(Snapshot { now, history, values }) => QuorumAnswer::Read { now, history, values },
        Answer::Swapped(is_clean) => QuorumAnswer::Swapped { is_clean },
        Answer::Names(names) => QuorumAnswer::Names { names },
        Answer::Filled(is_filled) => QuorumAnswer::Filled { is_filled },
        Answer::Changed => QuorumAnswer::Changed,
        Answer::Refused(error) => refused(error, stores),
    }
}

fn refused(error: QuorumError, stores: &Stores) -> QuorumAnswer {
    match error {
        QuorumError::NoMajority { answered } => {
            QuorumAnswer::NoMajority { answered: u32::try_from(answered).unwrap_or(u32::MAX) }
        }
        QuorumError::Skew { by, bound } => QuorumAnswer::Skew { by, bound },
        QuorumError::Torn => QuorumAnswer::Torn,
        QuorumError::Unknown => QuorumAnswer::Unknown,
        QuorumError::List { seat, theirs } => QuorumAnswer::List { store: place(seat, stores), theirs },
        QuorumError::Label { seat, theirs } => QuorumAnswer::Label { store: place(seat, stores), theirs },
        QuorumError::Record { seat, name, why } => {
            QuorumAnswer::Record { store: place(seat, stores), fault: (name, why).into() }
        }
        QuorumError::Nonsense { seat, what } => {
            QuorumAnswer::Nonsense { store: place(seat, stores), text: what.to_owned() }
        }
        QuorumError::Change => QuorumAnswer::Change,
        QuorumError::Newcomer { seat } => QuorumAnswer::Newcomer { store: place(seat, stores) },
        QuorumError::Spent => QuorumAnswer::Spent,
    }
}

fn note_word(note: Note) -> &'static str {
    match note {
        Note::Torn => "torn",
        Note::Completed => "completed",
        Note::Beaten => "beaten",
        Note::Unknown => "unknown",
        Note::Era => "era",
        Note::Filled => "filled",
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Silent => "silent",
        Standing::Skewed => "skewed",
        Standing::Damaged => "damaged",
        Standing::Unlisted => "unlisted",
        Standing::Empty => "empty",
        Standing::Lost => "lost",
        Standing::Starts => "starts",
        Standing::Fills => "fills",
        Standing::Apart => "apart",
        Standing::Behind => "behind",
        Standing::Votes => "votes",
    }
}
